"""What an agent may run, what it is refused, and how a person says that they agree."""

import os
import pty
import subprocess

import pytest
from every_verb import CALLS, LEAVES, calls, made, variants

from conftest import PATIENCE
from memman.cli.consent import FLAG
from memman.config.keys import KEYS
from memman.model.verbs import AGENT_VERBS, ALLOWED, PERSONS

FOR_PEOPLE = 77
AGENT = {"CLAUDECODE": "1"}
# Each agent by what it says to set in the environment of its commands.
MARKS = """
    CLAUDECODE CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID CURSOR_AGENT GEMINI_CLI OPENCODE
    OPENCLAW_SHELL AMP_CURRENT_THREAD_ID AUGMENT_AGENT CLINE_ACTIVE COPILOT_CLI GOOSE_TERMINAL QWEN_CODE
    AI_AGENT MEMMAN_AGENT
""".split()
OUTWARD = (
    ("MEMMAN_LLM_ENDPOINT", "https://elsewhere.example/v1"),
    ("MEMMAN_LLM_API_KEY", "sk-of-somebody-else-0123456789"),
    ("MEMMAN_EMBED_PROVIDER", "voyage"),
)


def run(box, args, **environ):
    """Run memman without a terminal."""
    streams = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    env = box.environ | environ
    return subprocess.run([box.script, *args], env=env, cwd=box.data.parent, check=False, timeout=PATIENCE, **streams)


def snapshot(folder):
    """Return everything below a folder: modes, times and bytes."""
    found = {}
    for place, _, files in os.walk(folder):
        found[place] = os.lstat(place).st_mode
        for name in files:
            path = os.path.join(place, name)
            info = os.lstat(path)
            with open(path, "rb") as held:
                found[path] = (info.st_mode, info.st_mtime_ns, held.read())
    return found


def refused(done):
    """Whether a run ended with the one line that sends the agent to a person."""
    return (done.returncode, done.stdout, done.stderr.count("\n")) == (FOR_PEOPLE, "", 1) and FLAG in done.stderr


def test_every_verb_says_how_it_is_called():
    """A verb without a row in the table of calls would go untested; a verb that is allowed exists or is to come."""
    assert LEAVES.keys() <= CALLS.keys()
    assert (ALLOWED | PERSONS.keys()) <= CALLS.keys()


@pytest.mark.promise("S7")
def test_an_agent_runs_what_is_allowed_and_nothing_else(box, kept):
    """Every verb of a person, and every option that makes one so, is refused to an agent and changes no byte."""
    lines = [(verb, args) for verb, args in calls(made(box)).items()]
    lines += [(f"{verb} {option}", [*args, option]) for verb, args in lines for option in variants(verb)]
    allowed = {*AGENT_VERBS, *ALLOWED}
    persons = {f"{verb} --{name}" for verb, names in PERSONS.items() for name in names}
    denied = [(verb, args) for verb, args in lines if verb in persons or (verb not in allowed and " --" not in verb)]
    before = snapshot(box.data.parent)
    wrong = [verb for verb, args in denied if not refused(run(box, args, **AGENT))]
    assert wrong == []
    assert snapshot(box.data.parent) == before
    passed = [(verb, run(box, args, **AGENT)) for verb, args in lines if verb in allowed]
    assert [verb for verb, done in passed if done.returncode == FOR_PEOPLE] == []
    assert {verb for verb, done in passed if done.returncode} <= {"backup verify", "scheduler trigger"}
    kept(f"{len(lines)} command lines as an agent: {len(passed)} on the list run, {len(denied) - len(wrong)} refused")


@pytest.mark.parametrize("mark", MARKS)
def test_every_agent_is_known_by_its_environment(box, mark):
    """Whatever agent runs it, the one line names it and nothing is installed."""
    done = run(box, ["uninstall"], **{mark: "1"})
    assert refused(done)
    assert not box.data.exists()


def test_help_is_for_everybody(box):
    """An agent may read what a person's verb does."""
    assert "A person agrees to this." in run(box, ["store", "remove", "--help"], **AGENT).stdout


def test_with_their_leave_an_agent_runs_it(box):
    """--consent, which a person sees where they grant a command, lets a verb through."""
    assert run(box, ["store", "create", "second", FLAG], **AGENT).returncode == 0
    assert run(box, ["store", FLAG, "create", "third"], **AGENT).returncode == 2
    assert run(box, ["store", "create", "third"]).returncode == 0
    assert "third" in run(box, ["store", "list"], **AGENT).stdout


def test_a_secret_is_not_shown_to_an_agent(box):
    """`config show` masks keys, and `config get`, which does not, is a person's."""
    box.configure(LLM_API_KEY="sk-of-the-person-0123456789")
    assert refused(run(box, ["config", "get", "LLM_API_KEY"], **AGENT))
    assert "of-the-person" not in run(box, ["config", "show"], **AGENT).stdout


def test_every_key_of_a_provider_says_where_text_goes():
    """Provider, endpoint and key of each family are a person's to set, and no other key is."""
    parts = ("PROVIDER", "ENDPOINT", "API_KEY")
    wanted = [f"MEMMAN_{family}_{part}" for family in ("LLM", "EMBED", "RERANK") for part in parts]
    assert [key.name for key in KEYS.values() if key.outward("x")] == wanted


@pytest.mark.parametrize(("name", "value"), OUTWARD)
def test_where_text_goes_is_said_at_a_terminal_or_with_consent(box, name, value):
    """Without a terminal, endpoint, provider and key are refused, by `config set` and from the shell at install."""
    done = run(box, ["config", "set", name, value])
    assert refused(done)
    assert name in done.stderr
    done = run(box, ["install", "--target", "codex", "--no-wizard"], **{name: value})
    assert done.returncode == FOR_PEOPLE
    assert not (box.data / "env").exists()
    assert run(box, ["config", "set", name, value, FLAG]).returncode == 0
    assert f"{name}={value}\n" in (box.data / "env").read_text()
    assert run(box, ["config", "unset", name]).returncode == 0


def test_what_sends_nothing_elsewhere_needs_no_terminal(box):
    """A script sets every other key, and the providers that are part of memman."""
    for name, value in (("HTTP_TRIES", "2"), ("EMBED_PROVIDER", "builtin"), ("BUDGET_USD", "1")):
        assert run(box, ["config", "set", name, value]).returncode == 0
    assert refused(run(box, ["embed", "swap", "--to", "ollama", "--endpoint", "http://localhost:1", "--model", "m"]))


def test_at_a_terminal_nothing_more_is_asked(box):
    """A person who types gets what they type, keys from a pipe too."""
    ours, theirs = pty.openpty()
    command = [box.script, "config", "set", "LLM_API_KEY", "-"]
    done = subprocess.run(
        command, env=box.environ, input=b"sk-of-the-person-0123456789\n", stdout=theirs, stderr=theirs, check=False
    )
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    assert "of-the-person" in (box.data / "env").read_text()
