"""What questions are after: guessed from a table of words, the accuracy pinned on labelled questions of our own."""

import time

import pytest

from memman.recall.intent import guess
from memman.recall.moments import resolve

QUESTIONS = """
why: why did we move to Postgres
why: what was the reason for dropping Redis
why: how come the deploys are so slow
why: what caused the outage of the billing service
why: what made us choose Kafka over RabbitMQ
why: explain the decision to pin Node 18
why: reason we do not use an ORM
why: for what purpose is there a second queue
why: what led to the rewrite of the parser
why: what is the rationale behind the monorepo
why: the motivation for feature flags
why: what's the root cause of the flaky test
when: when did we switch to pnpm
when: since when is the API versioned
when: how long ago did Alice join
when: what did we decide last week
when: what changed recently in the auth service
when: date of the last release
when: what happened yesterday
when: history of the search index
when: latest decision about caching
when: what have we done since Monday
when: at what time does the backup run
when: timeline of the migration to Fly.io
when: what was agreed before the launch
when: in which month was v2 shipped
when: how recently was the certificate renewed
when: what did Bob say in March
entity: who owns the payment service
entity: which database does staging use
entity: what is the cache TTL
entity: what's the name of the main branch
entity: tell me about the ledger service
entity: describe the deployment pipeline
entity: whose idea was the monorepo
entity: who is on call
entity: what are the environments we have
entity: which package manager do we use
entity: everything about Alice
entity: what do we know about Caroline
general: how do I run the tests
general: where do we deploy
general: database connection settings
general: does the API support pagination
general: postgres port staging
general: how are secrets stored
general: should I use tabs or spaces
general: can the worker be restarted safely
general: user preferences for commit messages
general: steps to release a new version
general: is there a limit on uploads
general: fix for the login redirect loop
why: why is the retry limit five
why: what's the reason behind the strict lint rules
why: how come we have two config files
why: what triggered the rollback on production
why: because of what did the build break
why: what justifies the extra cache layer
why: what are the reasons against GraphQL
why: explain why the worker uses one thread
why: what was the cause of the memory leak
why: on what grounds was the vendor rejected
when: when was the last backup
when: what day is the release meeting
when: how long has staging been on Node 22
when: most recent change to the schema
when: what did we learn this week
when: anything new since the 3rd of May
when: until when is the freeze
when: what was decided in 2025-11
when: two weeks ago we discussed a name, which one
when: what were we working on before the holidays
when: when does the certificate expire
when: what year did the project start
when: decisions made in Q3
entity: who wrote the importer
entity: which port does redis listen on
entity: what is Ledger
entity: what are our coding conventions
entity: tell me about Fly.io
entity: who should review SQL changes
entity: which service sends the emails
entity: describe Bob's role
entity: what does the gateway service do
entity: who prefers short answers
general: how to rotate the signing keys
general: where are the logs kept
general: error handling in the queue worker
general: do we allow force pushes
general: commands to build the docker image
general: how should dates be formatted
general: preferred style for docstrings
general: is Windows supported
general: npm or pnpm
general: naming of branches
"""
LABELLED = [tuple(line.split(": ", 1)) for line in QUESTIONS.strip().splitlines()]
# Of the 95; the table was written with them in view.
RIGHT = 93


def test_most_questions_are_understood():
    """At most two of the labelled questions are taken for something else."""
    now = time.time_ns() // 1_000_000
    wrong = [q for intent, q in LABELLED if guess(q, timed=resolve(q, now) is not None) != intent]
    assert len(LABELLED) - len(wrong) >= RIGHT, wrong


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("why did we move last week", "why"),
        ("when did she explain why", "when"),
        ("who was asked why", "entity"),
        ("", "general"),
        ("?", "general"),
        ("run the tests before a commit", "general"),
        ("\u4e3a\u4ec0\u4e48", "general"),
    ],
)
def test_the_first_word_decides_before_the_others(query, intent):
    """A question's own word goes before what stands in it, and what says nothing is general."""
    assert guess(query) == intent
