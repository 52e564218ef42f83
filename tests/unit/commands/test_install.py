"""What install asks for, and which keys of the shell it takes."""

import json
import subprocess

import pytest
from click.testing import CliRunner

from memman.commands.install import asked
from tests.support import agents

OPENROUTER, VOYAGE = "sk-or-v1-0123456789abcdef0123", "pa-0123456789abcdef0123"


@pytest.fixture(name="shell")
def _shell(box):
    """Give a box whose shell has the keys that memman 0.15 took."""
    box.environ.update({"OPENROUTER_API_KEY": OPENROUTER, "VOYAGE_API_KEY": VOYAGE})
    return box


def install(box, *args):
    """Install without a terminal, for no agent; return what was printed."""
    done = box.memman("install", "--no-wizard", *args)
    assert (done.returncode, done.stderr) == (0, "")
    assert OPENROUTER not in done.stdout
    assert VOYAGE not in done.stdout
    return done.stdout


def settings(box):
    """Return the env file's lines."""
    path = box.data / "env"
    return dict(line.split("=", 1) for line in path.read_text().splitlines()) if path.exists() else {}


def typed(box, *lines):
    """Answer the wizard; return the settings that follow, and what it wrote."""
    with CliRunner().isolation(input="\n".join((*lines, ""))) as streams:
        found = asked(str(box.data), {})
        return found, streams[2].getvalue().decode()


def test_a_headless_install_takes_the_keys_that_an_older_one_took(shell):
    """Both are used for what they are made for, which the plan says without printing either."""
    said = install(shell)
    sent = "of this shell is taken: from the next drain on, notes and memories are sent to"
    assert f"OPENROUTER_API_KEY {sent} OpenRouter" in said
    assert f"VOYAGE_API_KEY {sent} Voyage" in said
    assert settings(shell) == {
        "MEMMAN_LLM_PROVIDER": "openai",
        "MEMMAN_LLM_API_KEY": OPENROUTER,
        "MEMMAN_EMBED_PROVIDER": "voyage",
        "MEMMAN_EMBED_API_KEY": VOYAGE,
    }
    assert "API_KEY" not in install(shell)
    assert settings(shell)["MEMMAN_LLM_API_KEY"] == OPENROUTER


def test_a_plan_takes_nothing(shell):
    """With --dry-run it is said, and the env file stays away."""
    assert "is taken" in install(shell, "--dry-run")
    assert settings(shell) == {}


def test_what_is_said_otherwise_is_not_written_over(shell):
    """A setting for the same purpose keeps the key out, and so do the vectors of a store that is there."""
    shell.configure(LLM_PROVIDER="builtin")
    shell.remember("A heron nests.")
    shell.drain()
    assert "is taken" not in install(shell)
    assert settings(shell) == {"MEMMAN_LLM_PROVIDER": "builtin"}


def test_an_agents_install_takes_no_key(shell):
    """What a person's shell has is not an agent's to use."""
    shell.environ["CLAUDECODE"] = "1"
    assert shell.memman("install", "--no-wizard").returncode == 77
    assert settings(shell) == {}


def test_no_base_address_means_no_model(box):
    """An empty answer ends the question, and nothing is set."""
    found, wrote = typed(box, "openai", "")
    assert (found, wrote.count("Base URL")) == ({}, 1)


def test_addresses_that_will_not_do_are_asked_for_three_times(box):
    """Each is answered with what is wrong with it."""
    found, wrote = typed(box, "openai", "here", "ftp://x", "http://8.8.8.8/v1")
    assert (found, wrote.count("Base URL"), wrote.count("MEMMAN_LLM_ENDPOINT takes")) == ({}, 3, 3)


def test_what_is_typed_is_taken(box):
    """The second answer, after one with a mistake, and the key; no model means the usual ones."""
    found, _ = typed(box, "openai", "nowhere", "https://llm.example/v1", "key-of-the-test", "")
    assert json.dumps(found) == json.dumps(
        {
            "MEMMAN_LLM_PROVIDER": "openai",
            "MEMMAN_LLM_ENDPOINT": "https://llm.example/v1",
            "MEMMAN_LLM_API_KEY": "key-of-the-test",
        }
    )


