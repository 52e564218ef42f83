"""The console script: the hot verbs first, everything else goes to click. Imports what is built in only."""

import codecs
import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_INTERNAL_ERROR = 70  # EX_SOFTWARE
_CANNOT_WRITE = 74  # EX_IOERR
_LONGEST = 4096  # characters of an error
_EVERYWHERE = ("--store", "--data-dir", "--readonly")
_TOLD = ("atexit", "threading")


def main() -> int:
    """Run memman on sys.argv and return its exit code. No exception escapes."""
    _open_streams()
    try:
        return _run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone; keep the interpreter from complaining on its way out.
        sys.stdout = None
        return 141
    except OSError as error:
        # Adapters translate theirs: what is left is the file or terminal that our output goes to.
        sys.stdout = None
        sys.stderr.write(f"memman: {error.filename or 'the output'} could not be written: {error.strerror}\n")
        return _CANNOT_WRITE
    except Exception as error:  # noqa: BLE001 - the one place where a failure becomes a line and an exit code
        return _report(error)


def leave(code: int) -> "NoReturn":
    """End the process. Where nothing was loaded that asks to be told of it, the interpreter is not taken apart."""
    if sys.modules.keys().isdisjoint(_TOLD):
        import os

        try:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
        except (OSError, ValueError):
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


def _open_streams() -> None:
    """Give a closed standard stream to the null device, and write as JSON does what a stream's encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open("/dev/null", mode))  # noqa: SIM115 - open until the process ends
    codecs.register_error("memman", _codes)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="memman")


def _codes(error: UnicodeError) -> tuple[str, int]:
    from memman.model.text import codes

    if not isinstance(error, UnicodeEncodeError):
        raise error
    return codes(error.object[error.start : error.end]), error.end


def _before(args: list[str]) -> tuple[dict[str, str | bool], list[str]]:
    """Split off the options that stand before the verb; click judges any that are written otherwise."""
    values: dict[str, str | bool] = {}
    rest = args
    while rest and rest[0] in _EVERYWHERE:
        takes = 1 if rest[0] == "--readonly" else 2
        values[rest[0][2:].replace("-", "_")] = True if takes == 1 else "".join(rest[1:2])
        rest = rest[takes:]
    return values, rest


def _run(args: list[str]) -> int:
    values, rest = _before(args)
    store = str(values.pop("store")) if "store" in values else None
    verb = rest[0] if rest else ""
    code: int | None = None
    # Less is made in an agent's turn than looking through it for rings to free would cost.
    gc.disable()
    if values and verb in {"remember", "recall", "hook"}:
        from memman.hot.grammar import apply_global_options

        apply_global_options(values)
    if verb == "remember":
        from memman.hot.remember import main as remember

        code = remember(rest[1:], store)
    elif verb == "recall":
        from memman.hot.recall import main as recall

        code = recall(rest[1:], store)
    elif verb == "hook" and rest[1:] not in (["--help"], ["-h"]):
        from memman.hot.hook import main as hook

        code = hook(rest[1:], store)
    if code is not None:
        return code
    gc.enable()
    if rest == ["mcp"] and not values:
        from memman.mcp.server import main as mcp

        return mcp(store)
    if verb == "scheduler" and "serve" in rest:
        _heed()
    from memman.commands import run

    return run(args)


def _heed() -> None:
    """Let a signal end us from the start: to a container's first process it would mean nothing otherwise."""
    import signal

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))


def _report(error: Exception) -> int:
    import apsw

    from memman.model.errors import MemmanError

    if isinstance(error, apsw.Error):
        from memman.sqlite import translated

        error = translated(error, "a database")
    if isinstance(error, MemmanError):
        from memman.config.command import runnable
        from memman.hot.provenance import explained
        from memman.model.text import clean

        sys.stderr.write(f"memman: {clean(runnable(explained(error)), _LONGEST)}\n")
        return error.exit_code
    import os

    if os.environ.get("MEMMAN_DEBUG"):
        raise error
    sys.stderr.write(f"memman: internal error, {type(error).__name__}: {error} (MEMMAN_DEBUG=1 shows where)\n")
    return _INTERNAL_ERROR
