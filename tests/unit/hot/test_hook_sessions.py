"""What hooks of one session know of each other: every prompt of a turn, and each memory once, however they overlap."""

import fcntl
import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from memman.config.schedule import silence
from memman.hot.capture import FIRST, LAST
from memman.hot.session import Session
from memman.integrations.sources import text
from memman.queue import arrivals
from tests.support.box import PATIENCE
from tests.support.hook_calls import context, hook

DEPLOYED = "We deploy billing to Fly.io from the main branch, never from a laptop."
ASKED = "where do we deploy billing?"


@pytest.fixture
def stored(box):
    """Give a box with one decision."""
    box.remember(DEPLOYED, category="decision")
    box.drain()
    return box


def payload(**more):
    """Return what hosts send with every event."""
    return {"session_id": "s-1", "cwd": "/", **more}


def turns(box):
    """Return the user's words of the turns that wait."""
    return box.queue("SELECT text FROM note WHERE channel = 'turn' ORDER BY id")


def test_every_prompt_of_a_turn_is_queued_with_it(box):
    """What the user adds while the agent works joins what began the turn, once; commands do not."""
    for prompt in ("/review", "From now on use Bun.", "/model x", "And hurry up.", "And hurry up."):
        hook(box, "user-prompt", "claude-code", payload(prompt=prompt))
    hook(box, "stop", "claude-code", payload(last_assistant_message="Done."))
    hook(box, "user-prompt", "claude-code", payload(prompt="Thanks."))
    hook(box, "stop", "claude-code", payload(last_assistant_message="Done."))
    assert turns(box) == ["From now on use Bun.\n\nAnd hurry up.", "Thanks."]


def test_a_host_that_says_the_last_prompt_again_loses_none(box):
    """The prompt of the payload joins those that were kept, unless it is the last of them."""
    for prompt in ("From now on use Bun.", "And hurry up."):
        hook(box, "user-prompt", "gemini", payload(prompt=prompt))
    hook(box, "stop", "gemini", payload(prompt="And hurry up.", prompt_response="Done."))
    hook(box, "stop", "gemini", payload(prompt="Other words.", prompt_response="Done."))
    assert turns(box) == ["From now on use Bun.\n\nAnd hurry up.", "Other words."]


def test_a_prompt_within_another_is_no_repetition(box):
    """What is part of an earlier prompt may be its contrary, and is queued; so are kept prompts beside a payload's."""
    for prompt in ("Never use npm here", "use npm", "use npm"):
        hook(box, "user-prompt", "claude-code", payload(prompt=prompt))
    hook(box, "stop", "claude-code", payload(prompt="Never", last_assistant_message="Done."))
    assert turns(box) == ["Never use npm here\n\nuse npm\n\nNever"]


def test_of_too_many_prompts_the_newest_are_kept(box):
    """The prompts of a turn have the room of one."""
    for n in range(4):
        hook(box, "user-prompt", "codex", payload(prompt=f"Prompt {n}: " + "é words " * 900))
    hook(box, "stop", "codex", payload(last_assistant_message="Done."))
    (text,) = turns(box)
    assert len(text.encode()) <= FIRST + LAST + 8
    assert "Prompt 3: " in text
    assert "Prompt 0: " not in text


def test_of_too_many_memories_the_newest_are_known_as_shown(box):
    """A session's file stays short, and what it was shown last is not shown to it again."""
    uids = [f"memory{n:05}" for n in range(2_000)]
    for part in (uids[:1_000], uids[1_000:], uids[:1]):
        with Session(str(box.data), "codex", "s-1") as session:
            session.show(part)
    with Session(str(box.data), "codex", "s-1") as session:
        known = [*session.shown]
    assert len(known) < 1_000
    assert known == [*uids, uids[0]][-len(known) :]


def test_hooks_at_the_same_moment_show_a_memory_once(stored):
    """Of hooks that run in parallel one shows what all of them found."""
    asked = payload(prompt=ASKED, tool_name="Task", tool_input={"prompt": ASKED})
    with ThreadPoolExecutor(4) as pool:
        for n in range(4):
            said = pool.map(
                lambda event, n=n: context(stored, event, "codex", asked | {"session_id": f"s-{n}"}),
                ("user-prompt", "pre-tool") * 2,
            )
            assert sum(DEPLOYED in one for one in said) == 1


def test_stops_at_the_same_moment_queue_a_turn_once(box):
    """Of two installations in one agent the first to come takes the prompt."""
    hook(box, "user-prompt", "codex", payload(prompt="No, use pnpm."))
    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(lambda _: hook(box, "stop", "codex", payload(last_assistant_message="Done.")), range(2)):
            pass
    assert turns(box) == ["No, use pnpm."]


