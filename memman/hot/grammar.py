"""The options of the hot verbs: one table read by the fast parser here and by click."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

# Options of every verb, which may also stand before it.
EVERYWHERE = {
    "--data-dir": ("data_dir", "PATH", "Data folder to use instead of MEMMAN_DATA_DIR or ~/.memman."),
    "--readonly": ("readonly", "", "Write nothing below the data folder."),
}
# Option -> (name of the value, what it takes in the help text or '' for a switch, help).
REMEMBER = {
    "--store": ("store", "NAME", "Store to write to."),
    "--category": ("category", "WORD", "preference, decision, fact, insight or context."),
    "--importance": ("importance", "1-5", "Importance; 5 is highest."),
    "--entities": ("entities", "A,B", "Names it is about, separated by commas."),
    "--source": (
        "source",
        "WORD",
        "Where it comes from: user, agent, file, import, tool or web. Can only lower trust.",
    ),
    "--scope": ("scope", "WORD", "What it holds for: personal, repository, or path:FOLDER (default: what it says)."),
    "--visibility": (
        "visibility",
        "WORD",
        "For whom, in a store that several share: private or shared (default: by its scope).",
    ),
    "--until": ("until", "TIME", "Until when it holds: 2026-12-01, 14d, Friday, end of March (default: what it says)."),
    "--lines": ("lines", "", "Make each line of the text a note of its own."),
    "--json": ("json", "", "Print JSON."),
    **EVERYWHERE,
}
RECALL = {
    "--store": ("store", "NAME", "Store to read."),
    "--limit": ("limit", "N", "Maximum number of hits (default 10)."),
    "--budget": (
        "budget",
        "TOKENS",
        "Print at most this many tokens; how many hits were left out goes to standard error.",
    ),
    "--intent": (
        "intent",
        "WORD",
        "when: newest first. why: with what led to the hits, causes first. Others: best first.",
    ),
    "--category": ("category", "WORD", "Show only this category."),
    "--source": ("source", "WORD", "Show only this source."),
    "--since": ("since", "TIME", "Show only what was recorded since: 2026-11-01, 2026-11-01T10:00, 7d, yesterday."),
    "--until": ("until", "TIME", "Show only what was recorded before that time."),
    "--as-of": ("as_of", "TIME", "Answer as memman would have at that time."),
    "--history": ("history", "", "Also show superseded memories."),
    "--all-scopes": ("all_scopes", "", "Also show what holds for other repositories only."),
    "--all": ("all", "", "Also show hits far below the best."),
    "--min-confidence": ("min_confidence", "X", "Minimum confidence, from 0 (show everything) to 1."),
    "--json": ("json", "", "Print JSON."),
    **EVERYWHERE,
}
SHORT = {"--cat": "--category", "--imp": "--importance"}


def parse(
    args: list[str], options: "Mapping[str, tuple[str, str, str]]"
) -> tuple[dict[str, str | bool], list[str]] | None:
    """Split `args` into values and words, or return None for a shape left to click to judge."""
    values: dict[str, str | bool] = {}
    words: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            words.extend(rest)
        elif arg == "-" or arg[:1] != "-":
            words.append(arg)
        else:
            name, equals, value = arg.partition("=")
            known = options.get(SHORT.get(name, name))
            if known is None:
                return None
            dest, takes, _ = known
            if takes and not equals:
                following = next(rest, None)
                if following is None:
                    return None
                value = following
            elif equals and not takes:
                return None
            values[dest] = value if takes else True
    return values, words


def settled(values: "Mapping[str, str | bool | None]") -> None:
    """Do as the options of every verb say. Raises what `apply_global_options` does."""
    if "data_dir" in values or values.get("readonly"):
        from memman.hot.global_options import apply_global_options

        apply_global_options(values)


def refuse(why: str) -> "NoReturn":
    """Raise UsageError."""
    from memman.model.errors import UsageError

    raise UsageError(why)


def said(values: "Mapping[str, str | bool | None]", name: str) -> str | None:
    """Return an option's value, None where it was left out."""
    value = values.get(name)
    return value if isinstance(value, str) else None


def choice(values: "Mapping[str, str | bool | None]", name: str, allowed: tuple[str, ...]) -> str | None:
    """Return an option's value, which must be one of `allowed`. Raises UsageError."""
    value = said(values, name)
    if value is not None and value not in allowed:
        refuse(f"--{name} takes one of {', '.join(allowed)}")
    return value
