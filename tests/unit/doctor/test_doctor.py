"""Doctor as a whole: what it leaves alone, how it goes on where something is broken, and what people read."""

import hashlib
import json
import subprocess

from memman.doctor import CHECKS
from memman.doctor.finding import LONGEST
from tests.support.box import Box


def doctor(box, *args, code=0):
    """Run doctor; return its findings."""
    done = box.memman("doctor", "--json", *args)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)["findings"]


def tree(folder):
    """Return every file below a folder with its mode and content."""
    return {
        str(path): (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in [folder, *folder.rglob("*")]
        if not path.name.endswith(("-shm", "-wal"))
    }


def test_memman_that_was_only_installed_by_pip_has_yet_to_be_wired(box):
    """Before any set-up nothing fails and nothing is made, but it is not healthy: no agent is wired."""
    findings = doctor(box)
    assert {finding["check"] for finding in findings} == set(CHECKS)
    assert {finding["status"] for finding in findings} == {"ok", "skipped", "warn"}
    assert "agents" in [finding["check"] for finding in findings if finding["status"] == "warn"]
    assert not box.data.exists()
    assert box.memman("doctor").stdout.splitlines()[-1].startswith("0 failures, ")


def test_doctor_changes_nothing(box):
    """Every file below the home folder is as it was."""
    box.remember("The heron nests.")
    box.drain()
    assert box.memman("install", "--no-wizard", "--target", "claude-code", "--target", "codex").returncode == 0
    before = tree(box.data.parent)
    doctor(box)
    assert tree(box.data.parent) == before


def test_commands_are_named_so_that_they_run(box, tmp_path):
    """Where memman is not on the PATH, or another one is, what mends a fault names it by its path and works."""
    box.remember("The heron nests.")
    box.queue("UPDATE note SET state = 'parked', error = 'Odd: x'")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/memman").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "bin/memman").chmod(0o755)
    for path in ("/usr/bin:/bin", f"{tmp_path}/bin:/usr/bin:/bin"):
        elsewhere = Box(box.data, box.environ | {"PATH": path})
        (finding,) = doctor(elsewhere, "--check", "queue")
        assert finding["mend"].startswith(box.script)
        assert f"`{box.script} scheduler" in finding["hint"]
    ran = subprocess.run(["/bin/sh", "-c", finding["mend"]], env=elsewhere.environ, check=False, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    assert [found["status"] for found in doctor(elsewhere, "--check", "queue")] == ["ok"]


def test_people_read_lines_of_bounded_length(box):
    """One line per finding, what mends it below, and a verdict at the end, however much an error says."""
    box.remember("The heron nests.")
    box.drain()
    long = json.dumps({"exit_code": 24, "errors": ["a line\nof an error " * 100]})
    box.queue(f"INSERT OR REPLACE INTO meta VALUES ('last_drain', '{long}')")
    done = box.memman("doctor", "--check", "drains")
    assert done.returncode == 1
    says, note, mend, verdict = done.stdout.splitlines()
    assert says.startswith("FAIL  drains     the last drain failed: a line of an error a line of an error")
    assert (len(says) < LONGEST + 20, says[-1]) == (True, "…")
    assert note.strip().startswith("note: ")
    assert mend.strip().endswith("scheduler drain")
    assert verdict == "1 failure, 0 warnings"


def test_checks_are_chosen_by_name(box):
    """--check narrows to some checks, in doctor's own order; an unknown one is refused."""
    assert [f["check"] for f in doctor(box, "--check", "queue", "--check", "folder")] == ["folder", "queue"]
    assert box.memman("doctor", "--check", "moon").returncode == 2


def test_a_file_where_the_data_folder_should_be(box):
    """That is the one failure; the other checks have nothing to look at."""
    box.data.write_text("in the way")
    failed = [finding for finding in doctor(box, code=1) if finding["status"] == "fail"]
    assert [(finding["check"], finding["hint"] != "") for finding in failed] == [("folder", True)]


def test_a_check_that_cannot_work_says_so_and_the_others_go_on(box):
    """A folder where the queue should be is said once, by the first check that needs it; all have a say."""
    (box.data / "queue.db").mkdir(parents=True, mode=0o700)
    box.data.chmod(0o700)
    findings = doctor(box, code=1)
    assert {finding["check"] for finding in findings} == set(CHECKS)
    assert {f["check"] for f in findings if f["status"] == "fail"} == {"integrity"}
    assert {f["status"] for f in findings if f["check"] in {"queue", "drains"}} == {"skipped"}
