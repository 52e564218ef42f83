"""A turn that ended without a stop is queued at the next prompt or its session's end, with its answer; each once."""

import json
import os

import pytest

from tests.support.hook_calls import hook

LINE = "The staging deploys run from the main branch."
ANSWER = f"They run from main.\n\nNoted: {LINE}"
DONE = "Done: they run from main."
OLD = "The nightly report is sent at seven UTC."


def claude_code(turn, prompt, *said):
    """Return the lines that Claude Code 2.1.329 writes of a turn that is interrupted in a tool."""
    lines = [{"type": "user", "promptId": turn, "message": {"role": "user", "content": prompt}}]
    for text in said:
        parts = ({"type": "text", "text": text}, {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}})
        lines += [
            {"type": "assistant", "message": {"role": "assistant", "model": "m", "content": [part]}} for part in parts
        ]
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "rejected"}
        stopped = {"type": "text", "text": "[Request interrupted by user for tool use]"}
        for part in (result, stopped):
            lines.append({"type": "user", "promptId": turn, "message": {"role": "user", "content": [part]}})
    its_own = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 500"}]}
    return [*lines, {"type": "assistant", "message": its_own}, {"type": "last-prompt", "lastPrompt": prompt}]


def codex(turn, prompt, *said):
    """Return the lines that Codex 0.169.0 writes of a turn."""
    user = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}
    lines = [{"type": "event_msg", "payload": {"type": "task_started", "turn_id": turn}}]
    lines.append({"type": "response_item", "payload": user})
    for text in said:
        answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        lines.append({"type": "event_msg", "payload": {"type": "item_completed", "turn_id": turn}})
        lines.append({"type": "response_item", "payload": answer})
    return lines


HOSTS = {"claude-code": (claude_code, "prompt_id"), "codex": (codex, "turn_id")}


class Session:
    """A session of a host that keeps a transcript."""

    def __init__(self, box, tmp_path, host="claude-code", name="s"):
        box.configure(NOTED="on")
        self.box, self.host, self.name, self.path = box, host, name, tmp_path / f"{name}.jsonl"
        self.lines, self.turn_id = HOSTS[host]
        self.event("session-start", source="startup")

    def event(self, event, turn="", **more):
        """Send one event."""
        ids = {"session_id": self.name, "cwd": "/", "transcript_path": str(self.path)}
        hook(self.box, event, self.host, ids | ({self.turn_id: turn} if turn else {}) | more)

    def writes(self, turn, prompt, *said):
        """Have the host write a turn to its transcript."""
        with self.path.open("a") as transcript:
            transcript.writelines(json.dumps(line) + "\n" for line in self.lines(turn, prompt, *said))

    def answered(self, turn, prompt, reply):
        """Play a whole turn."""
        self.event("user-prompt", turn, prompt=prompt)
        self.writes(turn, prompt, reply)
        self.event("stop", turn, last_assistant_message=reply)

    @property
    def queued(self):
        """Return what waits, a line a note."""
        return self.box.queue("SELECT text FROM note ORDER BY id")


@pytest.fixture
def session(box, tmp_path, request):
    """Begin a session of a host that names its turns, and end a turn of it."""
    session = Session(box, tmp_path, getattr(request, "param", "claude-code"))
    session.answered("p1", "The nightly report is sent at seven UTC.", f"Understood.\n\nNoted: {OLD}")
    return session


@pytest.mark.parametrize("session", HOSTS, indirect=True)
def test_a_turn_that_was_interrupted_is_queued_at_the_next_prompt(session):
    """With what its agent had said last and what that notes, once, and not with the prompt that follows."""
    session.event("user-prompt", "p2", prompt="staging deploys run from main")
    session.event("user-prompt", "p2", prompt="and hurry up")
    session.writes("p2", "staging deploys run from main", "First I look.", ANSWER)
    before = session.queued
    for _ in range(2):
        session.event("user-prompt", "p3", prompt="now rename the parser")
    assert session.queued == [*before, "staging deploys run from main\n\nand hurry up", LINE]
    reply = session.box.queue("SELECT reply FROM note WHERE text LIKE 'staging%'")
    assert "They run from main." in reply[0]
    session.event("stop", "p3", last_assistant_message="Renamed.")
    assert session.queued[len(before) + 2 :] == ["now rename the parser"]


def test_a_turn_that_was_interrupted_is_queued_at_the_end_of_its_session(session):
    """With its answer, once, whether the session ends again or goes on; one that stopped leaves nothing more."""
    before = session.queued
    session.event("session-end", reason="exit")
    assert session.queued == before
    session.event("user-prompt", "p2", prompt="staging deploys run from main")
    session.writes("p2", "staging deploys run from main", ANSWER)
    for _ in range(2):
        session.event("session-end", reason="exit")
    session.event("user-prompt", "p3", prompt="now rename the parser")
    assert session.queued == [*before, "staging deploys run from main", LINE]


