"""The verbs: one file per group, each loaded when it is used, with what a verb does, its options and its printing."""

import sys

import click

from memman.commands.root import invoke

_INTERRUPTED = 130


def run(args: list[str]) -> int:
    """Run one command line and return its exit code. Raises MemmanError, which the entry point reports."""
    try:
        code = invoke(args)
    except click.exceptions.Exit as leave:
        code = leave.exit_code
    except click.Abort:
        sys.stderr.write("\nmemman: cancelled at the question; nothing was changed\n")
        return _INTERRUPTED
    except click.ClickException as error:
        return _report(error)
    # Here and not at the interpreter's end, where a reader who has gone cannot be told from a failure.
    sys.stdout.flush()
    return code


def _report(error: click.ClickException) -> int:
    """Put what click says on one line, with the help to turn to."""
    from memman.model.text import clean

    context = getattr(error, "ctx", None)
    hint = f" (see `{context.command_path} --help`)" if context else ""
    sys.stderr.write(f"memman: {clean(error.format_message()).rstrip('.')}{hint}\n")
    return error.exit_code