def test_prompts_at_the_same_moment_are_all_kept(box):
    """None is written over by another."""
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda n: hook(box, "user-prompt", "codex", payload(prompt=f"Say {n}.")), range(4)):
            pass
    hook(box, "stop", "codex", payload(last_assistant_message="Done."))
    assert sorted(turns(box)[0].split("\n\n")) == [f"Say {n}." for n in range(4)]


def test_a_session_that_is_held_is_not_waited_for(stored):
    """A hook that hangs with the session in its hands keeps no other from its answer."""
    hook(stored, "user-prompt", "codex", payload(prompt="Hello."))
    with open(stored.data / "sessions" / "codex-s-1") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert DEPLOYED in context(stored, "pre-tool", "codex", payload(tool_name="Task", tool_input={"prompt": ASKED}))


def test_a_turn_that_could_not_be_queued_is_kept_aside(box):
    """A drain takes it up; the next turn does not say its prompt again."""
    hook(box, "user-prompt", "codex", payload(prompt="No, use pnpm."))
    box.queue_path.mkdir()
    hook(box, "stop", "codex", payload(last_assistant_message="Done."))
    box.queue_path.rmdir()
    hook(box, "stop", "codex", payload(last_assistant_message="Done."))
    assert arrivals.take_up(str(box.data)) == 1
    assert turns(box) == ["No, use pnpm."]


def test_a_prompt_is_dropped_only_when_it_is_kept_aside_or_queued(box):
    """Where neither can be, it waits in its session for the end of the next turn."""
    hook(box, "user-prompt", "codex", payload(prompt="No, use pnpm."))
    for path in (box.queue_path, box.data / "arrivals"):
        path.symlink_to("/dev/null/x")
    hook(box, "stop", "codex", payload(last_assistant_message="Done."))
    for path in (box.queue_path, box.data / "arrivals"):
        path.unlink()
    hook(box, "stop", "codex", payload(last_assistant_message="Done."))
    assert turns(box) == ["No, use pnpm."]


def test_what_stands_in_the_block_after_a_compaction_is_not_shown_again(stored):
    """Hosts differ in whether the session begins anew before or after the event that ends its compaction."""
    hook(stored, "pre-compact", "claude-code", payload())
    assert DEPLOYED in context(stored, "session-start", "claude-code", payload(source="compact"))
    hook(stored, "post-compact", "claude-code", payload(compact_summary="Short."))
    assert context(stored, "user-prompt", "claude-code", payload(prompt=ASKED)) == ""


def test_long_ids_with_a_common_beginning_are_two_sessions(stored):
    """The whole id counts, and what is kept of an endless one is short."""
    for end in ("1", "2"):
        said = payload(prompt=f"{ASKED} {end}", session_id="x" * 5000 + end)
        assert DEPLOYED in context(stored, "user-prompt", "codex", said)
        hook(stored, "stop", "codex", said | {"last_assistant_message": "Done."})
    first, second = stored.queue("SELECT session FROM note WHERE channel = 'turn'")
    assert first != second
    assert len(first) == len(second) == 32


def test_a_session_without_a_file_is_done_without(box):
    """Where the file cannot be made or read, and without an id, a session is empty and keeps nothing."""
    box.data.write_text("a file")
    for name in ("s", ""):
        with Session(str(box.data), "codex", name) as session:
            session.show(["a"])
        with session:
            assert list(session.shown) == ["a"]
    assert os.listdir(box.data.parent) == ["memman"]


OPENCODE = """
import { Memman } from "./memman.mjs"
const hooks = await Memman({ directory: "/" })
const say = (text) =>
  hooks["chat.message"]({ sessionID: "s-1" }, { message: { id: text }, parts: [{ type: "text", text }] })
const done = async () => {
  await hooks["experimental.text.complete"]({ sessionID: "s-1" }, { text: "Done." })
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s-1" } } })
}
await say("From now on use Bun.")
await say("And hurry up.")
await done()
await say("Thanks.")
await done()
await say(String.raw`"No, it is called \\"north\\"."`)
await done()
await say(`"north" is not "south"`)
await done()
"""

QUOTED = ('No, it is called "north".', '"north" is not "south"')


@pytest.mark.skipif(not shutil.which("node"), reason="opencode's plugin is run by node here")
def test_opencode_keeps_every_prompt_of_a_turn(box, tmp_path):
    """Its plugin joins the prompts until the session is idle; of `opencode run` it takes the user's own quotes only."""
    (tmp_path / "memman.mjs").write_text(text("opencode", "memman.js", box.script))
    (tmp_path / "drive.mjs").write_text(OPENCODE)
    subprocess.run(["node", "drive.mjs"], cwd=tmp_path, env=box.environ, check=True, timeout=PATIENCE)
    assert turns(box) == ["From now on use Bun.\n\nAnd hurry up.", "Thanks.", *QUOTED]


