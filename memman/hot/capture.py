"""What a turn leaves behind: one note, which the drain judges. No model is asked, nothing waits for anything."""

from memman.config.schedule import refuse_stopped
from memman.hot.frame import stripped
from memman.hot.prompt import command, ends
from memman.hot.screen import screened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.call import Call

# Bytes kept of a text: of its beginning, and of its end.
FIRST, LAST = 12_288, 4_096
# Memories named in a turn as shown, the newest.
_SHOWN = 64


def wanted(data: str) -> bool:
    """Whether turns are to be kept: not where the env file says MEMMAN_CAPTURE=off, or may not be read."""
    said = ""
    try:
        with open(data + "/env", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition("=")
                if name.strip() == "MEMMAN_CAPTURE":
                    said = value.strip()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return said != "off"


def kept(text: str) -> str:
    """Return what may be written of a text: no injected block, no secret, and not all of a long one."""
    # The rules see more than is kept, so that no cut lets half a secret through.
    return ends(screened(ends(stripped(text), 2 * FIRST, 2 * LAST)), FIRST, LAST)


def prompted(call: "Call", prompt: str) -> None:
    """Keep the prompt for the end of its turn: not every host says it again. A sub-agent's is not the user's."""
    if prompt and not call.payload.text("agent_id") and wanted(call.data):
        call.session.prompt = kept(prompt)
        call.session.save()


def turn(call: "Call") -> None:
    """Queue the user's prompt with the agent's last message; a prompt is taken once."""
    session, payload = call.session, call.payload
    if payload.flag("stop_hook_active") or payload.text("agent_id") or not wanted(call.data):
        return
    text = kept(payload.text("prompt")) or session.prompt
    if text and not command(text):
        reply = kept(payload.text("last_assistant_message", "prompt_response", "response"))
        _queue(call, "turn", text, "user", reply=reply, shown=" ".join([*session.shown][-_SHOWN:]))
    if session.prompt:
        session.prompt = ""
        session.save()


def compact(call: "Call") -> None:
    """Queue the agent's own summary of a session."""
    summary = call.payload.text("compact_summary", "summary")
    if wanted(call.data) and (text := kept(summary)):
        _queue(call, "compact", text, "agent")


def _queue(call: "Call", channel: str, text: str, source: str, **more: str) -> None:
    """Append the note. Raises SchedulerStopped."""
    from memman.hot.provenance import stamp
    from memman.queue.append import append

    refuse_stopped(call.data, "remember")
    stamped = stamp("", call.here) | {"agent": call.host, "session": call.session.id, "source": source}
    stamped["cwd"] = call.cwd or stamped["cwd"]
    note: dict[str, str | int | None] = {name: screened(said) for name, said in stamped.items()}
    note |= {"store": call.store, "text": text, "channel": channel, **more}
    append(call.data, note | {"category": None, "importance": None, "entities": "", "replaces": ""})
