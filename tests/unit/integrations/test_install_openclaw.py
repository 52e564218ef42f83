"""OpenClaw's plugin in a host of the test's own: Node with the handlers it registers, and a memman that writes down."""

import json
import shutil
import subprocess

import pytest

from memman.integrations.sources import text
from tests.support.box import PATIENCE

HOST = """
import plugin from "./index.mjs"
const on = {}
plugin.register({ on: (name, run) => (on[name] = run) })
const say = (text) => ({ messages: [{ role: "assistant", content: text }] })
"""

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not here")


@pytest.fixture(name="turns")
def _turns(tmp_path):
    """Play a script in the host; return the turns that memman was given, each a prompt and its reply."""

    def turns(script):
        memman, log = tmp_path / "memman", tmp_path / "log"
        memman.write_text(f"#!/bin/sh\n[ $2 != stop ] || {{ cat; echo; }} >>'{log}'\n")
        memman.chmod(0o755)
        (tmp_path / "index.mjs").write_text(text("openclaw", "index.js", str(memman)))
        (tmp_path / "host.mjs").write_text(HOST + script)
        subprocess.run(["node", "host.mjs"], cwd=tmp_path, check=True, timeout=PATIENCE)
        said = [json.loads(line) for line in log.read_text().splitlines()]
        return [(turn["session_id"], turn["prompt"], turn["last_assistant_message"]) for turn in said]

    return turns


@pytest.mark.parametrize("runs", [("", ""), ("runId: 'r1'", "runId: 'r2'")], ids=["no runs", "runs"])
def test_turns_of_two_sessions_are_kept_apart(turns, runs):
    """A prompt gets its own session's reply, also from a host that numbers no runs."""
    one, two = (f"{{sessionId: 'c{number}', {run}}}" for number, run in enumerate(runs, 1))
    script = f"""
    await on.before_prompt_build({{ prompt: "A" }}, {one})
    await on.before_prompt_build({{ prompt: "B" }}, {two})
    await on.agent_end(say("done A"), {one})
    await on.agent_end(say("done B"), {two})
    """
    assert turns(script) == [("c1", "A", "done A"), ("c2", "B", "done B")]


def test_two_runs_of_one_session_are_kept_apart(turns):
    """Where runs are numbered they count, not the session."""
    script = """
    const [one, two] = ["r1", "r2"].map((runId) => ({ sessionId: "c", runId }))
    await on.before_prompt_build({ prompt: "A" }, one)
    await on.before_prompt_build({ prompt: "B" }, two)
    await on.agent_end(say("done B"), two)
    await on.agent_end(say("done A"), one)
    """
    assert turns(script) == [("c", "B", "done B"), ("c", "A", "done A")]
