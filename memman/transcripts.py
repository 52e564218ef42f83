"""Agents' transcripts: what was said in a session and what its tools did, in one shape for every client. Hot.

What cannot be read did not happen.
"""

import os

from memman.config.places import open_file
from memman.model.payload import Payload, parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Bytes that are read of a transcript's end, and for an agent's last message.
LARGEST, _END = 67_108_864, 262_144
# Client -> the variable and the folder that its sessions are in, and their names below that.
SESSIONS = {
    "claude-code": ("CLAUDE_CONFIG_DIR", "~/.claude", "projects/*/*.jsonl"),
    "codex": ("CODEX_HOME", "~/.codex", "sessions/**/*.jsonl"),
}
# What a host itself writes in the user's place, and the model that Claude Code names where it says something itself.
_HOSTS_OWN = ("<", "[Request interrupted", "Caveat:")
_ITS_OWN = "<synthetic>"
# Tools of Claude Code that change a file, with the field that names it; what else runs commands; what patches a file.
_CHANGING = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
# Beginnings of the names of tools that change nothing.
_READING = (
    *("Read", "Grep", "Glob", "LS", "NotebookRead", "Todo", "WebFetch", "WebSearch", "ToolSearch", "BashOutput"),
    *("update_plan", "view_image", "web_search", "mcp__memman", "memman"),
)
_RUNNING = ("Bash", "shell", "shell_command", "exec_command", "local_shell")
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")


class Event:
    """What a line tells.

    `kind` is user or agent (`text` was said), run (a command), edit (a path), result (what a call put out) or other (a
    tool of which nobody knows what it does).
    `turn` is the line's turn and `id` the line's own, or that of the call that a run and its result share; '' where the
    client names none. `at` is ISO 8601 as it is written, `folder` where a tool worked, `well` whether a result is one.
    """

    __slots__ = ("at", "folder", "id", "kind", "text", "turn", "well")

    def __init__(self, kind: str, text: str = "", *, turn: str = "", id: str = "", well: bool = True) -> None:  # noqa: A002
        self.kind, self.text, self.turn, self.id, self.well = kind, text, turn, id, well
        self.at = self.folder = ""


def said(path: str, most: int = LARGEST, *, last_first: bool = False) -> "Iterator[Event]":
    """Yield what the user and the agent said, in the last `most` bytes; of kind '' what names a turn and no more."""
    for entry in _entries(path, most, last_first=last_first):
        if reads := _reads(entry):
            event = reads[0](entry)
            event.at = entry.text("timestamp")
            yield event


def events(path: str, most: int = LARGEST) -> "Iterator[Event]":
    """Yield what was said and what tools did, in order, in the last `most` bytes."""
    folder = ""
    for entry in _entries(path, most):
        folder = entry.text("cwd") or entry.under("payload").text("cwd") or folder
        if reads := _reads(entry):
            for event in (reads[0](entry), *reads[1](entry)):
                event.at, event.folder = entry.text("timestamp"), event.folder or folder
                yield event


def place(path: str) -> tuple[str, str]:
    """Return the folder and the id of the session that a transcript is of, '' for what it does not tell."""
    for entry in _entries(path, LARGEST):
        for part in (entry, entry.under("payload")):
            if folder := part.text("cwd"):
                return folder, part.text("sessionId", "id")
    return "", ""


def last_message(path: str, turn: str) -> str:
    """Return the agent's last message of a turn, '' where the end of a transcript does not show that it is."""
    answer = ""
    for event in said(path, _END, last_first=True):
        if event.kind == "agent":
            answer = answer or event.text
        if answer and event.turn:
            return answer if event.turn == turn else ""
    return ""


def answered(path: str) -> str:
    """Return what the agent said last since its user did, '' for nothing: no event of Copilot CLI says that."""
    last = next((event for event in said(path, _END, last_first=True) if event.kind), None)
    return last.text if last and last.kind == "agent" else ""


def _entries(path: str, most: int, *, last_first: bool = False) -> "Iterator[Payload]":
    try:
        with open(path, "rb", opener=open_file) as source:
            source.seek(max(0, os.fstat(source.fileno()).st_size - most))
            for line in reversed(source.readlines()) if last_first else source:
                try:
                    yield Payload(parsed(line.decode("utf-8", "replace")))
                except (ValueError, RecursionError):  # the first is cut, the last half-written
                    continue
    except (OSError, ValueError):
        return


