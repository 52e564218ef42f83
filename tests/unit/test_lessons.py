"""What is learned of tool events, and what only looks like a lesson."""

import pytest

from bench.lessons import CLIENTS, SETS, measured
from memman.lessons import lessons
from memman.transcripts import Event

ROOT = "/srv/shop"


def told(*steps, folder=ROOT):
    """Return the lessons of steps: a command that succeeds, or fails behind `!`; other words are the user's."""
    events = []
    for n, step in enumerate(steps):
        run = Event("run", step.lstrip("!").strip(), id=str(n))
        run.folder = folder
        events += [run, Event("result", id=str(n), well=step[:1] != "!")]
    return [*lessons(events, ROOT)]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("client", CLIENTS)
def test_made_up_sessions_hold_what_is_found_and_nothing_else(name, client):
    """Next to nothing else, of all sets, as each client would have written them."""
    figures = measured(name, client)
    assert figures["true"] >= figures["found"] - 1
    assert figures["true"] >= figures["lessons"] - 2 > 10


@pytest.mark.parametrize(("steps", "lesson"), [
    (("!make test", "make deps", "make test"), "`make test` failed until `make deps` was run."),
    (("!make test", "a=1 npm ci", "make gen", "make test"),
     "`make test` failed until `a=1 npm ci` and then `make gen` were run."),
    (("!make test", "npm ci 2>&1 | tail -3", "make test"), "`make test` failed until `npm ci` was run."),
    (("!cd web && npm test", "npm ci --prefix web", "cd web && npm test -q"),
     "`cd web && npm test` failed until `npm ci --prefix web` was run."),
    (("!cat notes && make", "make --jobs 1"), ""),
    (("!make a", "make deps", "make b", "make gen", "make seed", "make a"), ""),
    (("!make a", "make deps || true", "make a"), ""),
    (("!make a", "make deps > log", "make a"), ""),
    (("!make a", "python -c 'open(\"a\", \"w\")'", "make a"), ""),
    (("!make a", "x" * 9_000, "make a"), ""),
    (("!make a", "make a", "!make a", "make deps", "make a"), ""),
    (("!make a", "npm install left-pad", "make a"), ""),
    (("!make a", "rm config.json", "make a"), ""),
    (("!make a", "node tests/setup/a.js -i", "make a"), ""),
    (("!make a", "python -m pytest load", "make a"), ""),
    (("!make -C /srv/shop/web", "make gen", "make -C /srv/shop/web"), "`make -C web` failed until `make gen` was run."),
    (("!make -C /srv/shops", "make gen -C /srv/shop/", "make -C /srv/shops"), ""),
    (("!cd ../wages && make a", "cd ../wages && make deps", "cd ../wages && make a"), ""),
    (("!make -C ../wages", "make deps", "make -C ../wages"), ""),
    (("!make a", "cd /srv/wages && make deps", "make a"), ""),
    (("!npm test", "npm ci --prefix=../wages", "npm test"), ""),
    (("!make a", "bash -c 'cd web/../../wages && make deps'", "make a"), ""),
    (("!make a", "/usr/bin/make deps", "make a"), "`make a` failed until `/usr/bin/make deps` was run."),
    (("!make ~/a", "make deps", "make ~/a"), ""),
    (("!make `a`", "make deps", "make `a`"), ""),
    (("!make 'a", "make deps", "make 'a"), ""),
    (("!docker compose up -d", "docker compose up -d db"), ""),
    (("!go test -race ./...", "go test ./..."), "`go test -race ./...` failed; `go test ./...` worked."),
    (("!npm test", "npm test -- --skip-slow"), ""),
    (("!npm test -- a", "npm test -- b"), ""),
    (("!cargo test --release a", "cargo test --release b"), ""),
    (("!pytest -k 1", "pytest -k 2"), ""),
    (("!make -j 16", "make -j 2"), "`make -j 16` failed; `make -j 2` worked."),
    (("!npm test", "SKIP_SLOW=1 npm test"), ""),
    (("!npx jest a.test.js", "npx jest a.test.js -u"), ""),
    (("!pytest -n 4 a.py", "pytest --snapshot-update a.py", "pytest -n 4 a.py"), ""),
])  # fmt: skip
def test_forms_and_look_alikes(steps, lesson):
    """One by one."""
    assert told(*steps) == [lesson] * bool(lesson)


def test_a_folder_is_told_and_one_elsewhere_teaches_nothing():
    """A command is told with the folder it ran in, if that lies in the repository."""
    steps = ("!make test", "make deps", "make test")
    assert told(*steps, folder=f"{ROOT}/web") == ["`make test` in web failed until `make deps` in web was run."]
    assert told(*steps, folder="/srv/other") == []
