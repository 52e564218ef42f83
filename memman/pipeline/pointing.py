"""How a line points at a text that its author did not write: below it, behind it on the line, or before it."""

import re

# What is text, and what bears it.
TEXT = (
    r"(?:message|comment|post|line|sentence|paragraph|section|text|title|headline|heading|mail|e-?mail|reply|answer|tweet"
    r"|description|banner|tooltip|label|string|fixture|story|dialog(?:ue)?|readme|contributing|changelog|entry|prompt|page"
    r"|article|essay|poem|letter|announcement|docstring|doc|file|issue|ticket|pr|slogan|template|example|snippet|card|slide)"
)
_BEARER = (
    rf"(?:{TEXT}s?|docs|documentation|guide|handbook|runbook|spec|repo|website|site|wiki|slack|jira|output|log|logs|tool"
    r"|customer|colleague|vendor)"
)
# What is pasted when it is spoken of, where an issue or a file is looked up.
_PASSAGE = (
    r"(?:message|comment|post|sentence|paragraph|section|text|e-?mail|mail|reply|answer|tweet|description|story|letter|article"
    r"|essay|announcement|snippet|excerpt|spec|guide|notes?|plan|proposal|draft|feedback|advice|log|output)"
)
_POLITE = r"(?:(?:please|pls|plz|now|then|and|also|ok(?:ay)?|hey|hi|can\ you|could\ you|would\ you),?\ )*"
_THIS = r"(?:this|these|the\ following)"
_REWORD = r"(?:tl;?dr|translate|summari[sz]e|proof-?read|rephrase|reword|paraphrase|shorten|polish|spell-?check)"
_SAID = (
    r"(?:said|says|wrote|told|answered|suggested|suggests|printed|prints|posted|sent|gave|recommended|recommends|replied|proposed"
    r"|left|came\ up\ with)"
)
_SOUND = r"(?:correct|true|right|accurate|valid|outdated|up\ to\ date)"
# Words that begin a quote or a sentence, where others would go on with the author's own.
_WORDED = r"(?=\ (?-i:[\"'\u201cA-Z]))"

