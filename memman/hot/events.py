"""The events of an agent, and what memman answers to each: context for the model, or silence."""

import os
import time

from memman.config import stores
from memman.config.places import data_dir, queue_path, reach_path, setting, store_path
from memman.config.repository import repository
from memman.config.shown import PRE_TOOL, PROMPT, SESSION_START, SUBAGENT, UNTOLD, note_shown
from memman.hot.hook import Progress
from memman.hot.provenance import borrower, in_shell
from memman.hot.session import Session
from memman.model.payload import Payload, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memman.config.scope import Here

# Characters of a path that any host would send.
_LONGEST = 4096
# What Claude Code says of where it runs with nobody there, and of a prompt that a person typed.
_PROGRAMS, _TYPED = ("sdk-cli", "sdk-ts", "sdk-py", "claude-code-github-action"), ("", "user")
# What an agent is told of what it did not note, with so many characters of it.
_UNNOTED_MOST = 160
_UNNOTED = (
    'Last turn the user said: "{}". If that holds in later sessions, too, end your answer with a line `{}: \u2026`.'
)
# What MEMMAN_CAPTURE may say where turns are kept.
_ON = ("", "corrections", "turns", "ask")


class Call:
    """One event of one session; one from an agent's shell is not `genuine`: answered, and leaves nothing behind."""

    __slots__ = ("_asked", "cwd", "data", "genuine", "here", "host", "payload", "progress", "session", "store")

    def __init__(self, host: str, store: str | None, progress: Progress) -> None:
        self.host = host
        self.progress = progress
        self.data = progress.data = data_dir()
        try:
            self.payload = Payload.read()
        except OverflowError:
            progress.missing = "large"
            progress.ended()
            raise
        cwd = self.payload.text("cwd")
        self._asked = store
        self.stand(cwd if cwd[:1] == "/" and len(cwd) <= _LONGEST else "")
        self.genuine = not in_shell(host)
        self.session = Session(self.data, host, self.payload.text("session_id") if self.genuine else "")

    def stand(self, folder: str) -> None:
        """Take `folder` for where the session works, '' for the working folder."""
        self.cwd = folder
        self.here = repository(folder) if folder else stores.here()
        self.store = stores.resolve(self.data, self._asked, self.here)

    def note_shown(self, way: str, lines: "dict[str, str]") -> None:
        """Keep which memories were put before the model, and what the line of each cost; it may fail silently."""
        if self.genuine and lines:
            from memman.recall.render import tokens

            costs = {uid: tokens(text) for uid, text in lines.items()}
            now = time.time_ns() // 1_000_000
            note_shown(self.data, self.store, now, way, self.host, self.payload.text("session_id"), costs)

    @property
    def place(self) -> "Here":
        """Where the session works."""
        from memman.config.scope import here

        return here(self.data, self.here, self.cwd or stores.cwd())

    def wanted(self) -> bool:
        """Whether turns are kept: not in CI, nor in ignored folders, nor stopped, nor unless the env file says so.

        Some people's containers set CI, too: MEMMAN_NOTED=on says so.
        """
        from memman.config.ignore import ignored
        from memman.config.schedule import Schedule

        if not self.genuine or Schedule.load(self.data).stopped:
            return False
        try:
            said = setting(self.data, "MEMMAN_CAPTURE")
            if said not in _ON or (_set("CI") and setting(self.data, "MEMMAN_NOTED") != "on"):
                return False
            return not ignored(self.data, self.cwd or os.getcwd())
        except Exception:  # noqa: BLE001 - what cannot be read is no permission
            return False

    def asked_to_note(self) -> bool:
        """Whether this session is told to end answers with `Noted:` lines: where turns are kept and a person is there.

        MEMMAN_NOTED says otherwise.
        """
        said = setting(self.data, "MEMMAN_NOTED")
        program = _set("CI") or os.environ.get("CLAUDE_CODE_ENTRYPOINT") in _PROGRAMS
        return self.wanted() and (said == "on" or (said in ("", "auto") and not program))

    def of_program(self) -> bool:
        """Whether a prompt is a program's: a schedule's, a loop's, or given by `claude -p`, unless MEMMAN_NOTED=on."""
        source = self.payload.text("source")
        return source not in _TYPED and not (source == "sdk" and setting(self.data, "MEMMAN_NOTED") == "on")


