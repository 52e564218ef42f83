"""`memman remember`: check the text, screen it for secrets, append it to the queue, print its uid."""

import os
import sys

from memman.belief import BEYOND, SOURCES, allowed
from memman.config import stores
from memman.config.ignore import ignored
from memman.config.places import data_dir, kept_still, reach_path, store_path
from memman.config.schedule import refuse_stopped
from memman.config.scope import PERSONAL, asked, label, missing, path_of
from memman.hot.grammar import REMEMBER, apply_global_options, choice, end, parse, refuse, said
from memman.hot.provenance import stamp
from memman.model.vocabulary import CATEGORIES, IMPORTANCES, VISIBILITIES
from memman.queue.append import MAX_BYTES, append_all
from memman.secrets import screened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memman.config.repository import Repository

# Lines of a piped text from which on it may be a list.
_MANY = 20
# Bytes of all lines that come at once with --lines.
_MOST = 64 * MAX_BYTES


def main(args: list[str], store: str | None) -> int | None:
    """Run the verb; None leaves an unknown shape of arguments to click."""
    parsed = parse(args, REMEMBER)
    if parsed is None:
        return None
    values, words = parsed
    return remember(words, {"store": store, **values})


def remember(words: "Sequence[str]", values: "Mapping[str, str | bool | None]", replaces: str = "") -> int:
    """Queue the note, or with `lines` one a line, and print its uid, or with `json` all of it.

    Raises UsageError and UnknownStore.
    """
    apply_global_options(values)
    if kept_still():
        from memman.model.errors import ReadOnly

        raise ReadOnly("remember needs to write, but --readonly was given: nothing was saved")
    data = data_dir()
    refuse_stopped(data, "replace" if replaces else "remember")
    apart = bool(values.get("lines"))
    text = _text(words, _MOST if apart else MAX_BYTES)
    if apart and replaces:
        refuse("--lines makes several notes, and only one can replace a memory; nothing was queued")
    parts = list(filter(None, map(str.strip, text.split("\n")))) if apart else [text]
    if apart and any(len(part.encode()) > MAX_BYTES for part in parts):
        refuse(f"a line is longer than {MAX_BYTES} bytes: split it into several; nothing was queued")
    here = stores.here()
    store = stores.resolve(data, said(values, "store"), here)
    told, notes = queued(data, store, parts, values, here, stores.cwd(), replaces)
    origin = notes[0]
    if values.get("json"):
        _print_json(told, notes, apart=apart)
    else:
        sys.stdout.write("".join([uid + "\n" for uid, _ in told]))
        lines = text.count("\n") + 1
        if not apart and _piped(words) and lines >= _MANY:
            sys.stderr.write(f"memman: stored {lines} lines as one note; with --lines each is a note of its own\n")
    sys.stdout.flush()
    if folder := missing(said(values, "scope"), here):
        sys.stderr.write(f"memman: stored, but no session will begin with it: there is no folder {folder}\n")
    elif not replaces and (origin["agent"] or sys.stderr.isatty()):
        sys.stderr.write(f"memman: holds {_where(asked(said(values, 'scope')), origin)}\n")
    return 0


def queued(
    data: str,
    store: str,
    parts: "Iterable[str]",
    values: "Mapping[str, str | bool | None]",
    here: "Repository | None",
    folder: str,
    replaces: str = "",
) -> "tuple[list[tuple[str, bool]], list[dict[str, str | int | None]]]":
    """Queue notes said in `folder`, `here`; return of each its uid and whether it is new, and all that is kept of it.

    Raises UsageError, UnknownStore and ServerRefused.
    """
    if folder and (why := ignored(data, folder)):
        refuse(f"not saved: this folder is excluded ({why})")
    _check_store(data, store)
    origin = stamp(data, choice(values, "source", SOURCES) or "", here, folder)
    notes = [{**_note(part, values, replaces), **origin, "store": store} for part in parts]
    if not (replaces or origin["repository"]):
        _check_scope(asked(said(values, "scope")), folder)
    return append_all(data, notes), notes


