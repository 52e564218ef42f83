"""Two machines, each offline for a week, know the same after two rounds; a round killed anywhere loses nothing."""

import random
import signal

import pytest

from tests.support.machines import apart, carry, differing, done, pair, told
from tests.support.portable import REPOSITORIES, lines

WEEK_MS = 7 * 86_400_000
POINTS = ("before:sync", "sync:named", "sync:purged", "sync:added", "sync:taken", "sync:reconciled", "sync:packed",
          "sync:written", "sync:said")  # fmt: skip
SERVICES = ("billing", "search", "ledger", "mailer", "orders", "gateway", "reports", "archive")
# What a week has, in hundredths: of these the rest are new facts.
VERBS = {"forget": 8, "scope": 6, "protect": 6, "purge": 3, "rule": 3, "replace": 8, "conflict": 10}


def week(box, seed, changes):
    """Have a person work on a machine for a week: facts, changes of mind, contradictions of the other machine."""
    chance = random.Random(seed)
    began = 1_700_000_000_000
    facts = [(name, one["text"]) for name in REPOSITORIES for one in lines(name)[20 + seed :: 2]]
    chance.shuffle(facts)
    for n in range(changes):
        verb = chance.choices([*VERBS, "add"], [*VERBS.values(), 100 - sum(VERBS.values())])[0]
        at = began + n * WEEK_MS // changes + seed
        known = box.store("SELECT uid FROM memory WHERE status = 'current' ORDER BY uid")
        uid = chance.choice(known)
        if verb == "add" and facts:
            name, text = facts.pop()
            box.remember(
                text, repository=f"example.org/{name}", session=f"{seed}-{n // 9}", agent="codex", queued_at=at
            )
        elif verb in {"add", "conflict"}:
            service = chance.choice(SERVICES)
            text = f"The {service} database runs on port {chance.randrange(3000, 9000)}."
            box.remember(text, repository="example.org/harbor", queued_at=at)
        elif verb == "replace":
            box.remember(f"It was decided otherwise on day {n}.", replaces=uid, repository="example.org/quill")
        elif verb == "rule":
            done(box, "rule", "add", f"Say so before step {seed}{n}.", "--match", f"deploy-{seed}-{n} *")
        else:
            args = {
                "forget": ("forget", uid),
                "scope": ("scope", "move", uid, "--to", chance.choice(("personal", "example.org/harbor"))),
                "protect": ("insights", "protect", uid),
                "purge": ("purge", uid),
            }[verb]
            done(box, *args)
        if n % 25 == 24:
            done(box, "scheduler", "drain")
    done(box, "scheduler", "drain")


@pytest.mark.slow
@pytest.mark.promise("R24")
def test_two_weeks_offline_are_one_memory_after_two_rounds(box, rounds, kept):
    """What each knows of every memory, rule and note is equal; the next round has nothing to say."""
    changes = rounds(16, 500)
    one, other = apart(box)
    for name in REPOSITORIES:
        for fact in lines(name)[:20]:
            one[0].remember(fact["text"], repository=f"example.org/{name}", session=name, agent="codex")
    done(one[0], "scheduler", "drain")
    done(one[0], "sync")
    done(other[0], "sync")
    carry(one, other)
    done(other[0], "sync")
    assert differing(one[0], other[0]) == []
    week(one[0], 0, changes)
    week(other[0], 1, changes)
    differed = differing(one[0], other[0])
    carry(one, other)
    done(one[0], "sync")
    done(other[0], "sync")
    assert differed
    carry(one, other)
    done(one[0], "sync")
    done(other[0], "sync")
    assert differing(one[0], other[0]) == []
    for each, _ in (one, other):
        assert each.store("PRAGMA integrity_check") == ["ok"]
    carry(one, other)
    assert done(one[0], "sync") == done(other[0], "sync") == "0 records written, 0 taken in\n"
    superseded = one[0].store("SELECT count(*) FROM memory WHERE status = 'superseded'")[0]
    total = one[0].store("SELECT count(*) FROM memory")[0]
    kept(f"{changes} changes a side: {total} memories equal, {superseded} superseded")


@pytest.mark.slow
@pytest.mark.promise("R24")
def test_a_round_killed_at_any_point_is_finished_by_the_next(box, rounds, kept):
    """Whatever a machine had said, and whatever it had taken in, nothing is lost and both end alike."""
    one, other, folder = pair(box)
    dead = 0
    for n in range(rounds(1, 10)):
        for point in POINTS:
            # Either machine at every point; in the short form they take turns.
            for victim, peer in ((one, other), (other, one))[POINTS.index(point) % 2 :: rounds(2, 1)]:
                service = SERVICES[(dead + n) % len(SERVICES)]
                # What is told is drained, and said, while the folder is away.
                folder.rename(folder.parent / "away")
                told(victim, f"The {service} database runs on port {3000 + dead}.")
                told(peer, f"The {service} database runs on port {6000 + dead} now.")
                gone = peer.store("SELECT uid FROM memory WHERE status = 'superseded' ORDER BY uid LIMIT 1")
                if gone and point == "sync:purged":
                    done(peer, "purge", *gone)
                (folder.parent / "away").rename(folder)
                done(peer, "sync")
                killed = victim.start(victim.script, "sync", MEMMAN_FAILPOINT=point)
                killed.communicate()
                assert killed.returncode == -signal.SIGKILL, point
                dead += 1
                done(victim, "sync")
                done(peer, "sync")
                done(victim, "sync")
                assert differing(victim, peer) == [], point
                assert victim.store("PRAGMA integrity_check") == peer.store("PRAGMA integrity_check") == ["ok"]
                # One memory a machine and round, but for the purged.
                assert len(victim.store("SELECT 1 FROM receipt")) == 2 * dead
    kept(f"{dead} rounds killed at {len(POINTS)} points: 0 lost, states equal after the next")
