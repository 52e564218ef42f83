"""How a line shows that a machine, a document or somebody else wrote it, or what follows it."""

import re

from memman.pipeline.pointing import below

# Characters; a longer line announces nothing.
_LINE = 160
_TITLE = 80

# How a line begins that a machine or an editor wrote: quotes, prompts, hits of recall, diffs, logs, traces, code.
_MACHINE = re.compile(
    r"""\s*(?:
      >|\$\s|%\s|>>>|\u276f|\u279c|\#|//|/\*|<!--|\||\^+\s*$|-->|[{}\[\]]|"[\w.\-]+"\s*:
    | [\w.\-]{1,40}@[\w.\-]{1,60}:[^\s$\#]{0,99}[$\#]\s|(?:PS\s)?[A-Za-z]:\\[^>\n]{0,99}>
    | \w{2,12}>\s|<@\w+>|@[\w.\-]{1,40}:\s
    | [0-9a-f]{8}\s(?:\d+[ydhms]|now)\s[\w\s,()]{1,60}:\s
    | diff\s--git|index\s[0-9a-f]{6,}|@@\s|[+\-]{3}\s|[+\-](?![\-+*\s])\S
    | \d{4}-\d\d-\d\d[T\s]\d\d:|\[?\d\d:\d\d:\d\d|\[\d
    | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|FAIL|FAILED|PASS|PASSED)\b[:\s\]]
    | (?:[Ee]rror(?:\[\w+\])?|[Ww]arning|help|hint|fatal|panic|Caused\sby|E)\b(?::\s|!|\s{2,})
    | (?:std(?:out|err):|[Ee]xit\s(?:code|status)\b|TASK\s\[)
    | npm\s(?:ERR!|WARN|error|warn|notice)\b
    | --\s(?!the\b|our\b|from\b|an?\b)|[-*]\s\[[\sxX]\]\s
    | Traceback\s\(|File\s"|(?:\w+\.)*\w*(?:Error|Exception)\b:
    | \d+(?:\s*\||,\S)
    | (?:[\w.@~\-]*/)+[\w.@\-]*(?::\d+)*\s*$
    | (?=[^\s:]{0,160}[/\\]|\S{1,160}[:(]\d|\S{1,160}:\w)[\w.@~\-/\\]{1,160}\.[A-Za-z]\w{0,5}
      (?:(?::\d+)+|\(\d+(?:,\d+)?\))?:\s?(?!\d)\S
    | import\s(?:[{"'*<]|[\w.]+\s*(?:;|,|$|as\s|from\s))|from\s\S{1,99}\simport\s|package\s[\w.]+;?\s*$
    | using\s[\w.]+;|\#include
    | (?:export\s|async\s|public\s|private\s|static\s)*(?:def|class|function|func|fn|const|var|interface|struct)
      \s[\w.$]{1,80}\s*(?:[({:<=]|extends\s|implements\s|$)
    | [\w.\[\]"']+\s*(?::\s*\w+\s*)?[+\-|]?=\s?\S
    )
    | \s+at\s\S+\s?[(\w]
    | (?:\s{4}|\t)\s*(?![-*+•]\s|\d+[.)]\s)\S""",
    re.VERBOSE,
)

# What bears somebody else's words.
_TEXTS = frozenset(
    """message messages email e-mail mail comment comments review feedback answer reply excerpt quote snippet
    transcript minutes description terms story stories criteria prompt page pages wiki doc docs documentation
    readme guide guides guideline guidelines handbook policy spec specs ticket tickets issue thread channel post
    article blog rfc section contents content changelog contributing slack teams discord whatsapp telegram jira
    confluence notion linear overflow stackoverflow answers replies reviews chapter contract tweet notice survey
    announcement advice suggestion suggestions reddit wikipedia gpt chatgpt copilot gemini claude codex cursor
    llm subagent""".split()
)
_FILES = (".md", ".txt", ".rst", ".json", ".yml", ".yaml", ".toml", ".ini", ".cfg", ".csv")
_TELLING = frozenset(
    """say says said write writes wrote read reads print prints printed give gives gave show shows showed suggest
    suggests suggested answer answers answered reply replies replied comment comments commented ask asks asked
    report reports think thinks reported return returns returned contain contains contained state states stated
    posted sent complain complains complained warn warns warned output outputs tell tells told recommend
    recommends recommended propose proposes proposed goes""".split()
)
_ANSWERS = frozenset("answer output response reply error message result text content contents".split())
_FAILING = frozenset("fail fails failed end ends ended exit exits exited".split())
# What may stand between a verb of telling and what is told.
_AFTER = frozenset(
    """this that it us me him her you them to for by as follow follows the following today yesterday now just ago a
    an minute minutes hour hours day days week weeks earlier here there in on slack teams github chat""".split()
)

