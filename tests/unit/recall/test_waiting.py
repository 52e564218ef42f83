"""Notes that wait to be drained: found by the time they are of, and in a sane place among hits."""

import time

import pytest

from memman.hot.recall_session import _merged
from tests.support import memories
from tests.support.hook_calls import context

DAY = 86_400_000


@pytest.mark.parametrize("drained", [False, True], ids=["no store yet", "a store"])
def test_what_was_noted_a_minute_ago_is_of_today(box, drained):
    """A question for a time alone is answered by whatever waits of that time, and by nothing else that waits."""
    if drained:
        box.remember("The invoices are sent by a new mailer.")
        box.drain()
    box.remember("The importer reads Parquet.")
    late = box.queue("SELECT max(id) FROM note")[0]
    box.queue("UPDATE note SET queued_at = queued_at - ?, digest = NULL WHERE id = ?", 40 * DAY, late)
    box.remember("Alice took over the mobile app.")
    hits = box.hits("what did we decide today?")
    assert [hit.row.text for hit in hits if hit.pending] == ["Alice took over the mobile app."]
    assert not any(hit.doubtful for hit in hits)
    assert len(hits) == 1 + drained


def test_the_words_of_a_time_do_not_count_against_a_note(box):
    """A note that holds half of what is asked for is found, whatever time is asked for along with it."""
    box.remember("The auth tokens live an hour.")
    assert box.recall("auth lifetime in the last three days") == ["The auth tokens live an hour."]


def test_a_note_that_holds_little_of_the_question_is_not_shown(box):
    """Half of the question's words bring up a note that waits; one in four does not."""
    box.remember("The invoices wait for a mailer.")
    box.remember("The importer writes invoices as Parquet.")
    assert box.recall("invoices importer Parquet schema") == ["The importer writes invoices as Parquet."]


def test_of_notes_that_answer_alike_that_of_the_time_is_first(box):
    """The time that a question names orders what waits, too."""
    for n in range(3):
        box.remember(f"The auth service moved to host {n}.")
    box.queue("UPDATE note SET queued_at = queued_at - ?, digest = NULL WHERE id <> 2", 40 * DAY)
    assert box.recall("where did the auth service move today")[0].endswith("host 1.")


def sure(confidence, score, *, pending=False):
    """Give a hit."""
    return memories.hit(memories.row(status="pending" if pending else "current"), score, confidence)


def test_what_waits_stands_before_the_first_stored_hit_that_it_is_as_sure_as():
    """Scores of stored hits depend on times and factors that notes know nothing of; confidence compares."""
    better, middling, worse = sure(0.97, 0.6), sure(0.5, 1.2), sure(0.2, 0.4)
    clear, weak = sure(0.8, 1.0, pending=True), sure(0.3, 0.5, pending=True)
    assert _merged([better, middling, worse], [clear, weak]) == [better, clear, middling, weak, worse]
    assert _merged([], [clear]) == [clear]


def test_a_note_that_answers_is_first_and_one_that_touches_is_not(box):
    """What answers the question stands first, stored or waiting."""
    box.remember("The nightly backup of the billing database runs at two.")
    box.drain()
    box.remember("The nightly build breaks.")
    question = "when does the nightly backup of the billing database run"
    assert "backup" in box.recall(question)[0]
    box.remember("The nightly backup of the billing database runs at three since Monday.")
    assert "three" in box.recall(question)[0]


def test_a_note_whose_time_is_over_before_it_is_drained_says_so(box):
    """Recall labels it like a memory, and no prompt brings it up."""
    text = "Deploys to production are frozen."
    box.remember(text, ends_at=time.time_ns() // 1_000_000 - 7_200_000)
    assert "pending, past its end 2h ago" in box.memman("recall", "are deploys to production frozen").stdout
    asked = {"session_id": "s", "prompt": "Are deploys to production frozen?"}
    assert text not in context(box, "user-prompt", "codex", asked)
