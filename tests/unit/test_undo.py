"""What a session, a drain or a note did is taken back, and that again: recall cannot tell that it ever was."""

import json

TOPICS = ("billing", "search", "login", "export", "mail", "cache", "proxy", "queue", "report", "upload")
PLACES = ("Fly.io", "Render", "Vercel", "Coolify", "Hetzner")
QUESTIONS = [f"{ask} {topic}" for topic in TOPICS for ask in ("where is", "who owns", "port of", "history", "why")]


def filled(box, each=20):
    """Store two hundred memories, among them some in sessions; then let a day's work confirm a few."""
    for number in range(each):
        for place, topic in enumerate(TOPICS):
            kinds = (
                f"The {topic} service number {number} runs on {PLACES[(number + place) % 5]}.",
                f"{topic.title()} job {number} listens on port {8000 + 10 * number + place}.",
                f"Sara owns the {topic} service."
                if number == 2
                else f"The {topic} report {number} is due on day {place}.",
                f"We chose Postgres {number} for {topic} because MySQL lost rows {place + 2} times.",
            )
            box.remember(kinds[number % 4], agent="tester", session=f"s{number % 7}")
    box.drain()


def poison(box, session="evil"):
    """Have a session write thirty notes: new facts, corrections, doubtful ones, and what is known already."""
    around = {"agent": "tester", "session": session}
    for number in range(10):
        topic = TOPICS[number]
        box.remember(
            f"We moved the {topic} service number 4 from {PLACES[(4 + number) % 5]} to Mars-{number}.", **around
        )
        box.remember(f"Tom owns {topic} now.", **around)
        box.remember(
            f"{topic.title()} job 1 listens on port {8010 + number}."
            if number % 2
            else f"Kestrel-{number} is also called {topic.title()}bird and blocks the {topic} queue.",
            **around,
        )
    box.drain()


def asked(box):
    """Return what fifty recalls print."""
    said = [box.memman("recall", "--json", question).stdout for question in QUESTIONS]
    (box.data / "shown.log").unlink()  # or the next drain counts what these have shown
    return said


def state(box):
    """Return all that undo must bring back."""
    return {
        "memory": box.store(
            "SELECT id, text, status, valid_from, valid_to, superseded_by, origin, digest FROM memory"
            " WHERE status <> 'forgotten' ORDER BY id"
        ),
        "entity": sorted(box.store("SELECT name, count FROM entity")),
        "mention": sorted(box.store("SELECT name, memory FROM mention JOIN entity ON id = entity")),
        "meta": box.store(
            "SELECT key, value FROM meta WHERE key NOT GLOB 'undo:*' AND key NOT GLOB 'filled:*' ORDER BY 1"
        ),
        "causal": box.store(
            "SELECT * FROM link WHERE kind = 2 AND src IN (SELECT id FROM memory WHERE status <> 'forgotten')"
            " AND dst IN (SELECT id FROM memory WHERE status <> 'forgotten') ORDER BY 1, 2, 3"
        ),
        "evidence": box.store("SELECT * FROM evidence ORDER BY 1, 2, 3"),
        "vector": box.store(
            "SELECT * FROM vector WHERE memory IN (SELECT id FROM memory WHERE status <> 'forgotten') ORDER BY 1, 2"
        ),
        "code": box.store("SELECT * FROM code WHERE cell >= 0 ORDER BY 1, 2, 3"),
    }


def test_a_poisoned_session_is_undone_and_that_too(box):
    """Fifty recalls print the same bytes after the undo as before the session, and after its undo as before it."""
    filled(box)
    clean, before = asked(box), state(box)
    (last,) = box.store("SELECT max(id) FROM log")
    poison(box)
    poisoned, worse = asked(box), state(box)
    verbs = dict(box.store("SELECT verb, count(*) FROM log WHERE id > ? GROUP BY 1", last))
    assert verbs.keys() >= {"add", "supersede", "doubt", "confirm"}, verbs
    assert sum(one != other for one, other in zip(clean, poisoned, strict=True)) > 20
    dry = json.loads(box.memman("undo", "--session", "evil", "--dry-run", "--json").stdout)
    assert state(box) == worse
    report = undone(box, "--session", "evil")
    assert dry | {"id": report["id"]} == report
    assert (asked(box), state(box)) == (clean, before)
    box.drain()
    assert (asked(box), state(box)) == (clean, before)
    undone(box, report["id"])
    assert (asked(box), state(box)) == (poisoned, worse)
    assert box.memman("doctor", "--check", "integrity").returncode == 0
    assert box.store("SELECT count(*) FROM log WHERE verb = 'undo'") == [2]


def undone(box, *args):
    """Run an undo and return its report."""
    done = box.memman("undo", *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