CLINE = """
import memman from "./memman.mjs"
const { beforeRun, afterRun, beforeTool } = memman.hooks
const rules = []
const api = { registerRule: (rule) => rules.push(rule) }
memman.setup(api, { session: { sessionId: "s-1" }, workspaceInfo: { rootPath: "/" } })
const user = (text, metadata) => ({ role: "user", metadata, content: [{ type: "text", text }] })
const turn = async (text, status, parentAgentId) => {
  const messages = [user(`<mode_notice>now act</mode_notice><user_input mode="act">${text}</user_input>`)]
  const { appendContext } = (await beforeRun({ snapshot: { messages, parentAgentId } })) ?? {}
  messages.push(user("<hook_context>of a program</hook_context>", { displayRole: "system" }))
  await afterRun({ snapshot: { messages, parentAgentId }, result: { status, messages, outputText: "Done." } })
  return appendContext ?? ""
}
await turn("Never use Yarn.", "completed", "agent-1")
const asked = await turn("Where do we deploy billing?", "failed")
await turn("From now on use Bun.", "completed")
await beforeRun({ snapshot: {} })
const input = { commands: ["cd /", { command: "west", args: ["flash"] }] }
const denied = await beforeTool({ toolCall: { toolName: "run_commands", input } })
const other = await beforeTool({ toolCall: { toolName: "read_files", input } })
for (const rule of rules) rule.content = await rule.content()
console.log(JSON.stringify({ rules, asked, denied, other }))
"""


@pytest.mark.skipif(not shutil.which("node"), reason="Cline's plugin is run by node here")
def test_clines_plugin_tells_of_the_users_turns_alone(stored, tmp_path):
    """Not sub-agents', nor what Cline puts around them; the block is a rule, and a forbidden command does not run."""
    stored.person("rule", "add", "No flashing.", "--match", "west flash", "--do", "deny", "--scope", "personal")
    (tmp_path / "memman.mjs").write_text(text("cline", "memman.js", stored.script))
    (tmp_path / "drive.mjs").write_text(CLINE)
    environ = stored.environ | {"CLINE_NO_INTERACTIVE": "1"}
    done = subprocess.run(
        ["node", "drive.mjs"], cwd=tmp_path, env=environ, check=True, timeout=PATIENCE, capture_output=True
    )
    said = json.loads(done.stdout)
    assert [rule["id"] for rule in said["rules"]] == ["memman"]
    assert DEPLOYED in said["rules"][0]["content"]
    assert DEPLOYED not in said["asked"]
    assert said["denied"]["skip"] is True
    assert said["denied"]["reason"].endswith("No flashing.")
    assert "other" not in said
    assert turns(stored) == ["Where do we deploy billing?\n\nFrom now on use Bun."]


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_a_session_that_is_resumed_is_given_its_first_block_once(stored, host):
    """Claude Code and Codex replay it; after a compaction it is gone, and one that began without memman has none."""

    def started(source, session="s-1"):
        return context(stored, "session-start", host, payload(source=source, session_id=session))

    first = started("startup")
    assert DEPLOYED in first
    assert [started("resume"), started("resume")] == ["", ""]
    hook(stored, "pre-compact", host, payload())
    assert [started("compact"), started("resume"), started("clear"), started("resume")] == [first, "", first, ""]
    hook(stored, "user-prompt", host, payload(session_id="s-2", prompt="Fix it."))
    assert [started("resume", "s-2"), started("resume", "s-2")] == [first, ""]


@pytest.mark.parametrize("host", ["gemini", "copilot"])
def test_a_host_that_does_not_replay_is_given_the_block_anew(stored, host):
    """What another host keeps of a session is not known; Copilot CLI keeps nothing of its start."""
    for source in ("new", "resume"):
        said = context(stored, "session-start", host, payload(source=source))
        assert DEPLOYED in said


def test_a_session_that_starts_asks_for_a_drain_where_turns_of_another_wait(stored):
    """A closed terminal tells no end of its session; its own turns, and a queue that is damaged, ask for none."""
    data = str(stored.data)

    def asks(session):
        silence(data)
        assert DEPLOYED in context(stored, "session-start", "gemini", payload(source="startup", session_id=session))
        return silence(data)

    assert not asks("s-2")
    hook(stored, "user-prompt", "gemini", payload(prompt="From now on use Bun."))
    hook(stored, "stop", "gemini", payload(prompt_response="Done."))
    assert (asks("s-1"), asks("s-2")) == (False, True)
    stored.drain()
    assert not asks("s-2")
    stored.queue_path.write_bytes(b"damaged")
    assert not asks("s-2")