def _set(name: str) -> bool:
    """Whether a variable is set, and not to what means no."""
    return os.environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")


HOSTS = ("claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cline", "openclaw", "goose", "nanoclaw")
# Hosts that put nothing a hook says before their model.
_DEAF = ("goose",)
# Hosts that read the context from the top of the answer.
_FLAT = ("copilot",)
# Tool -> the field of its input that says what it is about to do.
_PLANS = {"Agent": "prompt", "Task": "prompt", "ExitPlanMode": "plan"}
# A session that starts for one of these reasons has lost what it was shown.
_LOST = ("compact", "clear")
# Hosts that put what a session was given before the model again where it is resumed.
_KEEP = ("claude-code", "codex", "nanoclaw")
_TURNS_WAIT = "SELECT EXISTS (SELECT 1 FROM note WHERE state = 'pending' AND channel = 'turn' AND session <> ?)"


def answer(event: str, host: str, store: str | None, progress: Progress) -> str:
    """Return what to print: JSON, or '' for nothing. Raises anything."""
    if host not in HOSTS or event not in EVENTS:
        raise ValueError("there is no such event or host")
    respond, names = EVENTS[event]
    _refuse(borrower(host, Payload({})))
    try:
        call = Call(host, store, progress)
    except OverflowError:
        if respond is _pre_tool:  # a command too large to be read, of which is not known where it runs
            from memman.hot.rules import all_of, unchecked

            progress.unsure = unchecked(host, all_of(data_dir()))
        raise
    _refuse(borrower(host, call.payload))
    context = respond(call)
    if not context or context[0] == "{":
        return context
    if host in _FLAT:
        return f'{{"additionalContext":{quoted(context)}}}'
    said = call.payload.text("hook_event_name")
    name = said if said in names else names[-1 if host == "gemini" else 0]
    return f'{{"hookSpecificOutput":{{"hookEventName":{quoted(name)},"additionalContext":{quoted(context)}}}}}'


def _refuse(who: str) -> None:
    """Leave a host alone that runs the hooks of another: it has, or can have, its own. Raises ValueError."""
    if who:
        raise ValueError(f"{who} runs the hooks of Claude Code's settings")


def _session_start(call: Call) -> str:
    """Give the first block, unless the session that is resumed has it already."""
    from memman.hot.prime import NOTED, block, news
    from memman.hot.provenance import brand

    brand(call.host, call.data)
    source = call.payload.text("source")
    with call.session as session:
        if source in _LOST:
            session.lose()
        if source == "resume" and session.begun and call.host in _KEEP:
            return ""
        here = call.place
        session.asked, session.first = call.asked_to_note(), True
        session.notes = session.asked and session.notes
        says = NOTED if session.asked else _captured(call)
        text, lines = block(call.data, call.store, here, says=says, session=session.id, prompted=True)
        text += news(call, here) if call.genuine else ""
        session.show(lines)
        session.begun, session.ended = True, False
    call.note_shown(SESSION_START, lines)
    _follow(call)
    return text


def _follow(call: Call) -> None:
    """Ask for a drain where turns wait, or where none has brought in for some time what other machines stored."""
    turns = _turns_wait(call)
    if turns:
        from memman.queue.untold import release

        release(call.data, call.place.repository, call.session.id)
    if turns or _behind(call):
        from memman.config.drain_by_write import ask

        ask(call.data)


def _turns_wait(call: Call) -> bool:
    """Whether turns of another session wait: where a terminal was closed, no event tells that its session ended."""
    from memman.sqlite import open_reader

    try:
        db = open_reader(queue_path(call.data))
        found = db.execute(_TURNS_WAIT, (call.session.id,)).get
        db.close()
    except Exception:  # noqa: BLE001 - a drain tells what is wrong with a queue
        return False
    return bool(found)


def _behind(call: Call) -> bool:
    from memman.sqlite import there

    path = store_path(call.data, call.store)
    if not there(reach_path(path)):
        return False
    from memman.store.reach import stale

    return stale(path)


def _captured(call: Call) -> str:
    """Return what the guide says of turns where the agent is not asked to note."""
    from memman.hot.prime import CAPTURED

    return CAPTURED if call.wanted() else ""