# What is said in the own name, or ordered, is no title, whatever it speaks of.
_OWN = re.compile(
    r"""\b(?:i|we|you|they|must|should|shall|can|could|will|would|never|always|is|are|was|were|isn'?t|don'?t|doesn'?t|not
    |no|please|needs?|has|have|uses?|wrong|outdated|again|too|broken|instead|stop|from\ now)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_OWN_LIST = re.compile(
    r"\b(?:rules?|preferences?|conventions?|remember|from now on|notes? (?:for|to|on)|reminders?|things?"
    r"|please (?:follow|note))\b",
    re.IGNORECASE,
)
_PATH = re.compile(r"[./_\-]\w")
# How a user opens who then says something of their own.
_OPENING = re.compile(
    r"(?:hi|hello|hey|good|morning|ok(?:ay)?|also|and|but|so|ps|btw|by the way|fyi|heads|quick|small|last|one|another"
    r"|next|first|finally|sorry|thanks|thank|same|new|back)\b",
    re.IGNORECASE,
)
_RETOLD = re.compile(r"\b(?:summari[sz]e|translate|proof-?read|rephrase|rewrite)\b", re.IGNORECASE)

# How an order to the agent begins: it announces no text of somebody else.
_ORDER = re.compile(
    r"""(?:(?:please|can\ you|could\ you|would\ you|now|and|then|also|next|first|ok|okay|yes|no|just
        |go\ ahead\ and|let'?s
        |i(?:\ want|'d\ like|\ would\ like)\ you\ to
        |(?:the\ )?(?:user|developer)\ (?:ask(?:ed|s)|request(?:ed|s)|told|is\ asking|want(?:s|ed))
         (?:\ (?:the\ agent|me|for))?(?:\ to)?
        )[,:]?\s+)*
    (?:fix|add|rename|make|change|update|remove|delete|write|implement|create|refactor|move|run|commit|push|merge|review
    |explain|show|check|look|find|investigate|open|close|revert|undo|translate|summari[sz]e|test|deploy|install|build
    |generate|convert|compare|fetch|search|describe|replace|continue|start|try|debug|profile|clean|help|tell|give|see|read|do)\b""",
    re.IGNORECASE | re.VERBOSE,
)

_COLON = re.compile(
    r"""\b(?:logs?|outputs?|errors?|trace|traceback|stack|readme|docs?|documentation|files?|diff|patch|comments?
    |messages?|issue|ticket|specs?|config|response|code|snippet|function|class|page|article|e-?mail|mail|review|reviewer
    |description|changelog|contents?|text|says|said|wrote|writes|got|getting|gives|see|sees|prints?|this|that|below
    |following|query|json|ya?ml|xml|html|script|prompt|guidelines?|guide|contributing|\w+\.md|examples?|transcript
    |customer|colleague|boss|client|user|team|deploy|ci|model|bot|assistant|gpt\S{0,8}|chatgpt|gemini|copilot|claude
    |meeting|teammate|cowork\w{1,4}|cofounder|manager|pushed)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_COPIED = re.compile(
    r"(?:i )?(?:just )?(?:got|found|copied|pasted|received|forwarded) (?:this|that|these|it|from|by)\b"
    r"|(?:the )?(?:meeting|release) notes\b",
    re.IGNORECASE,
)
# What is a title whatever it begins with.
_TITLED = re.compile(
    r"(?:(?:see|from|per) )?https?://(?!\S*/(?:pull|issues|merge_requests)/)\S+"
    r"|(?:the )?(?:handoff|hand-off|handover|review|call|retro|sprint) notes",
    re.IGNORECASE,
)

_HERE = re.compile(
    r"(?:(?:ok(?:ay)?|so|hi|hey|and),? )?(?:here(?:'s|\u2019s| is| are| comes| goes)|(?:this|below|following|attached)"
    r" (?:is|are)|these are|hier (?:ist|sind|der|die|das|kommt)|look at|see|consider|given|check(?: out)?) "
    r"(?:the|a|an|some|what|this|that|my|our|his|her|their|der|die|das)\b",
    re.IGNORECASE,
)

# A title that ends with whose the text is.
_WHOSE = re.compile(r"\b(?:from|by|according to) (?:(?:the|my|our|an?) (?:\w+ ){0,3}\w+|[A-Z]\w+)$")
# What makes the number of a ticket the subject of the user's own sentence.
_SUBJECT = r"(?!:?\s(?:is|was|are|has|needs?|can|should|still|looks?)\b)"
# How a text of somebody else begins that needs no announcement: head and all of it is theirs.
_FOREIGN = re.compile(
    rf"""\#\ |\#\#|Q:\s
    |(?:Subject|Betreff|Message-ID|In-Reply-To):\s|(?:From|To|Cc|Von|An|Sent|Gesendet):\s.{{0,99}}[@\d]
    |Caveat:\ The\ messages\ below|commit\ [0-9a-f]{{7,40}}\b|You\ are\ an?\s
    |(?:[A-Z]\S{{0,20}}\ ?){{1,2}}\s\d?\d:\d\d(?:\s?[AP]M)?\s*$
    |(?:\w+\ )?(?i:messages?|e-?mail|mail|comments?|posts?|feedback)\ (?:from|by)\ \w+[^:.!?]{{0,40}}(?:\s-\s|:|$)
    |(?i:from)\ (?:(?:the|our|my|a)\ )?(?:\w+\ ){{0,2}}(?i:{"|".join(sorted(_TEXTS))}|[\w\-]{{1,60}}\.[a-z]{{1,5}})
     (?:\s-\s|:\s|\s*$)
    |(?:\w+\ )?(?i:issue|ticket|bug|story|epic|pr|mr)\ ?\#?(?:[A-Z]+-)?\d+\b{_SUBJECT}
    |(?!UTF|ISO|SHA|RFC|IEEE|AES|CVE)[A-Z]{{3,10}}-\d{{2,}}\b{_SUBJECT}
    """,
    re.VERBOSE,
)
_SALUTATION = re.compile(r"(?:dear|hi|hello|hallo|hey|liebe[rs]?|sehr geehrte\w*)\b[^!?]{0,40}[,!]\s*$", re.IGNORECASE)
_SIGN_OFF = re.compile(
    r"(?:(?:(?:best|kind|warm|many) )?(?:regards|wishes)|best|cheers|sincerely|yours \w+|all the best|mit freundlichen"
    r"|(?:viele|liebe|beste) gr)\b[^.:]{0,40}$",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\s*(?:\*\*)?(@?[\w.\-]{1,20}(?: [A-Z][\w.\-]{0,20})?(?: \([\w ]{1,20}\))?)(?:\*\*)?:\s")
_TOLD = re.compile(
    rf"""([^.!?:]{{0,80}}\b(?:(?<!\bi\ )(?<!\bwe\ )(?:{"|".join(sorted(_TELLING))})
    |(?:answer|reply|comment)\ (?:i|we)\ (?:found|got))):\s\S""",
    re.IGNORECASE | re.VERBOSE,
)

_PROGRAM = re.compile(
    r"""(?:sudo\ )?(?:(?P<plain>git|npm|pnpm|yarn|npx|pip3?|kubectl|docker|podman|terraform|ansible[\w\-]*|helm|psql
    |mysql|sqlite3|curl|wget|grep|rg|ls|cat|tail|sed|awk|gh|glab|systemctl|journalctl|pytest|tox|uv|mvn|gradle|dotnet|brew|aws
    |gcloud|az|ssh)|make|go|find|head|less|type|node|python3?|cargo|php|ruby|echo|cd)\ (?P<rest>.*)$""",
    re.VERBOSE,
)
_OPTION = re.compile(r"(?:^|\s)(?:--?\w|\||&&)")
_PATHS = re.compile(r"(?:^|\s)[\w./\-]{0,80}[./]\w")
_PROSE = re.compile(r"\b(?:the|an?|all|every|and|in|of|for|to|with|through|this|that|it|so)\b", re.IGNORECASE)


def machine(line: str) -> bool:
    """Whether a machine or an editor wrote the line."""
    ended = line.rstrip()
    code = ended.endswith((";", "{", "}", "=>")) and any(mark in ended for mark in "(){}=")
    return code or bool(_MACHINE.match(line))


def command(line: str) -> bool:
    """Whether the line calls a program by its bare name."""
    called = _PROGRAM.match(line) if len(line) <= _LINE else None
    if not called or line.rstrip().endswith((".", "?", "!", ":", ",")):
        return False
    rest = called["rest"]
    plain = bool(called["plain"] or _PATHS.search(rest)) and not (_PROSE.search(rest) or _OWN.search(rest))
    return plain or bool(_OPTION.search(rest))


def foreign(line: str) -> bool:
    """Whether a mail, a document, a ticket or a message begins with the line."""
    return bool(_FOREIGN.match(line.lstrip()))


def told(line: str) -> str:
    """Return who said what the line goes on to tell, '' where it tells nobody's words."""
    found = _TOLD.match(line) if ": " in line else None
    return found[1] + ":" if found and not _OWN_LIST.search(found[1]) else ""


def announces(line: str, after: str = "") -> bool:
    """Whether what follows the line is somebody else's; `after` is the next line of a paragraph that begins with it."""
    line = line.strip()
    if line.endswith(":"):
        line = line[-_LINE:]
        return bool((_COLON.search(line) or _bearing(line)) and (_RETOLD.search(line) or not _listing(line)))
    if below(line) or _TITLED.fullmatch(line) or (" " not in line and _bearing(line)):
        return not _listing(line)
    if len(line) > _LINE or line.endswith((".", "!", "?", ",", ";")) or _ORDER.match(line) or _listing(line):
        return False
    here = bool(_HERE.match(line) and (_COLON.search(line) or _bearing(line)))
    return here or _telling(line) or bool(_COPIED.match(line)) or _title(line, after)


def _listing(line: str) -> bool:
    """Whether the user is about to list rules; a file's name says nothing of that."""
    return bool(_OWN_LIST.search(" ".join(word for word in line.split() if not _PATH.search(word, 1, 80))))


def _telling(line: str) -> bool:
    """Whether the line breaks off where somebody begins to speak."""
    said = line.lower().split()
    while said and (said[-1] in _AFTER or said[-1].isdecimal()):
        said.pop()
    before, verb = said[-3:-1], "".join(said[-1:])
    if verb in {"is", "was"}:
        return not (_ANSWERS | _TEXTS).isdisjoint(before[-1:])
    if verb == "with":
        return not _FAILING.isdisjoint(before[-1:])
    return verb in _TELLING and {"i", "we"}.isdisjoint(before)


def _title(line: str, after: str) -> bool:
    """Whether the line says nothing itself and names a text, or stands over sentences."""
    if len(line) > _TITLE or _OWN.search(line):
        return False
    return (
        _bearing(line)
        or bool(_WHOSE.search(line))
        or (after[:1].isupper() and " " in line and not _OPENING.match(line))
    )


def _bearing(line: str) -> bool:
    """Whether the line names what bears somebody else's words."""
    words = [word.strip("\"'`()[],#:").removesuffix("'s") for word in line.lower().split()]
    return any(word in _TEXTS or word.endswith(_FILES) or word[:1] == "." for word in words)


def voices(lines: list[str]) -> frozenset[str]:
    """Return the lines of a dialogue, and the greeting of a letter that takes leave as well."""
    said = [(found[1], line) for line in lines if (found := _SPEAKER.match(line))]
    names = [name for name, _ in said]
    spoken = {line for _, line in said} if 1 < len(set(names)) < len(names) else set[str]()
    greeted = next((n for n, line in enumerate(lines) if _SALUTATION.match(line)), len(lines))
    left = any(_SIGN_OFF.match(line.strip()) for line in lines[greeted + 1 :])
    return frozenset(spoken | ({lines[greeted]} if left else set()))
