"""What differs from a memory in capitals or signs only is another fact: it is stored, and shown."""

import pytest

from memman.model.terms import respelled
from memman.pipeline.comparison import same

RESPELLED = [
    ("Unpack the backup with `tar -c`.", "Unpack the backup with `tar -C`."),
    ("Clear the folder with rm -r.", "Clear the folder with rm -R."),
    ("The config is /etc/App/main.conf.", "The config is /etc/app/main.conf."),
    ("The field is called userId.", "The field is called userid."),
    ("The class to use is HttpClient.", "The class to use is HTTPClient."),
    ("Set the Path variable before the build.", "Set the PATH variable before the build."),
    ("The upload limit is 5 Mb.", "The upload limit is 5 MB."),
    ("Git ignores *.log here.", "Git ignores .log here."),
    ("Ask IT for the laptop.", "Ask it for the laptop."),
    ("The US servers are slow.", "The us servers are slow."),
    ("Stage the files with git add .", "Stage the files with git add"),
    ("Stage the files with `git add .` first.", "Stage the files with `git add` first."),
    ("The hook is called __init__.", "The hook is called init."),
    ("Run the linter with -v.", "Run the linter with --v."),
    ("The header is X-Request-Id.", "The header is X-Request-ID."),
    ("The home folder is ~/bin.", "The home folder is /bin."),
    ("The variable is $HOME.", "The variable is HOME."),
    ("Log in as Admin2.", "Log in as admin2."),
]
SAME = [
    ("We use `uv`.", "we use uv"),
    ("Redis caches sessions.", "redis caches sessions"),
    ("Don't push to main.", "don't push to main"),
    ("We use **Redis** for caching.", "We use Redis for caching."),
    ("The branch is (main).", "The branch is main."),
]


@pytest.mark.parametrize(("one", "other"), RESPELLED)
def test_other_capitals_or_signs_make_another_fact(one, other):
    """Neither is known by the other, or stands for it in what is shown."""
    for new, old in ((one, other), (other, one)):
        assert respelled(new, old)
        assert not same(new, old)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_marks_and_capitals_of_plain_words_do_not(one, other):
    """Quotes, bold type and the capital that begins a sentence tell nothing."""
    for new, old in ((one, other), (other, one)):
        assert not respelled(new, old)
        assert same(new, old)


def test_a_no_set_off_by_a_comma_is_another_no():
    """Who says "No, tabs" asks for what "No tabs" forbids; a comma amid a sentence says nothing."""
    assert not same("No tabs.", "No, tabs.")
    assert same("It retries, then parks.", "it retries then **parks**")


@pytest.mark.parametrize(("old", "new"), RESPELLED[:10])
def test_a_correction_in_capitals_or_signs_is_found_again(box, old, new):
    """What was acknowledged last comes back from recall, to the letter."""
    for text in (old, new):
        box.remember(text)
        box.drain()
    assert new in box.recall(new)


def test_what_was_shown_is_corrected_by_its_capitals(box):
    """A user's turn that repeats a memory in other letters is no echo of it."""
    from tests.unit.pipeline.test_echo import learned, remembered

    remembered(box, "The user wants backups unpacked with `tar -c` and nothing else.")
    right = "The user wants backups unpacked with `tar -C` and nothing else."
    uids = box.store("SELECT uid FROM memory")
    assert learned(box, [right], uids) == [right]
