"""Programs that behave as coding agents do when they are asked headless: well, or in each of the ways they fail."""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}
# Characters of a token, about.
CHARACTERS = 4
# How each says what is wrong, as the real ones were heard to (docs/adr/0038-agent-as-model.md).
SAYS = {
    "logged-out": "Not logged in \u00b7 Please run /login",
    "trust": "Do you trust the files in this folder?",
    "licence": "Please accept the updated terms to go on",
    "limit": "You've hit your usage limit. Try again later.",
    "updated": "error: unknown option '--json-schema'",
}
_PROGRAM = """\
#!{python} -P
import sys
sys.path[:0] = [{here!r}, *{paths!r}]
from agents import main
main({name!r}, {folder!r}, {answer!r})
"""


@dataclass(frozen=True)
class Agent:
    """One program, in a folder that says how it is to behave and keeps what it was asked."""

    name: str
    folder: Path

    def behave(self, *modes: str) -> None:
        """Say how the next calls go, the last of them for all that follow."""
        (self.folder / "modes").write_text("\n".join(modes))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What it was asked, oldest first."""
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def questions(self) -> list[dict[str, Any]]:
        """The calls that were questions, not sessions to be removed."""
        return [call for call in self.calls if call["stdin"]]


def install(name: str, folder: Path, answer: str = "") -> Agent:
    """Put the program of an agent into `folder`, well-behaved.

    `answer`, written "module:function", answers one question, given as {"task", "user"}, in place of `answer` below.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / PROGRAMS[name]
    here = str(Path(__file__).parent)
    paths = [path for path in sys.path if path] if answer else []
    text = _PROGRAM.format(python=sys.executable, here=here, paths=paths, name=name, folder=str(folder), answer=answer)
    program.write_text(text)
    program.chmod(0o755)
    agent = Agent(name, folder)
    agent.behave("good")
    return agent


def main(name: str, folder: str, answerer: str = "") -> None:
    """Answer one call."""
    given = sys.stdin.read()
    with (Path(folder) / "calls").open("a", encoding="utf-8") as calls:
        told = {name: value for name, value in os.environ.items() if name.startswith(("MEMMAN", "OPENCODE_CONFIG"))}
        confined = (
            "\nNoNewPrivs:\t1\n" in Path("/proc/self/status").read_text() if Path("/proc/self").exists() else None
        )
        record = {"argv": sys.argv[1:], "stdin": given, "environ": told, "cwd": os.getcwd(), "confined": confined}
        calls.write(json.dumps(record) + "\n")
    if not given:
        return
    modes = (Path(folder) / "modes").read_text().split("\n")
    if len(modes) > 1:
        (Path(folder) / "modes").write_text("\n".join(modes[1:]))
    mode = modes[0]
    if mode == "hang":
        import subprocess
        import time

        child = subprocess.Popen(["/bin/sleep", "600"])
        (Path(folder) / "child").write_text(str(child.pid))
        time.sleep(600)
    if mode == "killed":
        os.kill(os.getpid(), 9)
    if mode in SAYS:
        _fail(name, SAYS[mode])
    lasting = Path(folder) / "lasting"
    known = lasting.read_text(encoding="utf-8").split("\0") if lasting.exists() else None
    text = json.dumps(answer(given, _function(answerer) if answerer else lambda one: _one(one, known)))
    if mode == "prose":
        text = "Sure! I will remember that for you."
    if mode == "cut":
        text = text[: len(text) // 2]
    if mode == "banner":
        sys.stdout.write("A new version is available!\n")
    tokens = sum(map(len, (given, *sys.argv[1:]))) // CHARACTERS, len(text) // CHARACTERS
    sys.stdout.write(_written(name, text, *tokens) + "\n")


def answer(asked: str, one: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Answer a question, or several in one, each by `one`."""
    several = re.findall(r'<question n="(\d+)">\n(.*?)\n</question>', asked, re.DOTALL)
    return {"answers": [{"question": int(n), **one(text)} for n, text in several]} if several else one(asked)


def _function(named: str) -> Callable[[str], dict[str, Any]]:
    from importlib import import_module

    module, _, name = named.partition(":")
    function = getattr(import_module(module), name)
    return lambda text: function({"task": _task(text), "user": text})


def _task(asked: str) -> str:
    return "reconcile" if "<facts>\n" in asked else "extract" if "<note>\n" in asked else "conversation"


def _one(asked: str, lasting: list[str] | None) -> dict[str, Any]:
    """Answer as a model that repeats what it was given; of changes it knows those of a service's port.

    Of turns it repeats only what is `lasting`, where that is known.
    """
    note = re.search(r"<note>\n(.*?)\n</note>", asked, re.DOTALL)
    typed = re.findall(r"<turn>\n(\d+)\n.*?<user>\n(.*?)\n</user>", asked, re.DOTALL)
    if note:
        return {"facts": [_fact(note[1])]}
    if typed:
        said = [(n, one) for n, text in typed for one in ([text] if lasting is None else lasting) if one in text]
        own = {"speaker": "user", "category": "preference", "until": "", "ends": []}
        return {"facts": [_fact(one) | own | {"from": [int(n)]} for n, one in said]}
    facts = re.findall(r"^f(\d+): (\S+ \S+ \S+)", asked, re.MULTILINE)
    memories = re.findall(r"^m(\d+)[^:]*: (\S+ \S+ \S+)", asked, re.MULTILINE)
    found = [(int(f), int(m)) for f, said in facts for m, held in memories if said == held]
    verdicts = [{"fact": f, "action": "UPDATE", "memory": m, "reason": "another value"} for f, m in found]
    return {"verdicts": verdicts, "causes": []}


def _fact(text: str) -> dict[str, Any]:
    blank = {"importance": 3, "entities": [], "keywords": ["asked-of-the-model"], "summary": ""}
    return {"text": text, "category": "fact"} | blank


def _written(name: str, text: str, tokens_in: int, tokens_out: int) -> str:
    """Write an answer as the agent does."""
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out}
    match name:
        case "claude-code":
            return json.dumps({"type": "result", "is_error": False, "result": text, "usage": usage})
        case "codex":
            said = {"type": "item.completed", "item": {"type": "agent_message", "text": text}}
            return "\n".join(
                map(json.dumps, ({"type": "thread.started"}, said, {"type": "turn.completed", "usage": usage}))
            )
        case "gemini":
            tokens = {"prompt": tokens_in, "candidates": tokens_out}
            return json.dumps(
                {"session_id": "s", "response": text, "stats": {"models": {"m": {"tokens": tokens}}}}, indent=2
            )
    counted = {"input": tokens_in, "output": tokens_out}
    parts = ({"type": "text", "part": {"text": text}}, {"type": "step_finish", "part": {"tokens": counted}})
    return "\n".join(json.dumps(part | {"sessionID": "ses_1"}) for part in parts)


def _fail(name: str, says: str) -> None:
    match name:
        case "claude-code":
            sys.stdout.write(json.dumps({"type": "result", "is_error": True, "result": says}))
        case "codex":
            sys.stdout.write(json.dumps({"type": "turn.failed", "error": {"message": says}}))
        case "gemini":
            sys.stderr.write(says + "\n")
        case "opencode":
            error = {"name": "ProviderAuthError", "data": {"message": says}}
            sys.stdout.write(json.dumps({"type": "error", "sessionID": "ses_1", "error": error}))
    sys.exit(1)