def _subagent_start(call: Call) -> str:
    from memman.hot.prime import block

    text, lines = block(call.data, call.store, call.place, says=_captured(call))
    call.note_shown(SUBAGENT, lines)
    return text


def _user_prompt(call: Call) -> str:
    from memman.hot.capture import prompted
    from memman.hot.frame import stripped

    prompt = stripped(call.payload.text("prompt", "message"))
    first = prompted(call, prompt)
    call.progress.missing = "answer"
    if call.progress.late or call.host in _DEAF:
        return ""
    return "\n".join(filter(None, (_reminded(call, prompt, PROMPT, first=first), _unnoted(call))))


def _unnoted(call: Call) -> str:
    """Return what an agent that is asked to note did not note in the turn before, '' for nothing.

    It is said once, and only in the turn that follows, where the judge finds it lasting.
    """
    if not _waits(call):
        return ""
    from memman.hot.frame import framed, harmless
    from memman.model.noted import WORD
    from memman.queue.untold import take

    session = call.session
    before = next((said for who, said in reversed(session.said) if who == "user"), "")
    said = " ".join(before.split()) if session.asked and call.wanted() else ""
    text = take(call.data, call.host, session.id, said)
    return framed(harmless(_UNNOTED.format(text[:_UNNOTED_MOST], WORD)), ()) if text else ""


def _waits(call: Call) -> bool:
    """Whether something may wait for this session's next prompt: from here on it does so no more."""
    if not call.session.path:
        return False
    try:
        os.unlink(call.session.path + UNTOLD)
    except OSError:
        return False
    return True


def _reminded(call: Call, said: str, way: str, *, first: bool = False) -> str:
    from memman.hot.remind import reminder

    def tell(lines: "dict[str, str]") -> None:
        call.note_shown(way, lines)

    return reminder(call.data, call.store, call.place, said, call.session, tell, first=first)


def _pre_tool(call: Call) -> str:
    """Recall with a plan; of a command say what the user's rules say of it, as the host reads it."""
    tool = call.payload.text("tool_name")
    if tool not in _PLANS:
        from memman.hot.rules import response

        return response(call, tool)
    return _reminded(call, call.payload.under("tool_input").text(_PLANS[tool]), PRE_TOOL)


def _stop(call: Call) -> str:
    from memman.hot.capture import turn

    turn(call)
    return ""


def _pre_compact(call: Call) -> str:
    with call.session as session:
        session.lose()
    return ""


def _post_compact(call: Call) -> str:
    """Leave what was shown as it is: some hosts have begun the session anew by now."""
    from memman.hot.capture import compact

    compact(call)
    return ""


def _session_end(call: Call) -> str:
    """Queue the turn that no stop ended, and what the agent was to be told of the one before.

    What was shown is kept, for the session may be resumed.
    """
    rows = []
    with call.session as session:
        if session.prompt:
            from memman.hot.capture import unstopped

            rows = unstopped(call, session)
        session.said, session.folder = [], ""
        session.ended = True
    if rows:
        from memman.hot.capture import queue

        queue(call, rows)
    if _waits(call):
        from memman.queue.untold import take

        take(call.data, call.host, call.session.id, "")
    from memman.config.drain_by_write import ask

    ask(call.data)
    return ""


# Event -> (what answers it, the names hosts have for it: Gemini's own is the last).
EVENTS: "dict[str, tuple[Callable[[Call], str], tuple[str, ...]]]" = {
    "session-start": (_session_start, ("SessionStart",)),
    "user-prompt": (_user_prompt, ("UserPromptSubmit", "BeforeAgent")),
    # Of the tools that run a command: for the launcher, which starts nothing for it where there are no rules.
    "pre-command": (_pre_tool, ("PreToolUse", "BeforeTool")),
    "pre-tool": (_pre_tool, ("PreToolUse", "BeforeTool")),
    "subagent-start": (_subagent_start, ("SubagentStart",)),
    "stop": (_stop, ("Stop", "AfterAgent")),
    "pre-compact": (_pre_compact, ("PreCompact", "PreCompress")),
    "post-compact": (_post_compact, ("PostCompact",)),
    "session-end": (_session_end, ("SessionEnd",)),
}
