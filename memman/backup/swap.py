"""Putting one folder in the place of another in a single step, where the system can."""

import ctypes
import os
import sys

# Linux, renameat2(2): paths are taken from the working folder; both names stay, each with the other's content.
_HERE, _EXCHANGE = -100, 2
# macOS, renamex_np(2).
_SWAP = 2


def swap(one: str, other: str) -> None:
    """Exchange two folders. Raises OSError."""
    if not _exchanged(os.fsencode(one), os.fsencode(other)):
        in_turn(one, other)


def in_turn(one: str, other: str) -> None:
    """Exchange two folders where the system has no call for it: `one` is missing for a moment. Raises OSError."""
    aside = f"{other}.aside"
    os.rename(one, aside)
    os.rename(other, one)
    os.rename(aside, other)


def _exchanged(one: bytes, other: bytes) -> bool:
    """Let the kernel do it; False where the C library, the kernel or the file system cannot."""
    library = ctypes.CDLL(None)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return bool(library.renamex_np(one, other, _SWAP) == 0)
    return hasattr(library, "renameat2") and bool(library.renameat2(_HERE, one, _HERE, other, _EXCHANGE) == 0)
