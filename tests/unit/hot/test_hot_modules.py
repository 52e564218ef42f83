"""What the agent's turn loads: the exact modules of `remember` and `recall`, beyond a bare interpreter's."""

import subprocess
import sys
import time
from resource import RUSAGE_CHILDREN, getrusage

import pytest

from tests.support.box import PATIENCE

# What apsw and the interpreter bring along; a version of Python may need fewer of them, none may need more.
BESIDE = frozenset(
    # zlib: the digest of what a recall shows, a quarter of a millisecond; fcntl: the drain's lock; io: from 3.14 on;
    # math: part of the interpreter on Debian
    "_operator errno gc io apsw fcntl math zlib".split()
)
COMMON = frozenset(
    """
    memman memman._entry memman.belief memman.config memman.config.places memman.config.repository
    memman.config.schedule memman.config.scope memman.config.stores
    memman.hot memman.hot.grammar memman.model memman.model.vocabulary memman.sqlite
    """.split()
)
REMEMBER = COMMON | frozenset(
    """
    memman.config.drain_by_write memman.config.ignore memman.config.lockfile
    memman.hot.provenance memman.hot.remember
    memman.secrets
    memman.model.uid memman.queue memman.queue.append memman.queue.entry memman.queue.schema
    """.split()
)
SEARCH = frozenset(
    """
    memman.recall memman.recall.candidates memman.recall.hit
    memman.recall.labels memman.recall.order memman.recall.query
    memman.recall.render memman.recall.rescore memman.recall.supersede
    memman.embed memman.embed.static memman.secrets
    memman.model.text memman.model.terms memman.store memman.store.sqlite memman.store.sqlite.nearness
    memman.store.sqlite.reader memman.store.sqlite.schema memman.store.sqlite.scopes
    memman.store.sqlite.beliefs
    """.split()
)
RECALL = (
    COMMON
    | SEARCH
    | frozenset(
        """
    memman.config.shown memman.hot.provenance memman.hot.recall memman.hot.recall_session
    memman.recall.pending
    memman.store.filters
    """.split()
    )
)
NEVER = frozenset(
    """re json typing dataclasses click httpx numpy datetime pathlib logging asyncio filelock enum collections
    hashlib""".split()
)
LISTED = """
import sys
before = set(sys.modules)
from memman._entry import main
code = main()
sys.stderr.write(" ".join(sorted(set(sys.modules) - before)))
sys.exit(code)
"""


def loaded(box, *args):
    """Run memman on `args` in a fresh interpreter; return its output and the modules it loaded."""
    process = box.start(sys.executable, "-c", LISTED, *args)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out, frozenset(err.split())


def pinned(modules, wanted):
    """Assert that memman's own modules are exactly `wanted`, and nothing else comes along but what is known."""
    assert {name for name in modules if name.startswith("memman")} == wanted
    assert modules - wanted <= BESIDE
    assert not modules & NEVER


HINTED = ("--category", "fact", "--importance=4", "--entities", "A,B", "words")


@pytest.mark.promise("R23")
@pytest.mark.parametrize("args", [("a plain note",), HINTED], ids=["plain", "hinted"])
def test_remember_loads_exactly_its_own_modules(box, args, kept):
    """With and without options, on the first note and on later ones, `remember` loads the pinned modules only."""
    for _ in range(3):
        out, modules = loaded(box, "remember", *args)
        assert len(out.strip()) == 32
        pinned(modules, REMEMBER)
    kept(
        f"remember loads {len(modules & REMEMBER)} modules of ours, {len(modules & NEVER)} of {len(NEVER)} denied ones"
    )


@pytest.mark.promise("R23")
def test_remember_takes_little_more_than_python_itself(box, rounds, kept):
    """The whole program, started anew for each note, beside a Python that does nothing; the bench holds the target."""
    commands = {"remember": (box.script, "remember", "A heron nests."), "python": (sys.executable, "-c", "pass")}
    took = {name: [] for name in commands}
    cpu = dict.fromkeys(commands, 0.0)
    box.memman("remember", "The first note makes the file.")
    for _ in range(rounds(20, 200)):
        for name, command in commands.items():
            began, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
            subprocess.run(command, env=box.environ, capture_output=True, check=True)
            took[name].append(1000 * (time.perf_counter() - began))
            after = getrusage(RUSAGE_CHILDREN)
            cpu[name] += sum(after[:2]) - sum(before[:2])
    half, most = ({name: sorted(ms)[int(len(ms) * part)] for name, ms in took.items()} for part in (0.5, 0.95))
    assert cpu["remember"] < 6 * cpu["python"], "of the processor's time, which other work does not change"
    times = half["remember"] / half["python"]
    kept(
        f"remember {half['remember']:.1f} ms p50, {most['remember']:.1f} ms p95 of {len(took['remember'])}, "
        f"{times:.1f} x a bare Python ({half['python']:.1f} ms)"
    )


