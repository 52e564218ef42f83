"""Shapes of sentences in which a person says what shall hold for good: orders, preferences, decisions, reminders.

One shape a line, `_` for the space. `{AT}` is where a clause begins, `{IN}` any place in a sentence; what is kept
of the sentence begins there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memman.llm.builtin.patterns import choice

# What a person tells an agent to do, as opposed to what a program does (return, show, close, retry).
DO = choice(
    r"""run use write add ask lint format commit test push force[-_]push pull rebase squash merge name prefix suffix put
    keep prefer avoid include pin document mention start begin finish create make open answer reply respond respect
    follow read look verify double-check check sign tag deploy release ship install update bump type annotate declare
    import export quote indent wrap split group sort alphabeti[sz]e reuse stick work touch edit change modify delete
    remove rename mock stub hard-?code amend skip disable ignore assume guess invent generate regenerate refactor
    reformat restructure rewrite translate speak talk tell leave store publish upload swallow catch consult branch
    review explain spell capitali[sz]e go build target support say set do have let apologi[sz]e summari[sz]e propose
    suggest give bring""",
)
DOING = choice(
    r"""adding using writing putting asking apologi[sz]ing explaining creating generating wrapping mocking committing
    pushing running inventing guessing summari[sz]ing changing reformatting removing deleting editing touching making
    leaving importing suggesting saying telling repeating commenting refactoring renaming hard-?coding assuming
    installing rewriting skipping disabling ignoring introducing giving sending proposing starting doing""",
)
# What a project keeps having, so that a rule about them is a rule for good.
_OURS = choice(
    """commits? commit_messages? commit_titles? prs? pull_requests? pr_titles? pr_descriptions? branch(?:es|_names?)
    migrations docstrings? changelog_entries release_notes test_names? test_files? variable_names function_names
    identifiers log_messages error_messages file_?names?""",
)
_WHOLE = choice(
    """repo repository project codebase code_base monorepo workspace company team organi[sz]ation package app
    application service library""",
)
# What people have a taste in, whatever the task.
STYLE = choice(
    r"""emojis? comments semi-?colons default_exports abbreviations one-letter_names type_hints any_types? classes
    lambdas em[-_]dashes bullet_points tables docstrings trailing_commas inline_styles apologies summaries mocks
    console\.logs? print_statements magic_numbers wildcard_imports star_imports force_pushes explanations globals
    global_variables acronyms exclamation_marks passive_voice single_quotes double_quotes tabs spaces
    conventional_commits snake_case camelcase kebab-case british american uk_(?:spelling|english)
    us_(?:spelling|english) imperative_mood present_tense absolute_(?:imports|paths) relative_(?:imports|paths)
    named_exports strict_mode metric_units utc dataclasses f-strings arrow_functions early_returns
    function_components async/await pathlib metric imperial \d+[-_]spaces?""",
)
_CODE = choice("code functions? methods? classes modules? tests? files? endpoints? components? services? dependencies")
_DESK = choice(
    """windows linux macos a_mac ubuntu fedora debian arch nixos wsl bash zsh fish powershell vim neovim emacs helix
    tmux vscode vs_code cursor zed intellij pycharm webstorm""",
)
_LANGUAGE = choice(
    """english german french spanish italian portuguese dutch polish czech swedish danish norwegian finnish russian
    ukrainian turkish greek hungarian romanian japanese chinese korean hindi arabic hebrew british american""",
)
_FUTURE = choice(
    r"""from_now_on(?:wards)?(?!,?_(?:the|it|this|they)\b.*\bwill\b) from_here_on going_forward moving_forward
    henceforth in_(?:the_)?future(?=$|[.,!;:]|_(?:please|use|always|never|don'?t|do_not)\b) for_future_reference
    for_the_future as_a_rule(?!_of) starting_(?:today|now) for_next_time every_(?:single_)?time[.!]*$
    at_all_times under_any_circumstances under_no_circumstances no_matter_what whatever_you_do without_exception""",
)
_RULE = choice("rule convention policy standard guideline guide style must habit")
# A clause begins here: the sentence does, a mark ends the one before, or a word that carries nothing opens it.
_FILLERS = choice(
    """and but so also please pls plz just ok okay no nope nah wait hmm+ well again btw by_the_way hey sorry actually
    really kindly thanks next_time in_general generally usually normally whatever_you_do""",
)
_AT = rf"(?:^|[;:,(\u2014\u2013]\s+|\s-+\s+|\b{_FILLERS}[,.:!]*\s+)(?P<at>)"
_IN = r"\b(?P<at>)"
WE = r"(?:we|we all|our team|the (?:\w+ )?team|everyone|everybody)"
NAME = r"[`'\"]?[\w@][\w@./+#\-]*[`'\"]?(?: [\d.]+)?"
# An object that is this one thing, not things of its kind.
_THIS = (
    r"(?!(?:the|this|that|it|them|a|an|my|any_of|yet|anything_yet|those|these|directly|in|for|as|when|if|on|to|with)\b)"
    r"[`'\"\w@]"
)
_ANSWERS = choice("answers? replies responses? explanations? summaries summary commits? commit_messages? prs?")
_SHORT = choice("short brief small concise terse simple minimal to_the_point under below atomic focused tiny")

_WORDS = {"AT": _AT, "IN": _IN, "DO": DO, "DOING": DOING, "OURS": _OURS, "WHOLE": _WHOLE, "STYLE": STYLE, "WE": WE,
          "LANGUAGE": _LANGUAGE, "FUTURE": _FUTURE, "RULE": _RULE, "NAME": NAME, "THIS": _THIS, "ANSWERS": _ANSWERS,
          "SHORT": _SHORT, "CODE": _CODE, "DESK": _DESK}  # fmt: skip


_CLAUSE = re.compile(_AT.replace("_", " "), re.IGNORECASE)


class Shape(NamedTuple):
    """A shape of sentence and what it says.

    A wary one gives way to trouble, a weak one to words like "here" too; a strong one may lean back.
    """

    category: str
    pattern: re.Pattern[str]
    weak: bool
    strong: bool
    wary: bool = False
    leading: bool = False  # begins where a clause does

    def places(self, text: str, clauses: Sequence[int]) -> Iterator[int]:
        """Yield where what `text` says begins, for each time the shape is found; `clauses` are where clauses begin."""
        if self.leading:
            yield from (at for at in clauses if self.pattern.match(text, at))
            return
        named = "at" in self.pattern.groupindex
        yield from (found.start("at") if named else 0 for found in self.pattern.finditer(text))


def openings(shapes: Iterable[Shape]) -> re.Pattern[str]:
    """Join the shapes that begin with a clause, to ask for all of them at once."""
    return re.compile("|".join(f"(?:{one.pattern.pattern})" for one in shapes if one.leading), re.IGNORECASE)


def clauses(text: str, opening: re.Pattern[str]) -> list[int]:
    """Find where those clauses of a sentence begin that `opening` opens."""
    return [at for at in sorted({mark.end() for mark in _CLAUSE.finditer(text)}) if opening.match(text, at)]


def shape(category: str, line: str, *, weak: bool = False, strong: bool = False, wary: bool = False) -> Shape:
    """Read one line of a table."""
    bare = line.removeprefix("{AT}")
    return Shape(category, filled(bare), weak, strong, wary, leading=bare != line)


def filled(line: str) -> re.Pattern[str]:
    """Compile one line of a table."""
    text = re.sub(r"\{([A-Z]+)\}", lambda name: _WORDS[name[1]].replace(" ", "_"), line)
    return re.compile(text.replace("_", " "), re.IGNORECASE)


def _shapes(category: str, table: str, *, weak: bool = False, strong: bool = False) -> tuple[Shape, ...]:
    lines = map(str.strip, table.strip().splitlines())
    return tuple(shape(category, line, weak=weak, strong=strong, wary=weak) for line in lines)


SHAPES = (
    *_shapes(
        "preference",
        r"""
        {AT}{FUTURE}(?!\w)
        (?<!\w){FUTURE}(?!\w)
        \bever[.!]*$
        ,_(?:always|period|full_stop)[.!]*$
        \bunless_(?:I_(?:say|ask|tell|explicitly)|told|asked|absolutely|necessary|really|there(?:'s|_is)_(?:a|no)_.{0,20}reason)
        {IN}I_(?:always|never)_(?:want|need|expect|like)\b
        """,
        strong=True,
    ),
    *_shapes(
        "preference",
        r"""
        {AT}(?:please_)?(?:you_)?(?:do_)?(?:always|never(?:_ever)?|don'?t_ever|do_not_ever|only_ever)(?:_must)?_{DO}\b
        {IN}you_(?:(?:must|should|shall|can|may|have_to|need_to|are_to)_)?(?:always|never)(?:_must|_should)?_{DO}\b
        {IN}(?:sure|remember|try|want|need|expect|told|like|ask)(?:_you)?_to_(?:always|never)_{DO}\b
        {IN}sure_(?:that_)?you_(?:always|never)_{DO}\b
        {AT}(?:{WE}|let'?s)_(?:always|never)_{DO}\b
        ^(?:when|whenever|if|before|after|once)_you_.{1,60}?[\s,](?:always|never)_{DO}\b
        ^(?:when|whenever)_you_(?:write|add|create|make|name|generate|refactor|document|edit|change|touch|commit|fix)\b
        {IN}I(?:'d|_would)?(?:_\w+ly|_much|_really)?_prefer\b(?!_if_(?:the|this|that)\b)(?!(?:_it)?_if_you_(?!did|don|do_not|never|always|used|kept))
        {IN}I(?:'d|_would)_(?:much_|really_)?rather_(?:you|we|have|see|use|keep|not)\b
        {IN}I(?:'d|_would)_like_(?:(?:all|every|my|our|your|the)_)?{OURS}_
        {IN}I_(?:\w+ly_|just_)?(?:like|love)_(?!(?:to|it|that|this|the|how|what|where|your?|an?|when)\b)
        {IN}I_(?:\w+ly_|just_)?(?:hate|loathe|dislike|detest|can'?t_stand|cannot_stand)_(?!(?:to|it|that|this|how|when)\b)
        {IN}I_(?:don'?t|do_not)_(?:\w+ly_)?like_(?!(?:to|it|that|this|the|how|what|where|your?|an?|when)\b)
        {IN}I_(?:don'?t|do_not)_want_(?:any|to_see)_\w
        {IN}I_(?:don'?t|do_not)_want_you_to_(?!{DO}_(?:the|this|that|it)\b)\w
        {IN}I(?:'m|_am)_(?:really_)?(?:not_|no_)?(?:a_)?(?:big_|huge_|great_)?(?:fan_of|keen_on|fond_of|allergic_to)
        {AT}(?:stop|quit|refrain_from|avoid)_{DOING}\b(?!_(?:it|that|this|so)\b)
        {IN}(?:don'?t|do_not|dont)_{DO}\b.{1,80}\bany_?more\b
        {AT}no_(?:more_)?{STYLE}\b[^,.;]{0,40}?(?:please|pls|\b(?:in|and)_|anywhere|at_all|$|[!.])
        {AT}(?:always_)?(?:answer|reply|respond|talk|speak)(?:_to)?(?:_me)?(?:_only|_always)?_in_{LANGUAGE}\b
        {IN}keep_(?:your_|all_)?{ANSWERS}_(?:very_|as_|really_|more_)?{SHORT}\b
        ^(?:please_)?(?P<at>)be_(?:more_|very_|as_)?(?:brief|concise|terse|succinct)
        {IN}(?:ask|check_with|tell|consult)_(?:me|us)_(?:first|before_(?:you|\w+ing)|for_(?:permission|confirmation))
        {IN}(?:never|don'?t|do_not|not)_(?:\w+_){1,6}without_(?:asking|my_\w+|checking_with_me|telling_me)
        {IN}(?:when|whenever|if)_(?:you(?:'re|_are)_)?(?:in_doubt|unsure|not_sure),?_(?:\w+_)?ask
        {IN}if_(?:something|anything|a_\w+|it)_(?:is|looks|seems)_(?:unclear|ambiguous|unknown),?_(?:\w+_){0,3}ask
        {IN}(?:{DO}_(?:[\w`'/.\-]+_){1,6})?(?:every(?:_single)?|each|any)_time_(?:before_)?you\b
        {IN}(?:run|use|add|execute)_(?:[\w`'/.\-]+_){1,6}(?:before|after|for|on)_(?:every|each)_(?!of\b|time\b)\w+
        {IN}I(?:'ve|_have)?(?:_already|_just)?_(?:told|asked)_you(?:_\w+){0,2}?_(?:not_)?to_{DO}\b
        {AT}(?:all_|every_|each_|our_|new_)*{OURS}_(?:must|should|always|never|need_to|have_to|has_to|go_in|are_written)\b
        {IN}(?:in|for|across|throughout)_(?:this|our|the_whole)_{WHOLE},?_(?:we|please|always|never|use|only|you)\b
        (?:it|that)(?:'?s|_is)_(?:our|my|a|the)_(?:\w+_){0,2}{RULE}\b
        \bis_(?:our|my)_(?:\w+_)?{RULE}\b
        {AT}our_(?:\w+_)?{RULE}s?_(?:is|says|are)\b
        ^{STYLE}_(?:only|everywhere|throughout)
        {AT}(?:skip|drop|omit|leave_out|spare_me)_.{1,40}_your_{ANSWERS}\b
        {AT}(?:all|every|any)_(?:new_)?(?:\w+_)?{CODE}_(?:must|should|needs?_to|ha(?:s|ve)_to|gets?|goes?)_{THIS}
        {IN}my_(?:name|time_?zone|pronouns|editor|shell|keyboard|keyboard_layout|terminal)_(?:is|are)\b
        {AT}call_me_\w
        {IN}I(?:'m|_am)_(?:on|using|running|a)_(?:a_)?{DESK}\b
        {IN}I_(?:use|run|work_(?:on|with|in))_{DESK}\b
        """,
    ),
    *_shapes(
        "preference",
        r"""
        ^(?:please_|pls_|and_|also_|but_)*(?P<at>)(?:don'?t|dont|do_not|to_not|not_to)_(?:ever_)?(?:use|add|write|put|leave)_{THIS}
        ^(?:please_|pls_|and_|also_|but_)*(?P<at>)(?:don'?t|dont|do_not)_(?:create|include|mock|explain|invent|assume)_{THIS}
        ^(?:please_|pls_|and_|also_|but_)*(?P<at>)(?:don'?t|dont|do_not)_(?:apologi[sz]e|guess|summari[sz]e|abbreviate)_{THIS}
        ^(?:please_|pls_|and_|also_|but_)*(?P<at>)(?:don'?t|dont|do_not)_(?:shorten|nest|mix|bring|swallow|hard-?code)_{THIS}
        {AT}(?:please_)?use_{STYLE}\b
        {AT}only_(?:ever_)?use_{NAME}
        {AT}prefer_{NAME}_over_{NAME}
        {AT}(?:please_)?(?:use|prefer|stick_(?:to|with)|follow)_.{1,60}?_(?:for|in|on|with)_(?:all|every|our)_(?:new_)?{OURS}\b
        {AT}(?:please_)?(?:use|prefer|stick_(?:to|with))_.{1,60}?_(?:for_everything|everywhere|throughout|wherever_possible)\b
        {AT}(?:please_)?(?:use|prefer|stick_(?:to|with)|follow)_.{1,60}?_(?:in|for|across)_(?:this|our|the_whole)_{WHOLE}\b
        """,
        weak=True,
    ),
    *_shapes(
        "decision",
        r"""
        {IN}(?:{WE}|I)(?:'ve|_have|_has)?(?:_just|_now|_finally|_already|_all)*_(?:decided|agreed|settled_on|opted|chosen?)\b
        {IN}(?:{WE}|I)(?:'ve|_have|_has)?(?:_just|_now|_finally|_already|_all)*_(?:picked|standardi[sz]ed_on)\b
        {IN}(?:management|the_company|the_cto|the_boss|the_client|they)_(?:has_|have_)?(?:decided|agreed)\b
        {IN}decision(?:_made|_taken)?:_\w
        {IN}everything_(?:new_)?(?:goes|runs|lives|is|uses|happens)_(?:[\w@./-]+_){1,4}now\b
        {IN}(?:is|are)_(?:deprecated|obsolete|legacy)\b.{1,60}\b(?:we|our|everything)\b
        ^(?:no+|nope|nah|wrong|stop)\b.{0,40}\bthis_is_an?_{NAME}_{WHOLE}\b
        {IN}{WE}_only_ever_{DO}\b
        {IN}it_(?:was|has_been|is)_(?:decided|agreed)
        {IN}{WE}(?:'re|_are)(?:_now)?_(?:going_with|sticking_with|staying_(?:on|with)|standardi[sz]ing_on|dropping)\b
        {IN}{WE}(?:'re|_are)(?:_now)?_(?:moving|switching|migrating)_(?:to|off|away_from)_{THIS}
        {IN}{WE}(?:'re|_are|'ve|_have)_(?:no_longer|stopped|quit)_(?:on|in|with|\w+ing)\b
        {AT}{WE}_(?:no_longer|don'?t|do_not|only)(?:_now)?_(?:use|support|target|run|deploy|ship)\b
        {IN}as_of_(?:today|now|this_\w+|last_\w+|next_\w+|\w+day)\b
        ^(?:heads?[-_]up|fyi|for_your_information|just_so_you_know|good_to_know)[,:]?_.{0,40}\b(?:we|our|now|no_longer)\b
        """,
        weak=True,
    ),
    *_shapes(
        "fact",
        r"""
        ^(?:please_|and_|also_|ok(?:ay)?,?_|but_)*(?P<at>)(?:always_)?(?:remember|keep_in_mind|bear_in_mind)(?:_that\b|:|,)_?\w
        ^(?:please_|and_|also_|but_)*(?P<at>)(?:don'?t_forget|never_forget|for_the_record|memori[sz]e)(?:_that\b|:|,)_?\w
        ^(?:please_|and_|also_|but_)*(?P<at>)(?:note_(?:for_later|to_self)|make_a_note|take_note)(?:_that\b|:|,)_?\w
        {IN}the_(?:correct|right|proper|actual)_(?:\w+_){0,2}(?:command|name|url|path|port|spelling|branch|host)_is\b
        {IN}(?:it|that|her_name|his_name|the_name)(?:'s|_is)_(?:spelled|spelt)_\w
        """,
    ),
)  # fmt: skip
