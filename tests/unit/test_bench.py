import os
import sys

import pytest

from bench import corpus, process, stores, targets
from bench.targets import Figure, Target


def test_the_corpus_is_the_same_every_time():
    """Notes depend on nothing but their number, wherever one begins."""
    whole = list(corpus.notes(0, 200))
    assert list(corpus.notes(0, 200)) == whole
    assert list(corpus.notes(57, 90)) == whole[57:147]
    assert whole[0].text == (
        "license_shard.bridge uses Twilio 18.8.8 for its inactive triggers, not Vue.\n\nThe outage of"
        " MediaPricingRouter was caused by malformed secrets that cart-queue-loader splits twice."
    )


def test_selective_queries_name_a_component_of_the_first_notes():
    """Every selective query has something to find, in the smallest store too."""
    said = " ".join(note.text for note in corpus.notes(0, 1_000))
    for query in corpus.selective(24):
        assert any(word in said for word in query.split() if word in corpus.NAMES)


def test_process_timing_is_sane():
    """A process takes time and memory, and one that sleeps takes little of the processor."""
    env = {"PATH": os.defpath}
    cases = {
        "bare": ([[sys.executable, "-c", "pass"]], env),
        "sleep": ([[sys.executable, "-c", "import time; time.sleep(0.2)"]], env),
    }
    timings = process.measure(cases, 3, os.getcwd())
    assert timings["bare"].wall > 0
    assert timings["sleep"].wall >= 200
    assert timings["sleep"].cpu < timings["sleep"].wall
    assert 2 < timings["bare"].peak < 100


def test_process_timing_is_not_that_of_the_caller():
    """A child's peak memory does not begin at its parent's."""
    ballast = bytearray(200_000_000)
    timing = process.measure({"bare": ([[sys.executable, "-c", "pass"]], {})}, 2, os.getcwd())["bare"]
    assert timing.peak < len(ballast) / 2**20 / 2


def test_a_process_reads_what_it_is_given(tmp_path):
    """A case may name files that its commands read in turn."""
    for n in range(2):
        (tmp_path / f"{n}").write_text(str(n))
    code = f"import sys; open({str(tmp_path / 'seen')!r}, 'a').write(sys.stdin.read())"
    sources = [str(tmp_path / "0"), str(tmp_path / "1")]
    process.measure({"reads": ([[sys.executable, "-c", code]], {}, sources)}, 2, os.getcwd())
    assert (tmp_path / "seen").read_text() == ("01" * 3)[: process.WARM_UP + 2]


def test_a_command_that_fails_is_no_measurement():
    """A wrong exit code stops the bench instead of looking fast."""
    with pytest.raises(process.Failed, match="exit 3"):
        process.measure({"bad": ([[sys.executable, "-c", "raise SystemExit(3)"]], {})}, 1, os.getcwd())


def test_rows_that_were_not_measured_are_shown():
    """A partial run prints the whole table and claims nothing about the rest."""
    found = targets.rows({"drain-slow": Figure(31.0)})
    assert len({row["key"] for row in found}) == len(found) == len(targets.TARGETS)
    assert [row["key"] for row in found if row["met"] is not None] == ["drain-slow"]
    assert targets.table({}).count("not measured") == len(targets.TARGETS)


def test_a_target_is_met_only_when_every_limit_is_kept():
    """Ratio and memory both count; a figure without them has not met a limit on them."""
    target = Target("x", "x", "ms", bare=2, mib=15)
    assert target.reach == "≤ 2 x bare, ≤ 15 MiB"
    assert target.met(Figure(10, bare=1.9, peak=12)) is True
    assert target.met(Figure(10, bare=1.9, peak=16)) is False
    assert target.met(Figure(10)) is False
    assert Target("x", "x", "notes/s", least=150).met(Figure(149)) is False
    assert Target("x", "x", "notes/s").met(Figure(149)) is None


def test_a_store_is_filled_through_the_product_and_kept(tmp_path):
    """A store of the size that was asked for is made by the pipeline's own stages, and found the next time."""
    made = stores.build(str(tmp_path), [40])
    assert stores.known(str(tmp_path), 40)
    stores.place(str(tmp_path), 40, str(tmp_path / "data"))
    assert made[40] == stores.build(str(tmp_path), [40])[40]
    assert (tmp_path / "data/data/default/memman.db").stat().st_size > 0
