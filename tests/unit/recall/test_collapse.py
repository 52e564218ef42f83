"""Hits that say the same are shown once, and none that a reader must see is ever hidden."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.recall.order import collapsed
from tests.support import memories

# Written for this test. The last seven of these say the same in other words, which no safe rule can tell.
SAME = (
    ("Redis caches the sessions of the billing service.", "Redis caches sessions for the billing service."),
    ("The staging box is called Heron.", "Staging box is called heron"),
    ("We deploy the billing service on Vercel.", "We deploy billing service on Vercel"),
    ("Use tabs for indentation in the Go code.", "Use tabs for indentation in Go code."),
    ("User prefers small pull requests.", "The user prefers small pull requests."),
    ("Anna owns the schema; ask her before changing it.", "Anna owns the schema, ask her before changing it."),
    ("Logs are kept for 14 days.", "Logs are kept for 14 days!"),
    ("Run the tests with `pytest -q`.", "Run tests with pytest -q"),
    ("The queue worker retries five times, then parks the job.", "Queue worker retries five times then parks the job."),
    (
        "Payment webhooks are verified with the Stripe signature header.",
        "The payment webhooks are verified with the Stripe signature header.",
    ),
    ("CI takes 12 minutes.", "The CI takes 12 minutes"),
    ("The database is Postgres 16.", "Database is Postgres 16."),
    ("The API gateway needs two replicas.", "API gateway needs two replicas"),
    ("The mobile app uses React Native 0.74.", "Mobile app uses React Native 0.74"),
    (
        "The feature flag `new_checkout` is on for 10% of users.",
        "Feature flag new_checkout is on for 10% of the users.",
    ),
    ("Backups of Heron run at 02:00.", "The backups for Heron run at 02:00."),
    ("The config file lives in ~/.config/app.toml.", "Config file lives in ~/.config/app.toml"),
    ("We chose uv over poetry.", "We chose uv over Poetry."),
    ("The retention was shortened because the bill doubled.", "Retention was shortened because the bill doubled."),
    ("Svelte 5 is used for the login page.", "Svelte 5 is used for login page."),
    ("The default branch is main.", 'Default branch is "main".'),
    ("The report is sent every Monday at 9.", "Report is sent every Monday at 9."),
    ("Error codes are documented in docs/errors.md.", "The error codes are documented in docs/errors.md."),
    ("Deploys happen on Tuesdays.", "Deploys happen on Tuesday."),
    ("The login page is built with Svelte.", "We built the login page with Svelte."),
    ("Postgres runs in Frankfurt.", "Frankfurt is where Postgres runs."),
    ("The staging box is called Heron.", "The staging machine is called Heron."),
    ("We prefer pytest over unittest.", "pytest is preferred over unittest."),
    ("The API has a timeout of 30 s.", "The API timeout is 30 s."),
    ("Carol designs the onboarding screens.", "The onboarding screens are designed by Carol."),
)
DIFFERENT = (
    ("The API timeout is 30 s.", "The API timeout is 60 s."),
    ("Use tabs.", "Never use tabs."),
    ("Use tabs in the Go code.", "Do not use tabs in the Go code."),
    ("The login page is built with Svelte 4.", "The login page is built with Svelte 5."),
    ("Redis caches the sessions of the billing service.", "Redis caches the invoices of the billing service."),
    ("The API timeout is 60 s.", "The staging API timeout is 60 s."),
    ("We moved from MySQL to Postgres.", "We moved from Postgres to MySQL."),
    ("The worker depends on the scheduler.", "The scheduler depends on the worker."),
    ("Run the tests before the deploy.", "Run the tests after the deploy."),
    ("The feature flag is on for all users.", "The feature flag is off for all users."),
    ("Release 2.3 broke the login page.", "Release 2.3.1 broke the login page."),
    ("Deploys happen on Tuesdays.", "Deploys happen only on Tuesdays."),
    ("The API allows 100 requests a minute.", "The API allows 1000 requests a minute."),
    ("The service is written in C++.", "The service is written in C#."),
    ("Retry when the count is < 5.", "Retry when the count is > 5."),
    ("The bucket is in eu-west-1.", "The bucket is in us-east-1."),
    ("Anna reviews the migrations.", "Anna no longer reviews the migrations."),
    ("Logs are kept for 14 days in staging.", "Logs are kept for 14 days in production."),
    ("The cache is enabled.", "The cache isn't enabled."),
    ("The cron job runs daily.", "The cron job runs weekly."),
    ("The old API key is revoked.", "The new API key is revoked."),
    ("The build uses Node.", "The build used Node."),
    ("Anna can approve deploys.", "Anna cannot approve deploys."),
    ("Users with two accounts are merged.", "Users without two accounts are merged."),
    ("Set x = 1 in the config.", "Set x != 1 in the config."),
    ("The budget is 10 %.", "The budget is 10 $."),
    ("Use tabs for indentation?", "Use tabs for indentation."),
    ("Max upload size is 10 MB.", "Min upload size is 10 MB."),
    ("Tom was on call in March.", "Tom was on call in May."),
    ("The gateway needs at least two replicas.", "The gateway needs at most two replicas."),
    ("I prefer tabs.", "He prefers tabs."),
    ("The Stripe webhook is retried.", "The PayPal webhook is retried."),
    (
        "The queue worker retries five times, then parks the job and mails the team that owns it.",
        "The queue worker retries six times, then parks the job and mails the team that owns it.",
    ),
    (
        "The nightly job copies the orders of the shop from Postgres into the warehouse in Frankfurt at two.",
        "The nightly job copies the orders of the shop from Postgres into the warehouse in Dublin at two.",
    ),
    (
        "The nightly job that copies the orders from Postgres into the warehouse is owned by Anna and Tom.",
        "The nightly job that copies the orders from Postgres into the warehouse is not owned by Anna and Tom.",
    ),
    ("Pin apsw to 3.54.", "Pin apsw to 3.45."),
    ("The flag is --no-cache.", "The flag is --cache."),
    ("Backups run at 02:00.", "Backups run at 20:00."),
    ("The rate limit applies to reads.", "The rate limit applies to writes."),
    ("Port 5432 is open.", "Port 5432 is closed."),
)

BEYOND = 7


def hit(text, uid="0", *, status="current", source="user", summary=""):
    """Make a hit as recall does."""
    return memories.hit(memories.row(text, uid=uid, summary=summary, source=source, status=status))


def shown(*texts, limit=50):
    """Return what is shown of hits with these texts: each text, and the places of those it stands for."""
    hits = collapsed([hit(text, str(n)) for n, text in enumerate(texts)], limit)
    return [(one.row.text, [int(uid) for uid in one.alike]) for one in hits]


@pytest.mark.parametrize("pair", SAME[:-BEYOND])
def test_what_says_the_same_is_shown_once(pair):
    """Articles, case and the marks around words make no second line; the first, which is the best, is shown."""
    assert shown(*pair) == [(pair[0], [1])]


@pytest.mark.parametrize("pair", [*DIFFERENT, *SAME[-BEYOND:]])
def test_what_differs_is_shown_beside_it(pair):
    """Numbers, versions, negations, names, directions and other words keep both lines."""
    assert shown(*pair) == [(pair[0], []), (pair[1], [])]


def test_capitals_make_names_of_small_words():
    """Plan A is not the plan, nor an AND gate a gate."""
    assert len(shown("We follow plan A.", "We follow plan.", "Use an AND gate.", "Use a gate.")) == 4


TEXTS = st.lists(st.sampled_from([text for pair in SAME + DIFFERENT for text in pair]), max_size=20)


@given(TEXTS, st.integers(1, 25))
def test_nothing_is_lost_and_the_order_stays(texts, limit):
    """Each hit is shown or named by one that is shown, unless the limit cuts it off; the order is the given one."""
    lines = shown(*texts, limit=limit)
    everything = shown(*texts)
    assert lines == everything[:limit]
    assert sorted(n for _, alike in everything for n in alike) == sorted(set(range(len(texts))) - set(firsts(texts)))
    assert [text for text, _ in everything] == [texts[n] for n in firsts(texts)]


def firsts(texts):
    """Return the places of texts that say something new."""
    return [n for n, text in enumerate(texts) if not any(len(shown(other, text)) == 1 for other in texts[:n])]


WORDS = st.lists(st.sampled_from("the cache of billing is a Redis box 30 s v2.3 `--flag` retries".split()), min_size=1)
TELLING = "not never no only 4 2.3.1 Heron without old staging before off A don't =".split()


@given(WORDS, st.sampled_from(TELLING), st.integers(0, 20))
def test_a_word_that_tells_something_is_never_hidden(words, telling, place):
    """Wherever a negation, number, name or qualifier is put in, both texts are shown."""
    longer = [*words[:place], telling, *words[place:]]
    assert len(shown(" ".join(words), " ".join(longer))) == 2


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_figures_are_never_alike(one, other):
    """Two figures are alike only where they are the same."""
    assert len(shown(f"The timeout is {one} s.", f"Timeout is {other} s")) == 1 + (one != other)


def test_what_was_is_no_stand_in_for_what_is():
    """A superseded text, and one that a tool or the web said, is shown apart from what a person says now."""
    marks = [{}, {"status": "superseded"}, {"status": "pending"}, {"source": "web"}]
    assert len(collapsed([hit("The API runs on Node 22.", **mark) for mark in marks], 10)) == 4
    assert len(collapsed([hit("Node 22.", source=source) for source in ("user", "agent")], 10)) == 1


def test_recall_shows_distinct_lines(box):
    """Those alike share a line, which says how many they are and names them in JSON; the limit counts lines."""
    box.remember("\n\n".join((*SAME[0], "Redis caches the invoices of the billing service.")))
    box.drain()
    lines = box.memman("recall", "--limit", "2", "what does Redis cache for billing").stdout.splitlines()
    assert len(lines) == 2
    (marked,) = [line for line in lines if "sessions" in line]
    assert " user (+1 alike): " in marked
    found = json.loads(box.memman("recall", "--json", "what does Redis cache for billing").stdout)["hits"]
    (alike,) = [uid for one in found for uid in one["alike"]]
    text = box.memman("show", alike).stdout
    assert SAME[0][0] in text or SAME[0][1] in text