def test_a_note_that_may_hold_a_secret_alone_loads_the_rules(box):
    """Only a telling word makes `remember` pay for the secret rules."""
    _, modules = loaded(box, "remember", "the password of the test")
    assert modules >= REMEMBER | {"memman.secrets.matcher", "re"}


OPTIONS = ((), ("--limit", "3"), ("--history", "--all"), ("--budget=100", "--intent", "why"))


@pytest.mark.parametrize("options", OPTIONS)
def test_recall_loads_exactly_its_own_modules(box, options):
    """Over stored and waiting notes, with any option that is cheap, `recall` loads the pinned modules only."""
    box.remember("Redis caches the sessions of the billing service.")
    box.drain()
    box.remember("Redis caches the invoices of the billing service.")
    out, modules = loaded(box, "recall", *options, "what does Redis cache for billing")
    assert "sessions" in out
    pinned(modules, RECALL)


def test_a_history_that_cannot_be_read_is_tried_once_a_commit(box):
    """A recall loads what reads it at first, and again where another commit is checked out."""
    git = box.data.parent / ".git"
    git.mkdir()
    box.remember("Redis caches the sessions of the billing service.")
    tried = []
    for commit in "aab":
        (git / "HEAD").write_text(commit * 40)
        process = box.start(sys.executable, "-c", LISTED, "recall", "Redis")
        _, err = process.communicate(timeout=PATIENCE)
        tried.append("memman.config.history" in err.split())
    assert tried == [True, False, True]


HOOK = frozenset(
    """
    memman memman._entry memman.belief memman.config memman.config.lockfile memman.config.places
    memman.config.repository memman.config.scope memman.config.shown
    memman.config.stores memman.hot memman.hot.events memman.hot.hook
    memman.hot.provenance memman.hot.session memman.model.payload memman.queue memman.queue.late memman.model
    memman.secrets memman.model.vocabulary
    """.split()
)
CAPTURE = frozenset(
    """
    memman.config.ignore memman.config.schedule memman.hot.capture memman.hot.frame
    memman.hot.handover memman.model memman.model.noted memman.secrets memman.model.text
    """.split()
)
REMIND = RECALL - {"memman.config.schedule", "memman.hot.grammar", "memman.hot.recall"} | frozenset(
    "memman.hot.frame memman.hot.remind".split()
)
PRIME = SEARCH - {"memman.recall.query"} | frozenset(
    """
    memman.config.command memman.config.ignore memman.config.schedule
    memman.hot.frame memman.hot.prime memman.model
    memman.model.noted memman.model.vocabulary memman.sqlite memman.store.filters
    memman.store.sqlite.topics
    """.split()
)
HOOKS = {
    "user-prompt": HOOK | REMIND | CAPTURE,
    "pre-tool": HOOK | REMIND,
    "session-start": HOOK | PRIME,
    "stop": HOOK | CAPTURE | REMEMBER - {"memman.hot.grammar", "memman.hot.remember"},
    "session-end": HOOK | {"memman.config.drain_by_write", "memman.config.schedule"},
}


def hook_loaded(box, event, payload):
    """Run a hook on `payload` in a fresh interpreter; return its output and the modules it loaded."""
    code = LISTED.replace("sys.stderr.write", "sys.__stderr__.write")
    process = subprocess.run(
        [sys.executable, "-c", code, "hook", event, "--host", "codex"],
        input=payload,
        env=box.environ,
        cwd=box.data.parent,  # no folder whose name has a telling word
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout, frozenset(process.stderr.split())


@pytest.mark.parametrize("event", HOOKS)
def test_a_hook_loads_exactly_its_own_modules(box, event):
    """Each event loads the pinned modules only; reading and writing JSON loads no json."""
    box.remember("We deploy billing to Fly.io.", category="decision")
    box.drain()
    question = '"where do we deploy billing?"'
    payload = (
        f'{{"session_id": "s", "prompt": {question}, "tool_name": "Task", "tool_input": {{"prompt": {question}}}}}'
    )
    out, modules = hook_loaded(box, event, payload)
    assert ("Fly.io" in out) == (event in {"user-prompt", "pre-tool", "session-start"})
    pinned(modules - {"_json", "fcntl"}, HOOKS[event])
