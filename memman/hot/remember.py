"""`memman remember`: check the text, screen it for secrets, append it to the queue, print its uid."""

import os
import sys

from memman.config import stores
from memman.config.ignore import ignored
from memman.config.places import data_dir, kept_still
from memman.config.schedule import refuse_stopped
from memman.hot.grammar import REMEMBER, choice, parse, refuse, said, settled
from memman.hot.provenance import stamp
from memman.model.secret_words import screened
from memman.model.vocabulary import CATEGORIES, IMPORTANCES, SOURCES
from memman.queue.append import MAX_BYTES, append

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memman.config.repository import Repository


def main(args: list[str], store: str | None) -> int | None:
    """Run the verb; None leaves an unknown shape of arguments to click."""
    parsed = parse(args, REMEMBER)
    if parsed is None:
        return None
    values, words = parsed
    return remember(words, {"store": store, **values})


def remember(words: "Sequence[str]", values: "Mapping[str, str | bool | None]", replaces: str = "") -> int:
    """Queue the note and print its uid, or with `json` the whole acknowledgement.

    Raises UsageError for text or hints that cannot be taken, and UnknownStore.
    """
    settled(values)
    if kept_still():
        from memman.model.errors import ReadOnly

        raise ReadOnly("--readonly was given, and remember writes: nothing was queued")
    data = data_dir()
    refuse_stopped(data, "replace" if replaces else "remember")
    note = _note(_text(words), values, replaces)
    here = stores.here()
    _check_place(data, here)
    note["store"] = _existing(data, stores.resolve(data, said(values, "store"), here))
    note |= {name: screened(text) for name, text in stamp(choice(values, "source", SOURCES) or "", here).items()}
    uid, fresh = append(data, note)
    if values.get("json"):
        _print_json(uid, note, fresh=fresh)
    else:
        sys.stdout.write(uid + "\n")
    sys.stdout.flush()
    return 0


def _existing(data: str, store: str) -> str:
    """Return the name of a store that there is, or that makes itself. Raises UnknownStore."""
    if store != stores.DEFAULT and not stores.exists(data, store):
        from memman.govern.stores import unknown

        raise unknown(data, store)
    return store


def _check_place(data: str, here: "Repository | None") -> None:
    """Raise UsageError where nothing is to be remembered."""
    try:
        why = ignored(data, os.getcwd(), here)
    except FileNotFoundError:
        return
    if why:
        refuse(f"not saved: this folder is excluded ({why})")


def _note(text: str, values: "Mapping[str, str | bool | None]", replaces: str) -> "dict[str, str | int | None]":
    importance = choice(values, "importance", IMPORTANCES)
    names = (name.strip() for name in (said(values, "entities") or "").split(","))
    return {
        "text": screened(text),
        "category": choice(values, "category", CATEGORIES),
        "importance": int(importance) if importance else None,
        "entities": screened("\n".join(filter(None, names))),
        "replaces": replaces,
    }


def _text(words: "Sequence[str]") -> str:
    if list(words) == ["-"] or (not words and not sys.stdin.isatty()):
        raw = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        raw = " ".join(words).encode("utf-8", "surrogateescape")
    if len(raw) > MAX_BYTES:
        refuse(f"the text is longer than {MAX_BYTES} bytes: split it into several notes")
    try:
        text = raw.decode().strip()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        refuse("the text is not UTF-8 text; nothing was queued")
    if not text:
        refuse("there is nothing to remember: give the text as arguments, or pipe it in")
    return text


def _print_json(uid: str, note: "Mapping[str, str | int | None]", *, fresh: bool) -> None:
    import json

    entities = str(note["entities"]).split("\n") if note["entities"] else []
    acknowledgement = {"uid": uid, "state": "pending", "new": fresh, **note, "entities": entities}
    sys.stdout.write(json.dumps(acknowledgement, ensure_ascii=False, indent=2) + "\n")
