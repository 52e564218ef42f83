"""What one session leaves is taken up by another, once."""

import json
import os
import subprocess
import time

import pytest

from memman.commands.handover import WORDS
from tests.support.box import PATIENCE
from tests.support.hook_calls import context, hook

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
FIXED = "It depends on the order of the fixtures. Should the loader sort them as well?"
# What Claude Code and Codex write of the same: a test that fails, a file that is changed, a command that never ended.
TRANSCRIPTS = {
    "claude-code": [
        {"message": {"content": [
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "pytest tests/test_import.py"}}]}},
        {"message": {"content": [{"type": "tool_result", "tool_use_id": "a", "is_error": True}]}},
        {"timestamp": "2026-01-01T00:00:00Z", "message": {"content": [
            {"type": "tool_use", "id": "b", "name": "Edit", "input": {"file_path": "{folder}/importer.py"}}]}},
        {"message": {"content": [
            {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": f"make quick TOKEN={SECRET}"}}]}},
    ],
    "codex": [
        {"payload": {"type": "function_call", "call_id": "a", "name": "exec_command",
                     "arguments": json.dumps({"cmd": "pytest tests/test_import.py"})}},
        {"payload": {"type": "function_call_output", "call_id": "a", "output": "Process exited with code 1"}},
        {"timestamp": "2026-01-01T00:00:00Z", "payload": {
            "type": "custom_tool_call", "call_id": "b", "name": "apply_patch",
            "input": "*** Begin Patch\n*** Update File: importer.py\n@@\n*** End Patch"}},
        {"payload": {"type": "function_call", "call_id": "c", "name": "shell",
                     "arguments": json.dumps({"command": ["make", "quick", f"TOKEN={SECRET}"]})}},
    ],
}  # fmt: skip


class Shop:
    """A clone of one project, and the sessions of agents in it."""

    def __init__(self, box, folder):
        self.box, self.folder = box, folder
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run([*git, "remote", "add", "origin", "https://example.org/shop.git"], check=True)
        day = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-01T00:00Z")
        first = [*git, "commit", "-q", "--allow-empty", "-m", "Begin"]
        subprocess.run(first, check=True, env=os.environ | day)

    def says(self, session, prompt, reply="", host="claude-code", **more):
        """Have a session be asked something, and answer unless it is killed."""
        payload = {"session_id": session, "cwd": str(self.folder), "prompt_id": prompt, **more}
        hook(self.box, "user-prompt", host, payload | {"prompt": prompt})
        if reply:
            hook(self.box, "stop", host, payload | {"last_assistant_message": reply})

    def starts(self, session, source="startup", host="codex"):
        """Return what a session is given that starts."""
        payload = {"session_id": session, "cwd": str(self.folder), "source": source}
        return context(self.box, "session-start", host, payload)

    def handover(self, *args):
        """Run the verb here."""
        return self.box.memman("handover", *args, cwd=self.folder)


@pytest.fixture
def shop(box, tmp_path):
    """Give a clone in which nothing happened yet."""
    return Shop(box, tmp_path / "shop")


@pytest.mark.parametrize("host", TRANSCRIPTS)
def test_a_killed_session_is_taken_up_by_another_agent(shop, box, tmp_path, host):
    """Word for word, with what it did by its transcript and without secrets; in another clone of the same address."""
    (shop.folder / "importer.py").write_text("")
    os.utime(shop.folder / "importer.py", (0, 0))
    transcript = tmp_path / "transcript.jsonl"
    lines = "\n".join(map(json.dumps, TRANSCRIPTS[host]))
    transcript.write_text(lines.replace("{folder}", str(shop.folder)) + "\n{torn")
    shop.says("s1", "The importer test is flaky, why?", FIXED, host, transcript_path=str(transcript))
    shop.says("s1", f"Yes, and never mock the clock; use {SECRET}.", host=host, transcript_path=str(transcript))
    other = Shop(box, tmp_path / "clone")
    assert "handover accept" in other.starts("s2")
    told = other.handover("accept").stdout
    for said in (
        "user: The importer test is flaky, why?", f"agent: {FIXED}", "user: Yes, and never mock the clock; use [redac",
        "- importer.py: as it was left", "later:\n- pytest tests/test_import.py", "to run:\n- make quick TOKEN=[redac",
    ):  # fmt: skip
        assert said in told
    assert SECRET not in told + (box.data / "queue.db").read_bytes().decode(errors="replace")
    assert "handover accept" not in other.starts("s3")
    assert other.handover("accept").returncode == 3


def test_what_writes_nothing_and_what_cannot_be_read_take_nothing_away(shop, box):
    """With --readonly nobody accepts; where the store is damaged, what was said is handed over all the same."""
    shop.says("s1", "Why is the importer slow?", FIXED)
    assert box.memman("--readonly", "handover", "accept", cwd=shop.folder).returncode == 73
    box.remember("The importer reads CSV.")
    box.drain()
    box.store_path().write_bytes(b"no database" * 999)
    assert FIXED in shop.handover("accept").stdout


def test_of_sixteen_that_accept_one_gets_it(shop, box):
    """All others are told that there is nothing."""
    shop.says("s0", "Why is the importer wrong?", "It reads the wrong column.")
    shop.says("s1", "Why is the importer slow?", FIXED)
    command = [box.script, "handover", "accept"]
    claimants = [
        subprocess.Popen(command, env=box.environ, cwd=shop.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(16)
    ]
    said = [one.communicate(timeout=PATIENCE)[0] for one in claimants]
    assert sorted(one.returncode for one in claimants) == [0] + [3] * 15
    assert sum(FIXED.encode() in one for one in said) == 1


def test_what_is_superseded_or_expired_is_never_offered(shop, box):
    """Only the newest is; not to its own session, nor to one that was cleared, nor in another repository."""
    shop.says("s1", "The first question?", FIXED)
    shop.says("s2", "The second question?", FIXED)
    offered = shop.starts("s3")
    assert ("handover accept" in offered, "question" in offered) == (True, False)
    assert "handover" not in shop.starts("s4", source="clear")
    assert "handover" not in shop.starts("s2", host="claude-code")
    rows = json.loads(shop.handover("list", "--json").stdout)
    assert [(one["session"], one["state"]) for one in rows] == [("s2", "offered"), ("s1", "superseded")]
    assert "second" in shop.handover("show").stdout
    assert "second" in shop.handover("accept").stdout
    assert "handover" not in shop.starts("s6")
    assert shop.handover("accept").returncode == 3
    (row,) = json.loads(shop.handover("list", "--json").stdout)
    assert (row["session"], row["state"]) == ("s1", "superseded")
    shop.says("s1", "The third question?", FIXED)
    told = shop.handover("show").stdout
    assert ("first" in told, "third" in told) == (True, True)
    for left in (box.data / "handovers").iterdir():
        os.utime(left, (time.time() - 8 * 86_400,) * 2)
    assert "handover" not in shop.starts("s7")
    box.drain()
    box.memman("scheduler", "drain")
    assert not [*(box.data / "handovers").iterdir()]


def test_a_torn_file_hides_and_takes_away_nothing(shop, box):
    """Neither a file nor a line of one; of a session without a name memory kept nothing."""
    box.remember("The importer reads CSV.")
    box.drain()
    shop.says("s1", "Why is the importer slow?", FIXED)
    (good,) = (box.data / "handovers").iterdir()
    head, *texts = good.read_text().split("\n")
    nameless = json.dumps(json.loads(head) | {"session": ""})
    good.write_text("\n".join((nameless, texts[0], '{"who":"us', *texts[1:])))
    good.with_name(f"{good.name[:9]}claude-code-Z9").write_text("junk")
    assert "handover accept" in shop.starts("s2")
    (row,) = json.loads(shop.handover("list", "--json").stdout)
    assert row["state"] == "offered"
    told = shop.handover("accept").stdout
    assert ("importer slow" in told, FIXED in told, "reads CSV" in told) == (True, True, False)


def test_a_long_session_is_cut_to_its_last_words(shop):
    """At most so many words, the newest, and of the oldest text its end."""
    for number in range(12):
        shop.says("s1", f"Question {number}: " + "why " * 300, "because " * 300)
    told = shop.handover("accept").stdout
    assert len(told.split()) <= WORDS + 20
    assert ("Question 11" in told, "Question 5:" in told) == (True, False)


def test_what_is_purged_or_not_to_be_kept_is_not_handed_over(shop, box):
    """A purge takes what says its words; where nothing is captured nothing is left."""
    shop.says("s1", "The heronbyx canary sings in hall 7.", "Noted.")
    box.remember("The heronbyx canary sings in hall 7.")
    box.drain()
    for uid in box.store("SELECT uid FROM memory WHERE text LIKE '%heronbyx%'"):
        assert box.memman("purge", uid).returncode == 0
    assert not [*(box.data / "handovers").iterdir()]
    for mode in ("off", "ask"):
        box.configure(CAPTURE=mode)
        shop.says("s1", "The importer is slow.", FIXED)
        assert not [*(box.data / "handovers").iterdir()]


def test_an_agent_whose_commands_name_no_session_gets_another_s_and_not_its_own(shop, box):
    """What it left last is of the very turn in which it asks."""
    shop.says("old", "Split the tariff table.", host="gemini")
    shop.says("new", "Go on where we were.", host="gemini")
    box.environ["MEMMAN_AGENT"] = "gemini"
    assert "Split the tariff table." in shop.handover("accept").stdout


def _ran(number, folder, command):
    """Return what Claude Code writes of a command that failed."""
    use = {"type": "tool_use", "id": number, "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": number, "is_error": True}
    return [{"cwd": folder, "message": {"content": [part]}} for part in (use, result)]


def test_nothing_is_handed_over_of_another_repository(shop, box, tmp_path):
    """Neither what was said there, nor its files, commands and memories, wherever the session was when it did that."""
    other = tmp_path / "kessler"
    (other / ".git").mkdir(parents=True)
    (shop.folder / "vendor" / "kessler" / ".git").mkdir(parents=True)
    (shop.folder / "src").mkdir()
    (shop.folder / "link").symlink_to(other)
    here, there = str(shop.folder), str(other)
    edits = (f"{there}/kessler.py", "../kessler/wages.py", "link/kessler2.py", f"{here}/vendor/kessler/a.py", "mine.py")
    commands = (
        f"cd {there} && ./run", "cd ../kessler; make", "make -C ../kessler", "make -C../kessler", "cd link && make x",
        "npm test --prefix=../kessler", "cd vendor/kessler && make y", "python -c \"open('../kessler/z')\"",
        "cd src/.. && cd ../kessler && make w", 'cd "$KESSLER" && make',
    )  # fmt: skip
    own = ("make check", "cd src && make all", "curl https://example.org/x", f"ls {here}/src 2>/dev/null")
    runs = [(there, "./kessler-payroll")] + [(here, command) for command in (*commands, *own)]
    lines = [
        {"cwd": here, "message": {"content": [
            {"type": "tool_use", "id": f"e{n}", "name": "Edit", "input": {"file_path": path}}]}}
        for n, path in enumerate(edits)
    ]  # fmt: skip
    for n, (folder, command) in enumerate(runs):
        lines += _ran(f"r{n}", folder, command)
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)))
    first = {"cwd": there, "transcript_path": str(transcript)}
    shop.says("s1", "From now on we always archive contracts of Kessler in Bern.", "Kessler: done.", **first)
    shop.says("s1", "From now on we always tag releases of the shop.", "Done.", transcript_path=str(transcript))
    box.drain()
    assert len(box.store("SELECT 1 FROM memory")) == 2
    told = shop.handover("accept").stdout
    assert "kessler" not in told.lower()
    for said in ("tag releases", "- mine.py: ", *(f"- {command}" for command in own)):
        assert said in told
