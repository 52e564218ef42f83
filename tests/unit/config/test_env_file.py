"""The env file as people write it by hand: what is obvious is read, and a wrong value is named before any is used."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.config.env import Settings, line_of
from memman.config.places import entry, setting
from memman.model.errors import BadConfig

# What a person may write for MEMMAN_CAPTURE=off.
FORMS = (
    'MEMMAN_CAPTURE="off"',
    "MEMMAN_CAPTURE='off'",
    "export MEMMAN_CAPTURE=off",
    "  MEMMAN_CAPTURE = off  ",
    "MEMMAN_CAPTURE=off # no capture, please",
    'export MEMMAN_CAPTURE = "off"   # never',
    "MEMMAN_CAPTURE=off\r",
    "MEMMAN_CAPTURE: off",
    "MEMMAN_CAPTURE off",
    "memman_capture=off",
    "\ufeffMEMMAN_CAPTURE=off",
)
TURN = json.dumps({"session_id": "s", "prompt": "Always use tabs.", "last_assistant_message": "Done."})


def write(box, *lines):
    """Write the env file as it is."""
    box.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = box.data / "env"
    path.touch(mode=0o600)
    path.write_bytes("\n".join(lines).encode() + b"\n")
    return path


def queued(box):
    """Return how many turns wait after one was offered."""
    box.memman("remember", "The heron nests.")
    assert box.memman("hook", "stop", "--host", "claude-code", input=TURN).stderr == ""
    return box.queue("SELECT count(*) FROM note WHERE channel = 'turn'")[0]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_obvious_is_read(box, form):
    """Quotes, export, blanks, comments, small letters and line ends of other systems say nothing: capture is off."""
    write(box, "# settings", "", form, "MEMMAN_LOG_LEVEL=debug")
    settings = Settings.load(str(box.data))
    assert (settings["MEMMAN_CAPTURE"], settings["MEMMAN_LOG_LEVEL"]) == ("off", "debug")
    assert setting(str(box.data), "MEMMAN_CAPTURE") == "off"
    assert queued(box) == 0


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=a#b", "a#b"),
        ("KEY=#b", ""),
        ('KEY="a # b"', "a # b"),
        ('KEY="a', '"a'),
        ('KEY=a "b"', 'a "b"'),
        ("KEY='a' b", "'a' b"),
        ("KEY=", ""),
        ("KEY", ""),
    ],
)
def test_a_value_is_what_stands_in_its_quotes_or_before_its_comment(line, value):
    """A mark within a word, and quotes that do not hold all of it, belong to the value."""
    assert entry(line) == ("KEY", value)


@pytest.mark.parametrize("said", ['"of"', "no", "OFF", "'off"])
def test_a_capture_line_that_cannot_be_read_keeps_nothing(box, said):
    """No turn is queued, and a drain says what is wrong."""
    write(box, f"MEMMAN_CAPTURE={said}")
    assert queued(box) == 0
    done = box.memman("scheduler", "drain")
    assert (done.returncode, "MEMMAN_CAPTURE takes one of off, corrections" in done.stderr) == (78, True)


@pytest.mark.parametrize(
    "line", ["MEMMAN_LLM_PROVIDER=opnai", "MEMMAN_LLM_ENDPOINT=ftp://models.example", "MEMMAN_BUDGET_USD=much"]
)
def test_no_value_takes_the_place_of_a_wrong_one(box, line):
    """Nothing is guessed: a drain ends with 78, notes wait, and what is shown names the fault."""
    write(box, line, "MEMMAN_LLM_API_KEY=key-of-the-test")
    box.remember("The heron nests.")
    assert box.memman("scheduler", "drain").returncode == 78
    assert box.states() == {"pending": 1}
    assert box.memman("recall", "heron").returncode == 0
    name = line.partition("=")[0]
    assert name in box.memman("config", "show").stderr
    assert f"config unset {name}" in box.memman("doctor", "--check", "folder").stdout


def test_a_line_written_by_hand_is_replaced_where_it_stands(box):
    """`config set` changes the value, keeps comments and order, and `config unset` removes any form of the line."""
    path = write(box, "# mine", 'export MEMMAN_CAPTURE = "off" # private', "MEMMAN_LOG_LEVEL: debug")
    assert box.memman("config", "set", "MEMMAN_CAPTURE", "corrections").returncode == 0
    assert path.read_text() == "# mine\nMEMMAN_CAPTURE=corrections\nMEMMAN_LOG_LEVEL: debug\n"
    assert box.memman("config", "unset", "MEMMAN_LOG_LEVEL").returncode == 0
    assert path.read_text() == "# mine\nMEMMAN_CAPTURE=corrections\n"


@given(st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" "), min_size=1).map(str.strip))
def test_what_is_set_is_read_as_it_was_set(value):
    """Whatever marks a value holds, its line gives it back, or it is refused for both kinds of quotes."""
    try:
        line = line_of("MEMMAN_IGNORE", value)
    except BadConfig:
        assert {"'", '"'} <= set(value)
    else:
        assert entry(line) == ("MEMMAN_IGNORE", value)


def test_another_model_provider_takes_no_settings_of_the_one_before(box):
    """Its endpoint and models are unset, and that is said; what is given with it stays, and a key nobody is sent."""
    before = {"LLM_PROVIDER": "openai", "LLM_ENDPOINT": "http://localhost:9/v1", "LLM_API_KEY": "key-of-the-test"}
    box.configure(**before, LLM_MODEL_FAST="qwen3:8b", LLM_MODEL_SLOW="qwen3:8b")
    done = box.memman("config", "set", "LLM_PROVIDER", "claude-code", "LLM_MODEL_FAST", "sonnet")
    assert "unset MEMMAN_LLM_ENDPOINT, which belonged to the previous provider" in done.stdout
    assert (box.data / "env").read_text().split() == [
        "MEMMAN_LLM_PROVIDER=claude-code",
        "MEMMAN_LLM_API_KEY=key-of-the-test",
        "MEMMAN_LLM_MODEL_FAST=sonnet",
    ]


KEY = "MEMMAN_LLM_API_KEY"
OPENROUTER = {"LLM_PROVIDER": "openai", "LLM_API_KEY": "key-of-the-test"}
KEYS_KEPT = [
    ({"LLM_API_KEY": "k"}, "set LLM_PROVIDER openai", True),
    (OPENROUTER, "set LLM_PROVIDER builtin", True),
    (OPENROUTER, "set LLM_MODEL_FAST other", True),
    (OPENROUTER, "set LLM_ENDPOINT https://openrouter.ai/api/v2", True),
    (OPENROUTER, "set LLM_PROVIDER anthropic LLM_API_KEY another", True),
    (OPENROUTER, "set LLM_PROVIDER anthropic", False),
    (OPENROUTER, "set LLM_ENDPOINT http://localhost:9/v1", False),
    ({"LLM_PROVIDER": "anthropic", "LLM_API_KEY": "k"}, "unset LLM_PROVIDER", False),
    ({**OPENROUTER, "LLM_ENDPOINT": "http://localhost:9/v1"}, "unset LLM_ENDPOINT", False),
    ({**OPENROUTER, "LLM_PROVIDER": "builtin"}, "set LLM_PROVIDER anthropic", False),
]


@pytest.mark.parametrize(("before", "command", "kept"), KEYS_KEPT)
def test_a_key_is_never_sent_to_another_host(box, before, command, kept):
    """Whatever changes where a key would go removes it, and says so; what does not leaves it alone."""
    box.configure(**before)
    done = box.memman("config", *command.split())
    assert done.returncode == 0, done.stderr
    assert (f"{KEY}=" in (box.data / "env").read_text()) is kept
    assert (f"unset {KEY}, which belonged to the previous provider" in done.stdout) is not kept


def test_install_drops_what_was_for_the_provider_before(box):
    """An agent as the model is not called by another provider's model; the plan says what is unset."""
    box.configure(LLM_PROVIDER="anthropic", LLM_API_KEY="key-of-the-test", LLM_MODEL_FAST="claude-x")
    planned = box.memman("install", "--no-wizard", "--agent-model", "claude-code", "--dry-run").stdout
    assert "settings: unset MEMMAN_LLM_MODEL_FAST, which belonged to the previous provider" in planned
    assert box.memman("install", "--no-wizard", "--agent-model", "claude-code").returncode == 0
    assert "claude-x" not in (box.data / "env").read_text()


def test_config_show_tells_of_one_key(box):
    """What is asked for by its short name is shown alone; a key that there is not is named."""
    (line,) = box.memman("config", "show", "capture").stdout.splitlines()
    assert "MEMMAN_CAPTURE" in line
    assert box.memman("config", "show", "captur").returncode == 78
