"""Classes of words in which people tell how things are done at their place; `_` for the space in a phrase."""

from memman.llm.builtin.orders import DO, Shape, shape
from memman.llm.builtin.patterns import choice

_PLACE = choice(
    r"""repo(?:sitory|s)? projects? code_?base monorepo workspace company team org(?:anisation|anization)? shop
    house squad department startup app product stack cluster platform machines? servers? boxes place side""",
)
_PLACED = (
    rf"\b(?:in|on|at|for|across|throughout|within)_(?:this|our|the_whole|the_entire|all_our|these)_(?:\w+_)?{_PLACE}\b"
)
_HERE = rf"(?:\b(?:around_|over_|round_)?here(?!_(?:is|are|we_(?:get|see|have|call))\b)|{_PLACED})"
# Where software runs, and who works on it.
_STAGE = choice("staging prod production dev test testing qa uat preview live build release backup ci cd demo")
_HOST = choice(
    """db databases? servers? box(?:es)? machines? env(?:ironment)?s? clusters? account system instances? pipelines?
    agents? runners? hosts?""",
)
_SITE = (
    rf"(?:{_STAGE}_{_HOST}|"
    + choice(
        r""" staging prod production qa uat ci cd pipeline cluster database db servers? boxes runners? registry
    bucket gateway cdn vpn warehouse broker hosting infra infrastructure backend monorepo repo codebase stack""",
    )
    + ")"
)
# What has one value in a project.
_SETTING = choice(
    r"""name id port url uri path host hostname domain region zone branch endpoint bucket version prefix suffix
    namespace registry image limit quota key schema level model chip board device sdk api_level baud_rate
    timezone currency locale licen[cs]e username account scheme encoding extension topic channel queue table
    role group tenant project repo package""",
)
# Pieces of work that come again and again.
_RITE = choice(
    r"""commit pr mr pull_request merge_request release experiment run deploy deployment migration merge change
    feature bug_?fix fix ticket task session answer reply message push sprint module experiment notebook""",
)
# What is a matter of style wherever it occurs.
_MANNER = choice(
    r"""spelling style (?:snake|camel|kebab|title|sentence|upper|lower)[-_]?case units? quotes names buffers format
    english indent(?:ation)? docstrings? typing imports exports voice tense hyphens dates? timestamps? paths?
    notation types dashes commas? messages prefix(?:es)? syntax casing encoding annotations hints tags versions
    schema wording naming pronouns language equality comparisons strings""",
)
# What a team has one of.
_TOOL = choice(
    r"""manager runner framework language bundler linter formatter compiler tool tooling editor tracker database db
    orm provider host hosting style convention standard stack driver library toolchain test_suite wiki chat
    calendar minimum baseline browser client_library template_engine css broker""",
)
# How a thing is that goes wrong or is about to change.
_STATE = choice(
    r"""broken slow down green red failing too not still very getting empty missing full stuck gone huge pretty
    quite really mostly wrong off fine ok okay good bad weird flaky a_mess a_bit so up out unreachable \w+ing
    done ready""",
)
_UNIT = choice(
    r"""cents utc iso(?:[-_]?8601)? metric euros? dollars seconds milliseconds bytes snake[-_]case kebab[-_]case
    camel_?case pascal_?case json uuids? ulids? english british american celsius plural singular""",
)
_VERBLESS = (
    r"^(?:and_|also_|btw_|ok_|oh_and_)*(?P<at>)(?!(?:the|this|that|these|those|more|another|an?|some|two|three|can|could|i|you|it|we|now|then|next|same"
    r"|make|fix|show|give|check|get|print|log|rename|change|convert|update|remove|list|find|sort|run|add|write|use|put|create|set|do|did|just)\b)"
)
_SET_UP = choice(
    r"""runs?_(?:on|in|behind|under|with|inside|as)(?!_(?:my|your|the_first|a_loop|circles)\b)
    lives?_(?:on|in|at|under|behind) sits?_(?:on|in|at|behind) use[sd]?
    is_(?:still_)?(?:on|at|in|behind|called|hosted|managed|based|built|read-only|an?|all|pinned|limited|called)
    are_(?:still_)?(?:on|in|behind|called|hosted|all|managed|on)
    (?:doesn'?t|does_not|don'?t|do_not)_(?:have|use|support) ha(?:s|ve)_no
    (?:comes?|deploys?|builds?|pulls?|reads?|points?)_(?:from|to|via|through|at) listens?_on""",
)
# What teams do, said of all cases.
_DONE = choice(
    r"""use do write put keep commit push merge rebase squash(?:[-_]merge)? fast-forward cherry-pick deploy ship
    release pin mock stub test lint format name prefix version tag branch target host log track store follow
    stick avoid prefer hard-?code review pair document import vendor check_in inline touch edit ban add start
    speak call work go build publish write_tests ask sign translate squash-merge nest comment run develop code
    log_in ssh import generate cut""",
)
_OFTEN = choice(
    r"""always never only usually generally normally typically mostly tend_to don'?t do_not dont no_longer try_to
    all just strictly don'?t_ever never_ever""",
)
_KIND = choice(
    r"""commits? commit_messages? commit_titles? prs? mrs? pull_requests? merge_requests? branches branch_names?
    migrations docstrings? changelogs? release_notes tests unit_tests test_files? test_names? variables
    variable_names function_names class_names file_?names? identifiers constants columns? column_names
    table_names log_messages logs error_messages errors comments types specs fixtures components handlers
    modules packages scripts endpoints routes styles assets secrets configs? dependencies deps features releases
    versions tickets issues docs dates timestamps ids prices amounts quantities units screens pages services
    queries notebooks outputs models schemas events enums hooks imports exports infrastructure_changes
    schema_changes infra_changes changes bugs hotfixes refactorings refactors experiments runs headings titles
    credentials tokens env_vars environment_variables indents? indentation spelling reviews deployments builds
    headers jobs alerts dashboards""",
)
_KEPT = choice(
    r"""follow(?:s|ed)?
    (?:go|live|belong|stay|sit)(?:es|s)?_(?:in|into|under|through|to|on|against|via|next_to|beside|behind|with|at|out)
    (?:are|is)_(?:always|never|only|all)_
    (?:are|is)_(?:named|written|called|prefixed|suffixed|generated|pinned|indented)
    (?:are|is)_(?:sorted|kept|reviewed|signed|squashed|versioned|tagged) gets?\b needs?\b start(?:s)?_with
    end(?:s)?_(?:with|in) target (?:don'?t|do_not|never|always)_(?:get|go|belong|have|need|contain)""",
)
_OUT = choice(
    r"""(?:strictly_|completely_|absolutely_|always_)?(?:forbidden|banned|prohibited|verboten|off[-_]limits|taboo)
    (?:mandatory|compulsory|obligatory)_(?:here|for_us|on|at|for_(?:all|every)) both_out
    not_(?:allowed|permitted)_(?:here|anywhere|(?:in|on|at|by)_(?:our|this|us|the_company))
    not_(?:an_option|acceptable|welcome|ok|okay) off_the_table out_of_bounds a_no-go a_no_go a_hard_no a_must
    hands_off no_go read-only_for_you""",
)
_GONE = choice(
    r"""deprecated obsolete legacy dead gone retired discontinued eol end_of_life history sunset decommissioned
    on_its_way_out being_phased_out phased_out abandoned""",
)
_QUIT = choice(
    r"""dropped ditched retired killed scrapped abandoned sunset got_rid_of stopped_using moved_off moved_away_from
    outgrew binned replaced renamed banned phased_out deprecated migrated_off migrated_away_from switched_off_of
    given_up_on""",
)
_DATED = (
    r"(?:ages_ago|long_ago|\w+_(?:weeks?|months?|years?|days?)_ago|last_(?:week|month|quarter|year|sprint|\w+day)"
    r"|in_(?:january|february|march|april|may|june|july|august|september|october|november|december|q[1-4]|20\d\d)"
    r"|recently|since_\w+|this_(?:week|month|quarter|year|sprint))"
)
_INSISTED = (
    r"(?:(?:as|like)_I(?:'ve|_have)?_(?:\w+_)?(?:said|told|mentioned|asked|wrote|explained)(?:_you)?(?:_\w+){0,2}?"
    r"_(?:before|already|earlier|last_time|yesterday|times|last_week)"
    r"|how_(?:many_times|often)[^,:?]{0,60}|I_(?:keep|kept)_(?:telling|saying|asking|repeating)[^,:]{0,40}"
    r"|for_the_(?:\w+_)?(?:\w+th|\w+rd|second|last|umpteenth)_time|once_and_for_all|once_more|(?:and_)?again"
    r"|I(?:'ve|_have)?_(?:told|asked)_you(?:_\w+){0,3}?_(?:before|already|again|times|yesterday|last_time|twice)|we(?:'ve|_have)_been_over_this|read_my_lips)"
)
_ORDERED = rf"(?:please_|pls_)?(?:no_\w|never_\w|always_\w|don'?t_\w|do_not_\w|dont_\w|{DO}_\w)"
_NO_THING = choice(
    """more rush hurry worries problem need idea matter one longer changes? wait thanks offen[cs]e way luck reason
    doubt not? nothing difference other question it this that the clue sign trace""",
)
_STUFF = rf"(?!{_NO_THING}\b)"