@pytest.mark.parametrize("why", ["none", "pipe", "unanswered", "not written", "further back"])
def test_where_the_transcript_does_not_tell_the_prompt_alone_is_queued(session, why):
    """What an earlier turn's answer said is no answer to it, and no pipe is waited for."""
    session.event("user-prompt", "p2", prompt="staging deploys run from main")
    if why in {"none", "pipe"}:
        session.path.unlink()
    if why == "pipe":
        os.mkfifo(session.path)
    if why == "unanswered":
        session.writes("p2", "staging deploys run from main")
    if why == "further back":
        session.writes("p2", "staging deploys run from main", ANSWER)
        with session.path.open("a") as transcript:
            transcript.write(json.dumps({"type": "attachment", "content": "x" * 300_000}) + "\n")
    session.event("user-prompt", "p3", prompt="now rename the parser")
    assert session.queued[2:] == ["staging deploys run from main"]
    assert LINE not in "".join(session.box.queue("SELECT reply FROM note"))


@pytest.mark.parametrize("lost", ["", "compact", "resume", "killed"])
def test_each_line_counts_once(session, lost):
    """Whether the host stops twice, compacts, resumes, or a hook is ended before it has dropped the prompt."""
    session.event("user-prompt", "p2", prompt="staging deploys run from main")
    file = session.box.data / "sessions" / f"{session.host}-s"
    before = file.read_text()
    session.writes("p2", "staging deploys run from main", ANSWER)
    session.event("stop", "p2", last_assistant_message=ANSWER)
    if lost == "compact":
        session.event("pre-compact")
    if lost == "killed":
        file.write_text(before)
    elif lost:
        session.event("session-start", source=lost)
    session.event(
        "stop", "p2", last_assistant_message=f"The linter passes, too.\n\nNoted: {LINE}", stop_hook_active=True
    )
    session.event("user-prompt", "p3", prompt="now rename the parser")
    assert session.queued[2:] == ["staging deploys run from main", LINE]


def test_a_fork_says_nothing_again(session, box, tmp_path):
    """Its transcript begins as a copy, of which nothing is read; the turn is queued in its own session."""
    session.event("user-prompt", "p2", prompt="staging deploys run from main")
    session.writes("p2", "staging deploys run from main", ANSWER)
    fork = Session(box, tmp_path, session.host, name="fork")
    fork.path.write_bytes(session.path.read_bytes())
    fork.event("user-prompt", "p3", prompt="now rename the parser")
    session.event("user-prompt", "p4", prompt="go on")
    assert session.queued[2:] == ["staging deploys run from main", LINE]


@pytest.mark.parametrize("again", ["as I said: they run from main", "yes"])
def test_a_line_counts_once_where_turns_have_no_names(box, again):
    """However often the host stops; another turn may note the same again, also after the same words."""
    box.configure(NOTED="on")
    known = {"session_id": "s", "cwd": "/"}
    hook(box, "session-start", "gemini", known | {"source": "startup"})
    for prompt, answer in (("yes", ANSWER), ("forget that", "Forgotten."), (again, ANSWER)):
        hook(box, "user-prompt", "gemini", known | {"prompt": prompt})
        for _ in range(2):
            hook(box, "stop", "gemini", known | {"prompt_response": answer})
    assert box.queue("SELECT text FROM note WHERE channel = 'noted'") == [LINE, LINE]


def copilot(kind, content, **fields):
    """Return a line that Copilot CLI 1.0.102 writes of what was said."""
    return {"type": kind, "data": {"messageId": "m", "content": content, "turnId": "0"}, "id": "1", **fields}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([copilot("user.message", "a"), copilot("assistant.message", DONE)], DONE),
        (
            [copilot("user.message", "a"), copilot("assistant.message", DONE), copilot("assistant.message", "")],
            DONE,
        ),
        ([copilot("assistant.message", OLD), copilot("user.message", "a")], ""),
        (
            [
                copilot("assistant.message", DONE),
                copilot("user.message", "Look.", agentId="sub"),
                copilot("assistant.message", OLD, agentId="sub"),
            ],
            DONE,
        ),
        ([copilot("assistant.message", [{"text": 1}]), {"type": "assistant.message"}, {"data": []}, 5, None], ""),
        ([], ""),
    ],
)
def test_copilots_answer_is_read_where_it_is_written(box, tmp_path, lines, said):
    """Its stop tells no answer but the file: the last words since the user's, of no sub-agent; half a line is none."""
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"type": "user.mess')
    known = {"session_id": "s", "cwd": "/"}
    hook(box, "user-prompt", "copilot", known | {"prompt": "they run from main"})
    done = hook(box, "stop", "copilot", known | {"transcript_path": str(path), "last_assistant_message": "Not this."})
    assert (done.stdout, done.stderr) == (b"", b"")
    assert box.queue("SELECT reply FROM note WHERE channel = 'turn'") == [said]


@pytest.mark.parametrize("path", ["", "/nowhere/events.jsonl", "/dev/zero", "/", 5, None, ["/etc/passwd"]])
def test_copilots_turn_is_kept_without_an_answer(box, path):
    """Where the file cannot be read, or its name is none."""
    known = {"session_id": "s", "cwd": "/"}
    hook(box, "user-prompt", "copilot", known | {"prompt": "they run from main"})
    assert hook(box, "stop", "copilot", known | {"transcript_path": path}).stdout == b""
    assert box.queue("SELECT text, reply FROM note WHERE channel = 'turn'") == [("they run from main", "")]