def _where(scope: str, origin: "Mapping[str, str | int | None]") -> str:
    """Say where a note will hold; only the user's own is for everywhere."""
    own, repository = allowed(str(origin["source"]), BEYOND), str(origin["repository"])
    everywhere = not repository or (own and scope == PERSONAL)
    place = "everywhere" if everywhere else f"in {label(repository, path_of(scope))}"
    unless = ", unless it is about you or another repository" if repository else ", unless it names a repository"
    return place + unless * (own and not scope)


def _check_store(data: str, store: str) -> None:
    """Raise UnknownStore where there is none, and ServerRefused for one of a server that may only be read."""
    if store != stores.DEFAULT and not stores.exists(data, store):
        raise stores.unknown(data, store)
    path = store_path(data, store)
    if os.path.exists(reach_path(path)):
        from memman.store.reach import only_read

        if only_read(path):
            from memman.model.errors import ServerRefused

            raise ServerRefused(f"not saved: store {store!r} is one that you may only read; its owner can change that")


def _check_scope(scope: str, folder: str) -> None:
    """Raise UsageError where something said outside of a project would hold everywhere, and nobody has said so."""
    if scope not in ("", PERSONAL):
        refuse("not saved: there is no repository here; go to it, or say --scope personal if it holds everywhere")
    if not (scope or folder):
        refuse("not saved: this folder is gone; go to another one, or say --scope personal if it holds everywhere")


def _note(text: str, values: "Mapping[str, str | bool | None]", replaces: str) -> "dict[str, str | int | None]":
    importance, until = choice(values, "importance", IMPORTANCES), said(values, "until")
    names = (name.strip() for name in (said(values, "entities") or "").split(","))
    return {
        "text": text,
        "category": choice(values, "category", CATEGORIES),
        "importance": int(importance) if importance else None,
        "entities": "\n".join(filter(None, names)),
        "replaces": replaces,
        "scope": asked(said(values, "scope")),
        "visibility": choice(values, "visibility", VISIBILITIES) or "",
        **({} if until is None else {"ends_at": end(until, "until")}),
    }


def _piped(words: "Sequence[str]") -> bool:
    """Whether the text comes on standard input."""
    return list(words) == ["-"] or (not words and not sys.stdin.isatty())


def _decoded(raw: bytes) -> str:
    """Return bytes as text: half a character of UTF-16 becomes U+FFFD, both halves what they mean."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        halves = raw.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass")
        return halves.decode("utf-16-le", "replace")


def _text(words: "Sequence[str]", most: int) -> str:
    piped = _piped(words)
    return checked_text(
        sys.stdin.buffer.read(most + 1) if piped else " ".join(words).encode("utf-8", "surrogateescape"), most
    )


def checked_text(raw: bytes, most: int = MAX_BYTES) -> str:
    """Return what a note says. Raises UsageError where it is empty, no text, or longer than `most` bytes."""
    if len(raw) > most:
        refuse(f"the text is longer than {most} bytes: split it into several notes")
    try:
        text = _decoded(raw).strip()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        refuse("the text is not UTF-8 text; nothing was queued")
    if not text:
        refuse("there is nothing to remember: give the text as arguments, or pipe it in")
    return text


def _print_json(
    told: "Sequence[tuple[str, bool]]", notes: "Sequence[Mapping[str, str | int | None]]", *, apart: bool
) -> None:
    import json

    made = [_acknowledged(uid, note, fresh=fresh) for (uid, fresh), note in zip(told, notes, strict=True)]
    sys.stdout.write(json.dumps(made if apart else made[0], ensure_ascii=False, indent=2) + "\n")


def _acknowledged(uid: str, note: "Mapping[str, str | int | None]", *, fresh: bool) -> "dict[str, object]":
    note = {name: screened(value) if isinstance(value, str) else value for name, value in note.items()}
    entities = str(note["entities"]).split("\n") if note["entities"] else []
    return {"uid": uid, "state": "pending", "new": fresh, **note, "entities": entities}