_WORDS = {
    "INSISTED": _INSISTED,
    "ORDERED": _ORDERED,
    "HERE": _HERE,
    "PLACED": _PLACED,
    "SITE": _SITE,
    "SETUP": _SET_UP,
    "DONE": _DONE,
    "OFTEN": _OFTEN,
    "KIND": _KIND,
    "KEPT": _KEPT,
    "OUT": _OUT,
    "GONE": _GONE,
    "QUIT": _QUIT,
    "DATED": _DATED,
    "STUFF": _STUFF,
    "PLACE": _PLACE,
    "TOOL": _TOOL,
    "STATE": _STATE,
    "UNIT": _UNIT,
    "SETTING": _SETTING,
    "RITE": _RITE,
    "MANNER": _MANNER,
    "VERBLESS": _VERBLESS,
    "CAP": r"(?-i:[A-Z])\w",
    "OBJ": r"(?!(?:this|that|it|them|so|the_same|these|those|one|anything|much|any)\b)",
}


def worded(line: str) -> str:
    """Put these classes in the place of their names; those of `orders` are left."""
    for name, text in _WORDS.items():
        line = line.replace("{" + name + "}", text)
    return line


def shapes(category: str, table: str, *, strong: bool = False, wary: bool = False) -> tuple[Shape, ...]:
    """Read a table of shapes, one a line."""
    lines = table.strip().splitlines()
    return tuple(shape(category, worded(line), strong=strong, wary=wary) for line in lines)