# A whole line that asks for something to be done with what stands below it.
_BELOW = re.compile(
    rf"""{_POLITE}(?:
    {_REWORD}(?:\ (?:that|it|{_THIS})(?:\ {TEXT}s?)?)?(?:\ (?:in)?to\ \w+)?(?:\ for\ me)?
    |(?:fix|correct)\ the\ (?:grammar|wording|spelling|typos?)\ in\ {_THIS}(?:\ {TEXT}s?)?
    |make\ (?:this|these)\ (?:shorter|longer|clearer|simpler|nicer|more\ \w+)
    |(?:rewrite|improve|answer|reply\ to)\ {_THIS}(?:\ {_PASSAGE})?(?:\ more\ \w+|\ \w+ly)?
    |(?:any\ )?thoughts\ on\ {_THIS}|what\ do\ you\ think\ (?:of|about)\ {_THIS}
    |does\ this\ (?:make\ sense|sound\ right)
    |(?:implement|follow|apply|review|check|read|analy[sz]e|look\ at|consider|explain)\ {_THIS}\ (?:\w+\ )?{_PASSAGE}
    |(?:commit|reply|answer)\ (?:it\ )?with\ {_THIS}\ {TEXT}
    |(?:add|put|insert|append|paste|copy|write|include|prepend)\ (?:it|{_THIS})(?:\ {TEXT}s?)?\ (?:to|into?|at|under|as)
     \ (?!(?:your|my|the)?\ ?(?:memory|rules?|notes|preferences))(?:[^.!?:\n]|\.(?=\w)){{1,60}}?
    )(?:,?\ (?:please|pls|thanks))?[.!?]?""",
    re.IGNORECASE | re.VERBOSE,
)
# What is behind one of these on its line, or below where nothing is.
_BEHIND = tuple(
    re.compile(shape, re.IGNORECASE | re.VERBOSE)
    for shape in (
        rf"""(?:here(?:'s|\ is|\ are)|this\ is|below\ is)\ (?:what|how)\ (?!(?:i|we)\b)[^.!?:\n]{{1,60}}?\b{_SAID}\b
        (?:\ (?:me|us|earlier|today|yesterday|before))*[.:]?""",
        r"""(?:i|we)\ (?:just\ )?(?:found|got|copied|pasted|received|saw|read)\ (?:this|these)
        \ (?:on|in(?!\ (?:our|the|my)\ code)|from|at)\ [^.,!?:\n]{1,40}[.:]""",
        rf"""(?!(?:i|we|you|who|nobody)\b)[\w'\ ]{{2,40}}?\ {_SAID}(?:\ me|\ us)?\ {_THIS}\b[^.,!?:\n]{{0,40}}[.:]""",
        rf"""(?:(?:is|are)\ (?:this|these)
        |(?:can|could)\ you\ (?:check|verify|confirm|see)\ (?:whether|if|that)\ (?:this|these)\ (?:is|are))
        \ (?:still\ |really\ |actually\ )?{_SOUND}\?(?!\s*(?:no|nope|not|actually|because|we\ do|i)\b)""",
        r"what\ (?:does|do)\ (?:this|these)\ (?:\w+\ )?(?:mean|say)\?",
        r"""why\ (?:does|do|did|would)\ (?!it\b)[^.!?\n]{1,40}
        \ (?:print|say|show|output|return|log|write|claim|tell\ me|tell\ us)\ (?:this|these)\?""",
        rf"{_POLITE}explain\ (?:this|that|the)\ (?:line|sentence|paragraph|text|message|comment|rule){_WORDED}",
        rf"""{_POLITE}(?:change|replace|set|rename|fill\ in|update)\ the\ (?:\w+\ )?(?:text|title|headline|heading|label
        |description|banner|tooltip|string|placeholder|slogan|caption|sentence|paragraph|wording)\b[^.:\n]{{0,40}}?
        \b(?:to|with|by){_WORDED}""",
        rf"""[^.:\n]{{0,60}}\b(?:asserts?|expects?)\ (?:that\ )?the\ [^.:\n]{{0,40}}?
        (?:equals?|string|text|message){_WORDED}""",
        rf"{_POLITE}(?:update|extend|replace|fill|start|begin|end)\ [^.!?:\n]{{1,50}}\ with\ {_THIS}[.:]",
        rf"""(?:[^.:\n]{{0,40}}\b(?:sample|example|dummy|fake)\ [^.:\n]{{0,30}}|sth|something)
        \ (?:like|such\ as){_WORDED}""",
        r"""(?:imagine|pretend|role[\ -]?play|suppose\ (?:that|we|the|you|an?)|assume\ that|let's\ pretend
        |for\ the\ demo,?\ say|explain\ why\ (?:someone|somebody|anyone|people))\b""",
    )
)
# How somebody says of what stands before that it is not theirs, or asks for it in other words: at a line's beginning,
_BACK = re.compile(
    rf"""\W*(?:(?:(?:these|those|this|that|the\ above|all\ (?:this|that|of\ (?:this|that|the\ above)))
      \ (?:(?:rules?|text|lines?|notes?|list)\ )?(?:is|are|was|were|comes?|came)|that's)\b[^.!?\n]{{0,40}}
      \b(?:from|by|what|how|pasted|copied|quoted|written|in|on)\b[^.!?\n]{{0,40}}\b(?:{_BEARER}|says|said|wrote)\b
    |{_POLITE}(?:{_REWORD}\ (?:this|these|that|it|them|the\ above|all\ of)
      |(?:rewrite|review|check|analy[sz]e|explain|shorten)\ (?:the\ above|th(?:is|ese|at)\ (?:rules?|{TEXT}s?)))\b
    |(?:source|quelle)\s?:\s
    |who\ (?:wrote|said|added|put)\ (?:this|that)(?:\ (?:here|there|in))?\?\s*$)
    |\s*\^+\s?\w|\s*(?:--|[\u2013\u2014])\s?(?:the|our|from|an?)\ [^.!?\n]{{0,40}}\b{_BEARER}\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
# or behind it on its line.
_BACK_BEHIND = re.compile(
    rf"""(?:(?<=[.!?"'\u201d)])\ |\ [\u2013\u2014-]+\ )(?:that|this|these|it)
      (?:'s|\ is|\ are|\ was|\ were|\ comes?|\ came)\ (?:just\ |only\ )?
      (?:(?:from|pasted|copied|quoted|taken)\b[^.!?\n]{{0,40}}\b{_BEARER}
      |what\ [^.!?\n]{{1,40}}\ (?:says?|said|wrote|told))\b
    |\ <-+\ ?(?:that|this|it|from|what)\b
    |(?<!\bhere)(?<!\bthis)(?<!\bthat)\ is\ (?:exactly\ )?what
      \ (?:the|our|my|their|an?)\ [^.!?\n]{{1,40}}\ (?:says?|said|states|writes|wrote|claims?)\b
    |\s?\((?:source|quelle|quoted|copied|pasted|taken\ from)\b[^)\n]{{1,60}}\)
    |(?:^|\s)\(from\ [^)\n]{{0,40}}\b{_BEARER}\)""",
    re.IGNORECASE | re.VERBOSE,
)
# Characters of a line that are looked at.
_LONGEST = 2_000
_SENTENCES = re.compile(r"(?:^|(?<=[.!?])\s+)(?=\S)")


def below(line: str) -> bool:
    """Whether all of the line asks for something to be done with what stands below it."""
    return bool(_BELOW.fullmatch(line.strip()[:_LONGEST]))


def behind(line: str) -> int:
    """Return where on the line somebody else's words begin that the author points at, 0 where they point at none."""
    starts = [begun.end() for begun in _SENTENCES.finditer(line[:_LONGEST])]
    found = (shape.match(line, at) for at in starts for shape in _BEHIND)
    return next((one.end() for one in found if one), 0)


def back(line: str) -> int | None:
    """Return where on the line its author says that what stands before is somebody else's, None where nowhere."""
    found = _BACK.match(line) or _BACK_BEHIND.search(line[:_LONGEST])
    return found.start() if found else None
