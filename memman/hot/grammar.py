"""The options of the hot verbs: one table read by the fast parser here and by click."""

import time

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
    "--entities": ("entities", "A,B", "Names that it is about, separated by commas."),
    "--source": (
        "source",
        "WORD",
        "Where it comes from: user, agent, file, import, tool or web. It can only lower the trust.",
    ),
    "--scope": ("scope", "WORD", "Where it holds: personal, repository, or path:FOLDER (default: from the text)."),
    "--visibility": (
        "visibility",
        "WORD",
        "Who sees it in a shared store: private or shared (default: by its scope).",
    ),
    "--until": (
        "until",
        "TIME",
        "Until when it holds: 2026-12-01, 14d, Friday, end of March (default: from the text).",
    ),
    "--lines": ("lines", "", "Save each line of the text as a separate note."),
    "--json": ("json", "", "Print JSON."),
    **EVERYWHERE,
}
RECALL = {
    "--store": ("store", "NAME", "Store to read."),
    "--limit": ("limit", "N", "Maximum number of hits (default 10)."),
    "--budget": (
        "budget",
        "TOKENS",
        "Print at most this many tokens; the number of hits left out goes to standard error.",
    ),
    "--intent": (
        "intent",
        "WORD",
        "when: newest first. why: also the causes of the hits, first. Otherwise: best first.",
    ),
    "--category": ("category", "WORD", "Show only this category."),
    "--source": ("source", "WORD", "Show only this source."),
    "--since": ("since", "TIME", "Show only what was recorded since: 2026-11-01, 2026-11-01T10:00, 7d, yesterday."),
    "--until": ("until", "TIME", "Show only what was recorded before then."),
    "--as-of": ("as_of", "TIME", "Answer as memman would have at that time."),
    "--history": ("history", "", "Also show superseded memories."),
    "--all-scopes": ("all_scopes", "", "Also show what holds only in other repositories."),
    "--all": ("all", "", "Also show hits far below the best."),
    "--min-confidence": ("min_confidence", "X", "Minimum confidence, from 0 (show everything) to 1."),
    "--json": ("json", "", "Print JSON."),
    **EVERYWHERE,
}
_UNITS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_NAMES = {"minute": "m", "hour": "h", "day": "d", "week": "w"}
_LONGEST_DIGITS = 6
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


def apply_global_options(values: "Mapping[str, str | bool | None]") -> None:
    """Do as `data_dir` and `readonly` say; an agent keeps to its own data folder. Raises UsageError, ForPeople."""
    folder = values.get("data_dir")
    if isinstance(folder, str):
        import os

        from memman.config.places import data_dir
        from memman.hot.provenance import agent
        from memman.model.errors import ForPeople

        if not folder:
            refuse("--data-dir takes the path of a folder")
        before = data_dir() if agent() else ""
        os.environ["MEMMAN_DATA_DIR"] = os.path.abspath(os.path.expanduser(folder))
        if before and data_dir() != before:
            raise ForPeople(f"--data-dir is for a person, and {agent()} runs this: run it in a terminal of your own")
    if values.get("readonly"):
        from memman.config.places import keep_still

        keep_still()


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


def moment(text: str, option: str, now: int | None = None) -> int:
    """Return a moment in Unix milliseconds: 2026-11-01, 2026-11-01T10:00, 7d, 12h, 3 days ago, yesterday, last week.

    No zone is the local one; a named day is its beginning. Raises UsageError.
    """
    clock = time.time_ns() // 1_000_000 if now is None else now
    for read in (_passed, _written, _named):
        found = read(text, clock)
        if found is not None:
            return found
    from memman.model.errors import UsageError

    shown = option.replace("_", "-")
    raise UsageError(
        f"--{shown} takes a date like 2026-11-01, a time like 2026-11-01T10:00, 7d, 12h or 30m for so long ago,"
        " or words like yesterday, 3 days ago, last week"
    )


def end(text: str, option: str) -> int:
    """Return the moment to come, in Unix milliseconds, until when something holds. Raises UsageError."""
    from memman.model.ending import moment as ending
    from memman.model.errors import UsageError

    now = time.time_ns() // 1_000_000
    found = ending(text, now)
    if found is not None and found > now:
        return found
    if text[-1:] == "m" and text[:-1].isdigit():
        raise UsageError(f"--{option} {text} may mean minutes or months: say 12h, 30d, or a date like 2026-12-01")
    if found is not None:
        raise UsageError(f"--{option} {text} is over already: it takes a time to come")
    raise UsageError(
        f"--{option} takes a time to come: a date like 2026-12-01, a time like 2026-12-01T18:00, 12h, 14d, 2w from now,"
        " or words like Friday, tomorrow, end of March"
    )


def _passed(text: str, now: int) -> int | None:
    """Read 7d or 7 days ago."""
    said = text.split()
    if len(said) == 3 and said[2] == "ago":  # noqa: PLR2004 - number, unit, ago
        number, unit = said[0], _NAMES.get(said[1].removesuffix("s"), "")
    else:
        number, unit = text[:-1], text[-1:]
    known = unit in _UNITS and number.isascii() and number.isdigit() and len(number) <= _LONGEST_DIGITS
    return now - int(number) * _UNITS[unit] if known else None


def _written(text: str, _: int) -> int | None:
    """Read a date or a time."""
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def _named(text: str, now: int) -> int | None:
    """Read what names a time and says nothing else."""
    from memman.recall.moments import resolve

    span = resolve(text, now)
    return span.start if span and not span.rest else None
