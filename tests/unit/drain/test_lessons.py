"""What failed in a session and what mended it is noted once, as its agent's word, where a person wants that."""

import json

import pytest

from bench.lessons import CLIENTS
from tests.support.hook_calls import hook

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
LESSON = "Seen in tool events: `npm test` failed until `npm ci` was run."


def _ran(command, well=True, out=""):
    return {"run": command, "ok": well, "out": out}


def _mended(failing, mending):
    """Return the events of a command that fails until another is run."""
    return [_ran(failing, well=False, out="not found"), _ran(mending), _ran(failing)]


class Desk:
    """A repository in which agents work that keep transcripts."""

    def __init__(self, box, folder):
        self.box, self.folder = box, folder
        (folder / ".git").mkdir(parents=True)

    def session(self, name, events, host="claude-code"):
        """Have a session do something and stop."""
        path = self.folder.parent / f"{name}.jsonl"
        here = {"cwd": str(self.folder)}
        lines = [json.dumps(here | line) for n, one in enumerate(events) for line in CLIENTS[host](here | one, str(n))]
        path.write_text("\n".join([*lines, "{torn"]))
        payload = here | {"session_id": name, "prompt_id": name, "transcript_path": str(path)}
        hook(self.box, "user-prompt", host, payload | {"prompt": "Run the tests please."})
        hook(self.box, "stop", host, payload | {"last_assistant_message": "Done."})
        self.box.drain()

    def known(self):
        """Return the memories."""
        return json.loads(self.box.memman("list", "--json", cwd=self.folder).stdout)


@pytest.fixture
def desk(box, tmp_path):
    """Give a desk whose owner wants lessons."""
    box.configure(LESSONS="on")
    return Desk(box, tmp_path / "shop")


@pytest.mark.parametrize(("host", "verb"), [("claude-code", "forget"), ("codex", "purge"), ("codex", "undo")])
def test_a_lesson_is_its_agent_s_unconfirmed_word_and_comes_once(desk, host, verb):
    """Neither the same session going on nor another one brings it again, nor once a person has taken it back."""
    desk.session("s1", _mended("npm test", "npm ci"), host)
    (memory,) = desk.known()
    assert (memory["text"], memory["source"], memory["unconfirmed"]) == (LESSON, "agent", True)
    desk.session("s1", [*_mended("npm test", "npm ci"), _ran("ls")], host)
    desk.session("s2", _mended("npm test", "npm ci"), host)
    assert len(desk.known()) == 1
    assert desk.box.person(verb, memory["uid"], cwd=desk.folder).returncode == 0
    desk.session("s3", _mended("npm test", "npm ci"), host)
    assert desk.known() == []


def test_a_session_leaves_three_at_most_without_secrets_and_outputs(desk):
    """The first three, however often it is read."""
    for n in range(1, 6):
        events = [_mended(f"make check{m}", f"make tools{m} TOKEN={SECRET}") for m in range(n)]
        desk.session("s1", [one for three in events for one in three])
    told = [memory["text"] for memory in desk.known()]
    assert len(told) == 3
    assert all("[redacted" in text and "not found" not in text for text in told)
    assert SECRET.encode() not in desk.box.queue_path.read_bytes() + desk.box.store_path().read_bytes()


@pytest.mark.parametrize("setting", [{"LESSONS": "off"}, {"CAPTURE": "off"}, {"CAPTURE": "ask"}])
def test_nothing_is_learned_where_that_is_not_wanted(desk, setting):
    """Nor where turns are not kept."""
    desk.box.configure(**setting)
    desk.session("s1", _mended("npm test", "npm ci"))
    assert desk.known() == []
