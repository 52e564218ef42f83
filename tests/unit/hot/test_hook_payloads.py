"""Every payload a host sends, or might, is answered as that host expects, and nothing else happens."""

import itertools
import json
import os

import pytest

from memman.hot.events import EVENTS, HOSTS
from tests.support.hook_calls import BY_NAME, CONTEXT, context, hook, judged, recorded

FACTS = (
    ("We deploy billing to Fly.io from the main branch, never from a laptop.", "decision"),
    ("Deploy billing to staging before production.", "preference"),
)
# Values that have broken programs like this one.
HOSTILE = (
    *("$(touch x)", "`touch x`", "; touch x #", "'\"\\$HOME", "../../x", "/etc/passwd", "%s%n{}", "x" * 300),
    *("where do we deploy billing?\0 $(touch x)", "\ud800\udfff \ud83d", "\u202e\u2066\x1b]0;x\x07", "-", "--help"),
    *(None, True, 0, -1.5, 10**400, [], {}, [["x"]], {"prompt": {"prompt": 1}}, ""),
)


@pytest.fixture
def stored(box, filled, tmp_path):
    """Give a box with two memories and a project folder."""
    (tmp_path / "proj").mkdir()
    return filled(box, fill)


def fill(box):
    """Store FACTS."""
    for text, category in FACTS:
        box.remember(text, category=category)
    box.drain()


@pytest.fixture
def outside(stored, tmp_path):
    """Assert afterwards that nothing below the home folder has changed but the data folder."""

    def listing():
        found = {}
        for folder, folders, files in os.walk(tmp_path):
            folders[:] = [name for name in folders if os.path.join(folder, name) != str(stored.data)]
            for name in (*folders, *files):
                info = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (info.st_mode, info.st_size)
        return found

    before = listing()
    yield
    assert listing() == before


def here(fields, tmp_path):
    """Put the folder of the test in the place of the recorded one."""
    return fields | {"cwd": str(tmp_path / "proj")}


@pytest.mark.parametrize(("host", "events", "line", "where"), recorded(), ids=lambda value: str(value)[-40:])
def test_what_was_recorded_is_answered(stored, outside, tmp_path, host, events, line, where):  # noqa: ARG001 - names it
    """Each recorded payload is answered as its host expects, and a start and a question with memories."""
    for event in events:
        fields = here(json.loads(line), tmp_path)
        said = context(stored, event, host, fields)
        assert bool(said) == (event in CONTEXT and host != "goose" and "<task-notification>" not in line)
        done = hook(stored, event, host, line.encode())
        judged(event, host, done)


def by_event():
    """Return one recorded payload for each host and event."""
    return {(host, event): json.loads(line) for host, events, line, _ in recorded() for event in events}


def test_there_is_a_payload_of_every_host():
    """No host is without a recorded start, question and end of a turn; Goose's start is of no use."""
    wanted = {(host, event) for host in HOSTS for event in ("session-start", "user-prompt", "stop")}
    assert wanted - {("goose", "session-start")} <= by_event().keys()


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_fields_may_be_missing_added_and_reordered(stored, outside, tmp_path, host):  # noqa: ARG001 - watches
    """Without any one field, with unknown ones and in another order, the answer is one that the host accepts."""
    for (whose, event), fields in by_event().items():
        if whose != host:
            continue
        whole = here(fields, tmp_path)
        variants = [{name: value for name, value in whole.items() if name != gone} for gone in whole]
        variants += [{}, dict(reversed(whole.items())), {"a": [{"b": None}] * 50, **whole, "z": "\u2028" * 50}]
        for variant in variants:
            context(stored, event, host, variant)