def test_an_endpoint_without_a_key_is_asked_for_its_model(box):
    """A local server has models of its own: the one that is named extracts and compares."""
    found, _ = typed(box, "openai", "http://localhost:11434/v1", "", "qwen3:8b")
    assert found == {
        "MEMMAN_LLM_PROVIDER": "openai",
        "MEMMAN_LLM_ENDPOINT": "http://localhost:11434/v1",
        "MEMMAN_LLM_MODEL_FAST": "qwen3:8b",
        "MEMMAN_LLM_MODEL_SLOW": "qwen3:8b",
    }


# --- the user's own agent ---


@pytest.fixture(name="agent")
def _agent(box, monkeypatch):
    """Return an agent's program that is found here, and no other."""
    agent = agents.install("claude-code", box.data.parent / "programs")
    monkeypatch.setenv("PATH", f"{agent.folder}:/usr/bin:/bin")
    monkeypatch.setattr("memman.llm.agent.process._USUAL", ())
    box.environ["PATH"] = f"{agent.folder}:/usr/bin:/bin"
    return agent


def test_agents_that_are_here_are_offered_with_what_is_sent_and_what_it_costs(box, agent):
    """Those that are not here are not; nothing is chosen unasked; the program is written down as it was found."""
    found, said = typed(box, "claude-code")
    assert found == {
        "MEMMAN_LLM_PROVIDER": "claude-code",
        "MEMMAN_LLM_COMMAND": str(agent.folder / "claude"),
    }
    assert "go to Anthropic" in said
    assert "tokens of your allowance" in said
    assert "codex" not in said
    assert typed(box, "")[0] == {}


def test_a_headless_install_makes_an_agent_the_model_only_with_a_flag(box, agent):
    """Without --agent-model nothing of the kind is written, with it the provider is, and the plan says so."""
    install(box)
    assert "MEMMAN_LLM_PROVIDER" not in settings(box)
    assert "MEMMAN_LLM_PROVIDER=claude-code" in install(box, "--agent-model", "claude-code")
    assert settings(box)["MEMMAN_LLM_COMMAND"] == str(agent.folder / "claude")


def test_an_agent_cannot_make_itself_the_model(box, agent):
    """What says where text is sent is a person's."""
    assert agent
    box.environ["CLAUDECODE"] = "1"
    done = box.memman("install", "--no-wizard", "--agent-model", "claude-code")
    assert done.returncode == 77
    assert "MEMMAN_LLM_PROVIDER" not in settings(box)


def test_doctor_offers_the_agents_that_are_here(box, agent):
    """Where the built-in model answers, it names what could, and the command."""
    assert agent
    box.remember("The build runs on Debian 12.")
    assert "config set MEMMAN_LLM_PROVIDER claude-code" in box.memman("doctor").stdout


def test_what_is_said_comes_as_json_too(box):
    """The plan and what was done, line by line; a second time nothing is changed, and that is said."""
    first, again = (json.loads(install(box, "--target", "codex", "--json")) for _ in range(2))
    assert "codex: set up" in first["said"]
    assert "codex: was set up already" in again["said"]
    assert (again["wrong"], again["code"]) == ([], 0)
    planned = json.loads(box.memman("uninstall", "--target", "codex", "--dry-run", "--json").stdout)
    assert planned["said"][-1] == "dry run: nothing was changed"


def test_the_history_of_a_repository_is_offered_while_memory_knows_nothing_of_it(box, tmp_path):
    """In a repository the last line of an install says how to begin; outside of one, and later, it does not."""
    shop = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    offer = "`memman bootstrap --dry-run`"
    assert offer not in box.memman("install", "--no-wizard").stdout
    assert offer in box.memman("install", "--no-wizard", cwd=shop).stdout.splitlines()[-1]
    box.memman("remember", "The heron nests on the roof.", cwd=shop)
    box.drain()
    assert offer not in box.memman("install", "--no-wizard", cwd=shop).stdout
