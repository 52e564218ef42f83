"""What doctor says of who starts drains."""

import json

from memman.config.schedule import Schedule
from memman.locks import alone
from tests.support.nursery import PATIENCE
from tests.unit.doctor.looking import found


def test_who_starts_drains(box, monkeypatch):
    """Nobody, a switch that keeps writes from it, a loop that is not running: each is said as it is."""
    assert found(box, "scheduler") == [("warn", "MEMMAN_DRAIN=off keeps writes from starting drains")]
    monkeypatch.delenv("MEMMAN_DRAIN")
    assert found(box, "scheduler") == [("ok", "each write starts a drain")]
    Schedule("nobody").save(str(box.data))
    assert found(box, "scheduler") == [("warn", "nothing starts drains: notes stay queued until you run one")]
    Schedule("serve", 60).save(str(box.data))
    assert found(box, "scheduler") == [("warn", "`memman scheduler serve` is not running")]
    assert not (box.data / "serve.lock").exists()
    with alone(str(box.data), "serve.lock", "busy"):
        assert found(box, "scheduler") == [("ok", "`memman scheduler serve` is running")]


def test_a_manager_that_does_not_answer_is_a_warning(box):
    """Units may be sound though systemd is out of reach, as in a `su` session; missing files fail."""
    box.data.mkdir(mode=0o700)
    Schedule("systemd", 60).save(str(box.data))
    environ = box.environ | {"PATH": str(box.data)}
    done = box.start(box.script, "doctor", "--json", "--check", "scheduler", **environ)
    findings = json.loads(done.communicate(timeout=PATIENCE)[0])["findings"]
    assert {finding["status"] for finding in findings} == {"fail", "warn"}
    assert all("memman scheduler install" in f["mend"] for f in findings if f["status"] == "fail")
    assert any("does not answer" in finding["says"] for finding in findings)
