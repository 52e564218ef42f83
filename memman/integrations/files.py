"""Reads and replaces other programs' files: through links, whole or not at all, never over somebody else's change."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from memman.config.places import FILE_MODE, make_folder, others_link
from memman.integrations.edits import CannotEdit
from memman.model.errors import CannotWrite

_PROGRAM_MODE = 0o700


def digest(content: bytes | None) -> str:
    """Return the fingerprint of a content, '' for no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def content(path: str) -> bytes | None:
    """Return what a file holds, None where there is none. Raises CannotWrite."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise CannotWrite(f"{path} is not a regular file")
        with open(path, "rb") as source:
            return source.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise CannotWrite(f"{path} could not be read ({error.strerror})") from error


def decoded(held: bytes | None) -> str | None:
    """Return a file's text. Raises CannotEdit where it is not UTF-8."""
    try:
        return None if held is None else held.decode()
    except UnicodeDecodeError as error:
        raise CannotEdit(f"byte {error.start}: not UTF-8") from error


def encoded(text: str | None) -> bytes | None:
    """Return the bytes of a text. Raises CannotEdit where it holds what cannot be written."""
    try:
        return None if text is None else text.encode()
    except UnicodeEncodeError as error:
        raise CannotEdit("the path of the data folder is not UTF-8: set MEMMAN_DATA_DIR to another folder") from error


def missing_folders(path: str) -> list[str]:
    """Return the folders that have to be made for a file, the outermost first."""
    place, missing = os.path.dirname(os.path.realpath(path)), []
    while not os.path.isdir(place) and place != os.path.dirname(place):
        missing.append(place)
        place = os.path.dirname(place)
    return missing[::-1]


def swap(path: str, before: bytes | None, after: bytes | None, *, program: bool = False) -> bool:
    """Replace a file, or what a link leads to, that still holds `before`; False otherwise. Raises CannotWrite."""
    target = os.path.realpath(path)
    if link := others_link(path):
        raise CannotWrite(f"{path} is not written: {link} is a link of another user")
    with _said(path):
        if after is None:
            if content(target) != before:
                return False
            if before is not None:
                os.unlink(target)
                _sync_folder(target)
            return True
        make_folder(os.path.dirname(target))
        draft = _draft(target)
        try:
            _write(draft, after, _standing(target), _PROGRAM_MODE if program else FILE_MODE)
        except OSError:
            clear_draft(target)
            raise
        if content(target) != before:
            os.unlink(draft)
            return False
        os.replace(draft, target)
        _sync_folder(target)
    return True


def check_writable(path: str) -> None:
    """Raise CannotWrite where a file, or the folder it is to stand in, is not ours to write."""
    for needed in read_only(path):
        raise CannotWrite(f"{path} could not be written: {needed} is read-only")


def read_only(path: str) -> list[str]:
    """Return what keeps a file from being written: itself, or the folder that it stands or would be made in."""
    target = os.path.realpath(path)
    place = target
    while not os.path.exists(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    needed = dict.fromkeys((place, os.path.dirname(target)))
    return [place for place in needed if os.path.exists(place) and not os.access(place, os.W_OK)]


def clear_draft(path: str) -> None:
    """Remove what a writer that was killed left beside a file."""
    with _said(path):
        draft = _draft(os.path.realpath(path))
        if os.path.lexists(draft):
            os.unlink(draft)


def _draft(target: str) -> str:
    return f"{os.path.dirname(target)}/.{os.path.basename(target)}.memman-new"


def _standing(target: str) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _write(draft: str, after: bytes, like: os.stat_result | None, mode: int) -> None:
    if os.path.lexists(draft):
        os.unlink(draft)
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    with open(handle, "wb") as out:
        out.write(after)
        out.flush()
        if like and (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            mode = _owned(handle, like)
        elif like:
            mode = stat.S_IMODE(like.st_mode)
        os.fchmod(handle, mode)
        os.fsync(handle)


def _owned(handle: int, like: os.stat_result) -> int:
    """Give a draft the owner and group of a file, and return its mode.

    Where the group is not ours to give, ours may do no more than others may.
    """
    mode = stat.S_IMODE(like.st_mode)
    try:
        os.fchown(handle, like.st_uid, like.st_gid)
    except PermissionError:
        if like.st_uid != os.geteuid():
            raise
        return mode & ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    return mode


def _sync_folder(target: str) -> None:
    handle = os.open(os.path.dirname(target), os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _said(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"{path} could not be written ({error.strerror})") from error