def _claude_code_said(entry: Payload) -> Event:
    message, kind = entry.under("message"), ""
    text, role = message.text("content"), message.text("role")
    if text and not any(map(entry.flag, ("isSidechain", "isMeta", "isCompactSummary"))):
        if role == "assistant" and message.text("model") != _ITS_OWN:
            kind = "agent"
        elif role == "user" and entry.text("type") == "user" and "toolUseResult" not in entry.fields:
            kind = "" if text.startswith(_HOSTS_OWN) else "user"
    return Event(kind, text, turn=entry.text("promptId"), id=entry.text("uuid"))


def _claude_code_done(entry: Payload) -> "Iterator[Event]":
    for part in entry.under("message").parts("content"):
        tool, given = part.text("name"), part.under("input")
        if part.text("type") == "tool_result":
            yield Event("result", part.text("content"), id=part.text("tool_use_id"), well=not part.flag("is_error"))
        elif tool in _CHANGING:
            yield Event("edit", given.text(_CHANGING[tool]), id=part.text("id"))
        elif tool in _RUNNING:
            yield Event("run", given.text("command"), id=part.text("id"))
        elif tool and not tool.startswith(_READING):
            yield Event("other", tool, id=part.text("id"))


def _codex_said(entry: Payload) -> Event:
    payload, kind = entry.under("payload"), ""
    text, role = payload.text("content"), payload.text("role")
    if text and entry.text("type") == "response_item":
        kind = "agent" if role == "assistant" else ""
        if role == "user" and not text.startswith(_HOSTS_OWN):
            kind = "user"
    return Event(kind, text, turn=payload.text("turn_id"))


def _codex_done(entry: Payload) -> "Iterator[Event]":
    payload = entry.under("payload")
    kind, call = payload.text("type"), payload.text("call_id", "id")
    if kind.endswith("_output"):
        output = str(payload.fields.get("output"))
        yield Event("result", output, id=call, well=_well(output))
    if not kind.endswith("_call"):
        return
    text = payload.text("input", "arguments")
    try:
        given = Payload(parsed(text))
    except (ValueError, RecursionError):
        given = payload.under("action")
    ran = given.fields.get("command", given.fields.get("cmd"))
    command = " ".join(map(str, ran)) if isinstance(ran, list) else str(ran or "")
    tool = (payload.text("name") or kind).removesuffix("_call")
    if command and tool in _RUNNING:
        event = Event("run", command, id=call)
        event.folder = given.text("workdir")
        yield event
    elif tool != "apply_patch" and not tool.startswith(_READING):
        yield Event("other", tool, id=call)
    for line in (command or text).split("\n"):
        if line.startswith(_PATCHED):
            yield Event("edit", line.partition(": ")[2], id=call)


def _well(output: str) -> bool:
    """Whether what Codex keeps of a command tells of no exit code but 0."""
    import re

    code = re.search(r"exit(?:ed with)? ?_?code\"?:? ?(\d+)", output, re.IGNORECASE)
    return not (code and int(code[1]))


def _copilot_said(entry: Payload) -> Event:
    text = entry.under("data").text("content")
    kind = "" if entry.text("agentId") else entry.text("type")  # a sub-agent's lines stand among the others
    if kind == "user.message":
        return Event("user", text)
    return Event("agent" if kind == "assistant.message" and text else "", text)


# The field that a client's lines have -> what reads of a line what was said, and what was done.
_CLIENTS: "dict[str, tuple[Callable[[Payload], Event], Callable[[Payload], Iterator[Event]]]]" = {
    "message": (_claude_code_said, _claude_code_done),
    "payload": (_codex_said, _codex_done),
    "data": (_copilot_said, lambda _: iter(())),
}


def _reads(entry: Payload) -> "tuple[Callable[[Payload], Event], Callable[[Payload], Iterator[Event]]] | None":
    return next((reads for field, reads in _CLIENTS.items() if field in entry.fields), None)
