"""Facts that change: the bench of what recall tells afterwards."""

from bench.updates import changes, measure, table


def test_what_holds_now_is_told_first_and_nothing_old_above_it(tmp_path):
    """After forty changes in eight wordings recall tells the new fact, where plain search tells the old one."""
    said = changes(40)
    assert len({one.question for one in said}) == 40
    figures = measure(said, str(tmp_path))
    ours, plain = figures["rankers"]["memman"], figures["rankers"]["BM25"]
    assert ours["hit@1"] >= 97
    assert ours["R@5"] >= plain["R@5"] - 3
    assert ours["old above new"] == 0
    assert plain["old above new"] > 50
    assert "memman" in table(figures)
