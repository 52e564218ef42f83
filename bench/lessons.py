"""What is learned of tool events: of made-up sessions, how many lessons are found, and how many that are none.

`python -m bench.lessons` writes each session of `bench/data/lessons` as a transcript of every client that is read, and
prints as JSON what the product's reader and rules find there; `--show` names what went wrong.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memman.lessons import lessons
from memman.transcripts import events

DATA = Path(__file__).parent / "data" / "lessons"
SETS = ("seen", "held", "hard", "last", "final")
# A host puts no exit code before what it says of a command that its user refused.
REFUSED = "The user doesn't want"

Session = dict[str, Any]
Entry = dict[str, Any]


def _claude_code(event: Session, call: str) -> Iterator[Entry]:
    if "user" in event:
        yield {"type": "user", "message": {"role": "user", "content": event["user"]}}
        return
    ran = "run" in event
    given = {"command": event["run"]} if ran else {"file_path": event["edit"]}
    tool = {"type": "tool_use", "id": call, "name": "Bash" if ran else "Edit", "input": given}
    yield {"type": "assistant", "message": {"role": "assistant", "content": [tool]}}
    result = {"type": "tool_result", "tool_use_id": call, "content": event.get("out", "")}
    if not event.get("ok", True):
        code = "" if event["out"].startswith(REFUSED) else "Exit code 1\n"
        result |= {"is_error": True, "content": f"{code}{event['out']}"}
    yield {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": {}}


def _codex(event: Session, call: str) -> Iterator[Entry]:
    if "user" in event:
        words = [{"type": "input_text", "text": event["user"]}]
        yield {"type": "response_item", "payload": {"type": "message", "role": "user", "content": words}}
        return
    if "edit" in event:
        patch = f"*** Begin Patch\n*** Update File: {event['edit']}\n*** End Patch"
        did: Entry = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
    else:
        arguments = json.dumps({"cmd": event["run"], "workdir": event["cwd"]})
        did = {"type": "function_call", "name": "exec_command", "arguments": arguments}
    yield {"type": "response_item", "payload": did | {"call_id": call}}
    output = f"Process exited with code {int(not event.get('ok', True))}\nOutput:\n{event.get('out', '')}"
    kind = "custom_tool_call_output" if "edit" in event else "function_call_output"
    yield {"type": "response_item", "payload": {"type": kind, "call_id": call, "output": output}}


CLIENTS: dict[str, Callable[[Session, str], Iterator[Entry]]] = {"claude-code": _claude_code, "codex": _codex}


def found(session: Session, client: str, path: Path) -> list[str]:
    """Return the lessons of a session, as the drain finds them in a client's transcript."""
    root = next(event["cwd"] for event in session["events"] if "cwd" in event)
    lines = [
        json.dumps(entry | ({"cwd": event["cwd"]} if "cwd" in event and client == "claude-code" else {}))
        for number, event in enumerate(session["events"])
        for entry in CLIENTS[client](event, f"call-{number}")
    ]
    path.write_text("\n".join(lines))
    return [*lessons(events(str(path)), root)]


def right(session: Session, lines: list[str]) -> int:
    """Count the lessons of a session that are found: what failed stands before what mended it, and nothing private."""
    private = [word for word in session.get("never", ()) if any(word in line for line in lines)]
    wanted = [(one["failed"], one["mended"]) for one in session["lessons"]]
    met = {n for n, (failed, mended) in enumerate(wanted) for line in lines if _tells(line, failed, mended)}
    return 0 if private else min(len(met), len(lines))


def _tells(line: str, failed: str, mended: str) -> bool:
    at = line.find(failed)
    return at >= 0 and line.find(mended, at + len(failed)) >= 0


def measured(name: str, client: str, *, show: bool = False) -> dict[str, int | float]:
    """Return the figures of one set."""
    sessions = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
    wanted = told_of = true = 0
    with tempfile.TemporaryDirectory() as folder:
        for session in sessions:
            lines = found(session, client, Path(folder) / "session.jsonl")
            good = right(session, lines)
            wanted, told_of, true = wanted + len(session["lessons"]), told_of + len(lines), true + good
            if show and not good == len(lines) == len(session["lessons"]):
                print(f"{name}, {client}: {session['name']}: {lines}", file=sys.stderr)
    precision, recall = true / max(told_of, 1), true / max(wanted, 1)
    return {
        "sessions": len(sessions), "lessons": wanted, "found": told_of, "true": true,
        "precision": round(precision, 3), "recall": round(recall, 3),
    }  # fmt: skip


def main() -> int:
    """Print the figures of each set by client."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SETS, help="one set")
    parser.add_argument("--show", action="store_true", help="name what went wrong on standard error")
    given = parser.parse_args()
    names = [given.only] if given.only else SETS
    figures = {name: {client: measured(name, client, show=given.show) for client in CLIENTS} for name in names}
    print(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
