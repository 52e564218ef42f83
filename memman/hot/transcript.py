"""An agent's transcript, of whose end is read what the agent said last in a turn that never stopped."""

import os

from memman.config.places import open_file
from memman.hot.payload import Payload
from memman.hot.wire import parsed

# Bytes that are read.
_END = 262_144
# The model that Claude Code names where it says something itself.
_ITS_OWN = "<synthetic>"


def answered(path: str) -> str:
    """Return what Copilot CLI's agent said last since its user did, '' for nothing: no event of it says that."""
    for line in reversed(_end(path).split(b"\n")):
        try:
            entry = Payload(parsed(line.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            continue
        kind = "" if entry.text("agentId") else entry.text("type")  # a sub-agent's lines stand among the others
        if kind == "user.message":
            return ""
        if kind == "assistant.message" and (said := entry.under("data").text("content")):
            return said
    return ""


def last_message(path: str, turn: str) -> str:
    """Return the agent's last message of a turn, '' where the end of a transcript does not show that it is."""
    said = ""
    for line in reversed(_end(path).split(b"\n")):
        try:
            entry = Payload(parsed(line.decode("utf-8", "replace")))
        except (ValueError, RecursionError):  # the first is cut, the last half-written
            continue
        # Claude Code's lines hold a message, Codex's a payload.
        payload = entry.under("payload")
        message = entry.under("message") if "message" in entry.fields else payload
        if message.text("role") == "assistant" and message.text("model") != _ITS_OWN and not entry.flag("isSidechain"):
            said = said or message.text("content")
        named = entry.text("promptId") or payload.text("turn_id")
        if said and named:
            return said if named == turn else ""
    return ""


def _end(path: str) -> bytes:
    try:
        with open(path, "rb", opener=open_file) as source:
            source.seek(max(0, os.fstat(source.fileno()).st_size - _END))
            return source.read(_END)
    except (OSError, ValueError):
        return b""
