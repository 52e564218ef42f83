"""From the index to the whole text: what recall's lines cost, what they leave out, and where their ids lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.recall.render import lines, tokens
from tests.support import memories

SAID = (
    "Logs go to Loki with a retention of 14 days, and alerts go to the channel #ops; the retention was shortened from"
    " 30 days since the bill for storage doubled in March, and nobody had looked at logs older than ten days, which we"
    " know from the access logs that Tom exported."
)
# As a model may write it: the built-in one parts a text that is so long.
LONG = f"{SAID} Audit trails are another matter{', and so on' * 20}."
MEDIUM = (
    "The exporter of metrics runs as a sidecar in each pod, since the node's own one was too slow; its port is 9187,"
)
MEDIUM += (
    " the dashboards read from the replica, and whoever adds a metric names the panel that shows it in the same commit."
)
SHORT = "Grafana shows the logs of the last 14 days."
NOW = 1_800_000_000_000
QUERY = "logs retention"


def hit(text, uid="deadbeef00", summary=""):
    """Make a hit as recall does."""
    return memories.hit(memories.row(text, uid=uid, summary=summary, valid_from=NOW, recorded_at=NOW))


def written(texts, budget):
    """Return the lines for hits with these texts."""
    return lines([hit(text) for text in texts], NOW, "words", budget)


TEXTS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300) | st.just(LONG), max_size=6)


@given(TEXTS, st.integers(1, 400))
def test_a_budget_is_never_exceeded(texts, budget):
    """All that is printed costs at most the budget; a larger budget shows no fewer hits."""
    shown = written(texts, budget)
    assert sum(map(tokens, shown)) <= budget
    assert len(shown) <= len(written(texts, budget + 50))
    everything = written(texts, None)
    if sum(map(tokens, everything)) <= budget:
        assert shown == everything


@given(st.integers(1, 120))
def test_a_first_hit_that_is_too_large_is_cut(budget):
    """The first hit is cut to its beginning rather than left out, and to no less than the budget has room for."""
    shown = written([LONG, SHORT], budget)
    whole = written([LONG], None)
    least = written([LONG[0] + "…"], None)
    if budget < tokens(least[0]):
        assert shown == []
    elif budget < tokens(whole[0]):
        (line,) = shown
        assert line.endswith("…")
        assert whole[0].startswith(line[:-1])
        assert tokens(whole[0][: len(line) + 10] + "…") > budget


@pytest.fixture
def kept(box):
    """Give a box whose store holds a long memory, which has a summary, and a short one."""
    for text in (SAID, SHORT):
        box.remember(text)
    box.drain()
    box.alter("UPDATE memory SET text = ? WHERE text = ?", LONG, SAID)
    return box


def test_recall_says_what_a_budget_left_out(kept):
    """Hits that do not fit are counted on standard error, never silently dropped."""
    assert kept.memman("recall", QUERY, "--budget", "500").stderr == ""
    done = kept.memman("recall", QUERY, "--budget", "30")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == "memman: 1 of 2 hits do not fit into --budget 30\n"
    none = kept.memman("recall", QUERY, "--budget", "1")
    assert (none.stdout, none.stderr) == ("", "memman: 2 of 2 hits do not fit into --budget 1\n")


def test_a_budget_is_for_lines(kept):
    """JSON has all that is known of each hit: one line says what to do instead."""
    done = kept.memman("recall", QUERY, "--json", "--budget", "500")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("leave it out with --json, or give --limit\n")


def test_only_what_was_printed_counts_as_shown(kept):
    """A memory that the budget left out is not recorded as shown."""
    kept.memman("recall", QUERY, "--budget", "30")
    (record,) = (kept.data / "shown.log").read_text().splitlines()
    assert len(record.split()) == 6


def test_the_index_shows_a_summary_and_the_rest_on_request(kept):
    """A long memory is one short line that ends in …, and whole where it is shown by its id."""
    (line,) = [line for line in kept.memman("recall", QUERY).stdout.splitlines() if "Loki" in line]
    assert line.endswith(" user: Logs go to Loki with a retention of 14 days…")
    assert LONG in kept.memman("show", line[:8]).stdout


def test_what_answers_a_question_is_told_though_the_question_does_not_say_it(box):
    """A text of a few sentences is told whole, though its first clause has all that was asked for."""
    box.remember(MEDIUM)
    box.drain()
    assert MEDIUM in box.memman("recall", "where does the exporter of metrics run, and on which port").stdout


def test_a_summary_hides_nothing_that_was_asked_for(kept):
    """Where the summary lacks a word of the question that the text has, the text is shown."""
    assert LONG in kept.memman("recall", "retention of the logs that Tom exported").stdout
    assert "exported" not in kept.memman("recall", "retention of the logs of Grafana").stdout


WORDS = st.lists(st.sampled_from("heron redis cache disk loki 30".split()), max_size=6)


@given(WORDS, WORDS, WORDS)
def test_a_shortened_line_holds_each_word_asked_for(summary, rest, query):
    """Whatever the summary says, no word of the query that the text holds is missing from the line."""
    one = hit(" ".join([*summary, *rest]), summary=" ".join(summary))
    (line,) = lines([one], NOW, " ".join(query), None)
    assert {*query} & {*summary, *rest} <= {*line.rstrip("…").split()}


def test_an_id_that_recall_prints_is_taken_everywhere(kept):
    """What the index names can be shown, walked from, placed in time, protected, replaced and forgotten."""
    name = kept.memman("recall", QUERY).stdout[:8]
    for verb in (
        ["show"],
        ["graph", "related"],
        ["list", "--around"],
        ["log", "list", "--memory"],
        ["insights", "protect"],
    ):
        done = kept.memman(*verb, name)
        assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
    assert kept.memman("replace", name, "Logs go to Loki.").returncode == 0
    assert kept.memman("forget", name).returncode == 0
    waiting = kept.memman("recall", "Loki pending logs").stdout
    (note,) = [line[:8] for line in waiting.splitlines() if "pending" in line]
    assert "Logs go to Loki." in kept.memman("show", note).stdout
    assert kept.memman("forget", note).returncode == 0


def test_related_begins_with_what_has_to_do_with_it(kept):
    """Among the neighbours in the graph a cause comes before what only happened at the same time."""
    texts = {text: uid for uid, text in kept.store("SELECT uid, text FROM memory")}
    kept.remember("Anna owns the schema.")
    kept.drain()
    anna = kept.store("SELECT uid FROM memory WHERE text LIKE 'Anna%'")[0]
    kept.memman("graph", "link", anna, texts[SHORT], "--type", "causal", "--weight", "0.2")
    shown = kept.memman("graph", "related", texts[SHORT][:8]).stdout.splitlines()
    assert shown[1].split()[2] == "causal"
    assert "temporal" in shown[-1]


def test_related_marks_what_no_longer_holds(kept):
    """A neighbour that was superseded says so."""
    old = kept.store("SELECT uid FROM memory WHERE text = ?", SHORT)[0][:8]
    kept.memman("replace", old, "Grafana shows the logs of the last 30 days.")
    kept.drain()
    other = kept.store("SELECT uid FROM memory WHERE text = ?", LONG)[0][:8]
    assert f"(superseded) {SHORT}" in kept.memman("graph", "related", other).stdout