@pytest.mark.parametrize("field", ["session_id", "cwd", "prompt", "hook_event_name", "tool_name", "tool_input"])
def test_hostile_values_do_nothing(stored, outside, tmp_path, field):  # noqa: ARG001 - watches
    """No value of a field is run, expanded, used as a path, or breaks the answer."""
    turns = zip(
        itertools.cycle(HOSTS), itertools.cycle((*CONTEXT, "user-prompt", "stop", "post-compact")), strict=False
    )
    fields = {"prompt": "where do we deploy billing?", "tool_name": "Agent", "last_assistant_message": "Done."}
    for number, (value, (host, event)) in enumerate(zip(HOSTILE, turns, strict=False)):
        context(stored, event, host, here(fields, tmp_path) | {"session_id": f"s-{number}", field: value})
    context(stored, "user-prompt", "codex", fields | {"session_id": "../../x"})
    assert all(name.startswith((*HOSTS, "kept-")) for name in os.listdir(stored.data / "sessions"))


def raw_inputs():
    """Return inputs that are not what they should be."""
    question = '{"session_id": "s", "prompt": "where do we deploy billing?"'
    return {
        "nothing": b"",
        "blanks": b" \n\t ",
        "no JSON": b"where do we deploy billing?",
        "half": question.encode(),
        "two": (question + "}{}").encode(),
        "a list": b'[{"prompt": "where do we deploy billing?"}]',
        "a number": b"9" * 10_000,
        "arrays": b"[" * 100_000,
        "objects": b'{"prompt":' * 100_000 + b"1" + b"}" * 100_000,
        "null bytes": b"\0" * 100,
        "no UTF-8": question.encode() + b', "x": "\xff\xfe\xc3"}',
        "no UTF-8 prompt": b'{"prompt": "where do we deploy \xff\xfe billing?"}',
        "a mark": b"\xef\xbb\xbf" + question.encode() + b"}",
        "UTF-16": (question + "}").encode("utf-16"),
        "odd numbers": (question + ', "a": 1e999, "b": -0, "c": NaN, "d": -Infinity, "e": 1E-999}').encode(),
        "twice": (question + ', "prompt": "", "prompt": "where do we deploy billing?"}').encode(),
        "too much": (question + ', "x": "' + "y" * 5_000_000 + '"}').encode(),
    }


ANSWERED = {"no UTF-8", "no UTF-8 prompt", "a mark", "odd numbers", "twice"}


@pytest.mark.parametrize("host", ["codex", "gemini"])
@pytest.mark.parametrize(("name", "raw"), raw_inputs().items(), ids=raw_inputs())
def test_any_bytes_are_answered(stored, outside, host, name, raw):  # noqa: ARG001 - watches
    """What is no payload is answered with nothing, what can be read in spite of its faults with memories."""
    said = judged("user-prompt", host, hook(stored, "user-prompt", host, raw))
    assert bool(said) == (name in ANSWERED)
    for event in ("session-start", "stop", "no-such-event"):
        judged(event, host, hook(stored, event, host, raw))


@pytest.mark.parametrize("host", ["claude-code", "gemini"])
def test_a_megabyte_of_prompt_is_answered(stored, outside, tmp_path, host):  # noqa: ARG001 - watches
    """A prompt, a reply and a plan of a megabyte, in one word or in many, are taken as any other."""
    for text in ("where do we deploy billing? " * 40_000, "x" * 1_000_000, "<hook_context>" * 70_000, "💥\n" * 250_000):
        for event in EVENTS:
            fields = {"prompt": text, "last_assistant_message": text, "compact_summary": text, "session_id": "s"}
            fields |= {"tool_name": "ExitPlanMode", "tool_input": {"plan": text}}
            context(stored, event, host, here(fields, tmp_path))


def test_the_event_is_called_what_its_host_calls_it(stored):
    """A known name in the payload comes back; otherwise the host's own is used."""
    asked = {"prompt": "where do we deploy billing?"}
    for host, said, wanted in (
        ("claude-code", None, "UserPromptSubmit"),
        ("gemini", None, "BeforeAgent"),
        ("gemini", "BeforeAgent", "BeforeAgent"),
        ("opencode", "x", "UserPromptSubmit"),
        ("codex", "SessionStart", "UserPromptSubmit"),
    ):
        done = hook(stored, "user-prompt", host, asked | {"hook_event_name": said})
        assert json.loads(done.stdout)["hookSpecificOutput"]["hookEventName"] == wanted
    assert set(BY_NAME.values()) == set(EVENTS) - {"pre-command"}
