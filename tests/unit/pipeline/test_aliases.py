"""Other names of things: learned from what facts say, linked by, gone with the memory that said so."""

import time

import pytest

from memman.hot.recall_session import RecallSession
from memman.pipeline.link.alias import abbreviates, aliases

SAID = """
k8s = Kubernetes|k8s~kubernetes
k8s = Kubernetes.|k8s~kubernetes
We deploy to Kubernetes (k8s) on Hetzner.|k8s~kubernetes
Continuous Integration (CI) runs on GitHub.|ci~continuous integration
k8s (Kubernetes) is upgraded quarterly.|k8s~kubernetes
The billing service, aka Ledger, is written in Go.|ledger~billing service
The billing service (also known as Ledger) is written in Go.|ledger~billing service
pg is short for Postgres.|pg~postgres
GHA stands for GitHub Actions.|gha~github actions
We call the billing service Ledger.|ledger~billing service
We call the billing service `Ledger` internally.|ledger~billing service
The staging cluster is called Bluebird.|bluebird~staging cluster
The staging cluster is nicknamed bluebird.|bluebird~staging cluster
By SoT we mean the customer database.|sot~customer database
The codename of the new importer is Walrus.|walrus~new importer
We refer to the admin panel as the cockpit.|cockpit~admin panel
Our monorepo is called atlas-main.|atlas main~monorepo
The data warehouse is known as Lake.|lake~data warehouse
db = database|db~database
Note: tf = Terraform.|tf~terraform
SSO is an abbreviation for single sign-on.|sso~single sign on
Elasticsearch (ES) holds the logs.|es~elasticsearch
The user says that DS means nothing; DS stands for design system.|ds~design system
pg stands for Postgres.|pg~postgres
The customer database is known as Vault.|vault~customer database
The billing service was formerly called Ledger.|ledger~billing service
The admin panel, referred to as Cockpit, is slow.|cockpit~admin panel
We refer to the customer database as SoT.|sot~customer database
OTel is short for OpenTelemetry, which we use for tracing.|otel~opentelemetry
We use Amazon Web Services (AWS) for storage.|aws~amazon web services
"""
NOT_SAID = """
DEBUG = true
timeout = 30
LOG_LEVEL = debug
The function is called twice.
The endpoint is called by nginx every minute.
We call the API on startup.
We call the payments API twice a day.
Deploy to production (us-east-1).
Run the tests (all of them) before a release.
x = y + 1
The port is 5432 (default).
Use pnpm (not npm).
Alice (the tech lead) approved it.
The job is named in the config.
Bob called the vendor on Monday.
The limit is 10 MB (per file).
Redis is used for sessions.
We call it a day.
The handler is called when a webhook arrives.
If a == b the cache is skipped.
The cache (Redis) is restarted nightly.
git config user.name = Alice
The API is known to be slow.
The deadline is short for the team.
Our company stands for quality.
Acme stands for reliability.
At Acme, Postgres stands for speed.
Redis is known as fast.
We know that Redis is known as fast.
The importer is known as flaky.
The old API is referred to as deprecated.
We refer to the runbook as usual.
We refer to the docs as needed.
We refer to the ADR as required.
They refer to the wiki as the truth.
We refer to the schema as the reference.
They call the API Twice.
We call the payments API Monthly.
We call the vendor Monday.
The project was formerly called Phoenix.
The team was formerly known as Falcon.
The x in the config stands for the tenant.
The first column stands for the customer.
The dash stands for a missing value.
A red light stands for danger.
The sprint is short for such a task.
The list is short for now.
The timeout is short for large files.
The log line is short for readers.
Bob is known as reliable.
Postgres is known as safe.
The build is also known as slow.
The service is usually called first.
People call this job weekly.
People call the endpoint Daily.
We abbreviate the title as needed.
By done we mean the user.
Our name is short for people.
The cache is also called again.
The handler, also called twice, is slow.
Everything formerly called by cron is gone.
The team stands for the customer.
The queue is known as reliable.
The release is referred to as final.
Version 2 (released in May) broke the login.
"""
PAIRS = [tuple(line.split("|")) for line in SAID.strip().splitlines()]


@pytest.mark.parametrize(("text", "pair"), PAIRS, ids=[text for text, _ in PAIRS])
def test_a_fact_that_names_a_thing_twice_gives_an_alias(text, pair):
    """Short forms, nicknames and codenames are read however they are put."""
    assert aliases(text) == [tuple(pair.split("~"))]


@pytest.mark.parametrize("text", NOT_SAID.strip().splitlines())
def test_what_only_looks_like_a_name_gives_none(text):
    """Assignments, remarks in parentheses and calls of functions are no names."""
    assert aliases(text) == []


def test_abbreviations_are_made_of_the_letters_of_what_they_stand_for():
    """Initials, counted letters and letters in order are abbreviations; other words are not."""
    assert all(
        abbreviates(*pair) for pair in (("CI", "continuous integration"), ("k8s", "Kubernetes"), ("db", "database"))
    )
    assert abbreviates("GHA", "GitHub Actions")
    others = (("k9s", "Kubernetes"), ("default", "5432"), ("a", "apple"), ("not", "npm"), ("db", "db"), ("", ""))
    assert not any(abbreviates(*pair) for pair in others)


@pytest.mark.parametrize(
    "text", ["a " * 2_000, "the " * 900 + "x" * 900, "(" * 4_000, "is called " * 400, "A-" * 2_000 + "="]
)
def test_no_text_takes_long(text):
    """Rules read any text in an instant."""
    began = time.process_time()
    aliases(text)
    aliases(f"{text[:390]} (aka)")
    assert time.process_time() - began < 2


def known(box, name):
    """Return what else the store calls a thing."""
    recalls = RecallSession(str(box.data), "default")
    try:
        return [other for _, other in recalls.reader.aliases([name])]
    finally:
        recalls.close()


def test_an_alias_lives_as_long_as_the_memory_that_says_so(box):
    """Forgetting it ends the alias, and bringing it back revives it; so does superseding end it."""
    uid = box.remember("We call the staging cluster Bluebird.")
    box.drain()
    assert known(box, "bluebird") == ["staging cluster"]
    assert known(box, "staging cluster") == ["bluebird"]
    assert box.memman("forget", uid).returncode == 0
    assert known(box, "bluebird") == []
    assert box.memman("forget", "--undo", uid).returncode == 0
    assert known(box, "bluebird") == ["staging cluster"]
    box.remember("The staging cluster has no nickname.", replaces=uid)
    box.drain()
    assert known(box, "bluebird") == []


def test_memories_that_call_a_thing_differently_are_linked(box):
    """A memory that names the thing gets an entity edge to the one that gives its other name."""
    box.remember("ES is short for Elasticsearch.", session="1")
    box.drain()
    box.remember("`Elasticsearch` needs 16 GB of heap.", session="2")
    box.remember("The `ES` index is rebuilt weekly.", session="3")
    box.drain()
    edges = set(box.store("SELECT src, dst FROM edge WHERE kind IN ('entity', 1)"))
    assert {frozenset(edge) for edge in edges} == {frozenset((1, 2)), frozenset((1, 3)), frozenset((2, 3))}


def test_rebuilding_learns_aliases_again(box):
    """What today's rules read is there after a rebuild, whatever a store held before."""
    box.remember("We call the staging cluster Bluebird.")
    box.drain()
    box.store("DELETE FROM alias")
    box.store("INSERT INTO alias VALUES ('nonsense', 'bluebird', 1)")
    assert box.memman("graph", "rebuild").returncode == 0
    assert known(box, "bluebird") == ["staging cluster"]
    assert known(box, "nonsense") == []
