"""The configuration is data: what is set reads back the same or was refused, and none of it ever runs."""

import subprocess
from pathlib import Path

import pytest

from memman.config.env import Settings, change, env_path
from memman.config.keys import KEYS
from memman.model.errors import BadConfig
from tests.security.hostile import SPECIAL, strings
from tests.support.box import PATIENCE

SHELL = (
    *(
        "$(touch {0})",
        "`touch {0}`",
        "${{HOME}}",
        "'; touch {0}; '",
        '"; touch {0}; "',
        "\\",
        "a=b",
        "#x",
        "a # b",
        "%s",
    ),
    *(
        "~",
        "*",
        "a\nMEMMAN_LLM_ENDPOINT=https://evil.example",
        "a\rb",
        "a\0b",
        " a",
        "a ",
        "\ta",
        "export A=1",
        "!",
        "\u2028x",
    ),
)
FREE = [name for name, key in KEYS.items() if not key.check("anything at all")]


@pytest.mark.promise("S12")
def test_a_value_is_stored_whole_or_refused(box, rounds, kept):
    """Through the env file every value of a key comes back as it was given; others stay as they were."""
    data, equal, refused = str(box.data), 0, 0
    change(data, "MEMMAN_BUDGET_USD", "3")
    path = Path(env_path(data))
    texts = [text.format("canary") for text in SHELL] + [text for text in strings(rounds(250, 3_000), 5) if text]
    for number, text in enumerate(texts):
        name = FREE[number % len(FREE)]
        before = path.read_bytes()
        try:
            change(data, name, text[:5_000])
        except BadConfig:
            refused += 1
            assert path.read_bytes() == before
            continue
        settings = Settings.load(data)
        assert settings[name] == text[:5_000], ascii(text[:80])
        assert settings["MEMMAN_BUDGET_USD"] == "3"
        assert settings["MEMMAN_LLM_ENDPOINT"] == ""
        equal += 1
    assert equal > len(texts) / 5
    kept(f"{len(texts)} values: {equal} read back equal, {refused} refused, 0 run")


@pytest.mark.parametrize("text", SHELL[:8], ids=ascii)
def test_no_value_is_ever_run(box, text):
    """A drain, doctor, the launcher and a shell that starts them make nothing of a value but a value."""
    canary = box.data.parent / "canary"
    value = text.format(canary)
    box.data.mkdir(mode=0o700)
    (box.data / "env").touch(mode=0o600)
    (box.data / "env").write_bytes(f"MEMMAN_LLM_MODEL_FAST={value}\nMEMMAN_LLM_PRICE={value}\n".encode())
    box.memman("install", "--no-wizard", "--target", "codex")
    box.remember("The heron is grey.")
    for verb in ("scheduler drain", "status"):
        subprocess.run(
            ["/bin/sh", "-c", f'"$0/bin/memman" {verb}', str(box.data)],
            env=box.environ,
            cwd=box.data.parent,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
    assert not canary.exists()


def test_a_key_is_one_of_the_table(box):
    """Any other name is refused in one line, however it is written, and an empty value is none."""
    names = [text for text in SPECIAL[:40:4] if text.isprintable()]
    for name in names:
        done = box.memman("config", "set", "--", name, "1")
        assert (done.returncode, done.stderr.count("\n")) == (78, 1), name
    done = box.memman("config", "set", "llm.model.fast", "")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
