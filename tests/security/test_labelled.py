"""What holds no longer, and what names a file that has changed, is shown by no verb without saying so."""

import json
import shutil
import time
from contextlib import closing

import pytest

from memman.store.sqlite.store import open_store
from tests.security.every_verb import CALLS, LEAVES, TEXTS, made
from tests.support.hook_calls import hook

PAST, CHANGED = "past its end 2d ago", "file changed since"
SAYS = dict(zip(TEXTS, (PAST, CHANGED, PAST), strict=True))
DAY = 86_400_000
# Verbs that run until they are ended, need a server or a network, or have taken the label away by what they do.
ELSEWHERE = ("install", "page", "scheduler", "team", "store", "uninstall", "migrate", "sync")
# An export says of a memory's end in a record of its own.
MENDING = ("export", "insights verify", "insights expire", "remember", "replace", "rule add", "backup restore")
# Those that write a memory on several lines.
IN_PAIRS = ("insights show", "show", "explained", "rule promote")
MORE = {
    "forget --undo": ("forget", "--undo", "{spare}"),
    "log of a session": ("log", "list", "--session", "{session}"),
    "insights candidates": ("insights", "candidates", "--below", "2"),
    "purge --dry-run": ("purge", "{spare}", "--dry-run"),
    "list by day": ("list", "--by-day"),
    "list plain": ("list",),
    "list --stale": ("list", "--stale"),
    "list --least": ("list", "--least", "--below", "2"),
    "list --about": ("list", "--about", "Redis"),
    "undo --dry-run": ("undo", "{spare}", "--dry-run"),
    "explained": ("show", "--query", "what caches the invoices of billing", "{spare}"),
    "show of the other": ("show", "{other}"),
}
PRINTING = {
    *("forget", "graph related", "insights archive", "insights candidates", "insights feedback"),
    *("insights list", "insights protect", "insights reinstate", "insights restore", "insights show"),
    *(
        "insights stale",
        "list",
        "list by day",
        "list plain",
        "list --stale",
        "list --least",
        "list --about",
        "log diff",
        "log learned",
        "log list",
        "log of a session",
        "purge",
        "purge --dry-run",
        "recall",
        "review all",
        "review approve",
    ),
    *("review list", "review reject", "rule promote"),
    *("scope move", "explained", "show", "show of the other", "undo", "undo --dry-run"),
}


def aged(box):
    """Fill a box, and have two of its memories be past their end, and a file of the third be changed."""
    names = made(box)
    now = time.time_ns() // 1_000_000
    with closing(open_store(str(box.data), "default")) as store, store.unit() as unit:
        row = {uid: row for row, uid in store.db.execute("SELECT id, uid FROM memory")}
        assert unit.doubt(row[names["spare"]], row[names["other"]], now, "moved")
        for uid in ("memory", "spare"):
            assert unit.expire(row[names[uid]], now - 2 * DAY, now)
    box.alter("INSERT INTO file SELECT id, 'src/cache.py', '', ? FROM memory WHERE uid = ?", now, names["other"])
    notes = box.data.parent / "rules.md"
    notes.write_text("".join(f"- {text[:-1]}\n" for text in TEXTS))
    assert box.memman("backup", "create").returncode == 0
    return names | {"notes": str(notes)}


def lines(names, *, as_json):
    """Yield (what it is called, command line) of every verb that may print a memory."""
    said = {verb: (*verb.split(), *CALLS[verb]) for verb in LEAVES if not verb.startswith(ELSEWHERE)} | MORE
    for verb, args in said.items():
        if verb in MENDING or verb == "hook":
            continue
        known = LEAVES[" ".join(args[:2])] if " ".join(args[:2]) in LEAVES else LEAVES[args[0]]
        takes_json = any("--json" in one.opts for one in known.params) or args[0] == "recall"
        if not as_json or takes_json:
            yield verb, [word.format(**names) for word in args] + ["--json"] * as_json


def skipping(asked):
    """Answer that what waits is to be left as it is."""
    return "skip\n" if asked.endswith("quit? ") else ""


def shown(box, names, *, as_json=False):
    """Yield (verb, what it printed, also at the terminal), each of the box as it is now."""
    saved = box.data.parent / "saved"
    shutil.copytree(box.data, saved)
    for verb, args in lines(names, as_json=as_json):
        done = box.person(*args, answer=skipping) if verb == "review all" else box.memman(*args)
        assert done.returncode in {0, 2, 3}, (verb, done)
        yield verb, done.stdout if as_json else done.stdout + done.stderr + getattr(done, "asked", "")
        shutil.rmtree(box.data)
        shutil.copytree(saved, box.data)


def silent(said, verb):
    """Return the lines that show a memory without its label."""
    told = [" ".join(said.splitlines())] if verb.startswith(IN_PAIRS) else said.splitlines()
    return [line for line in told for text, label in SAYS.items() if text in line and label not in line]


@pytest.mark.slow
def test_no_verb_shows_an_old_memory_without_its_label(box):
    """Every verb that prints memories, to people or agents, says that its date has passed or its file changed."""
    names = aged(box)
    printed, wrong = set(), {}
    for verb, said in shown(box, names):
        if any(text in said for text in TEXTS):
            printed.add(verb)
        if verb == "export":
            found = [one for line in said.splitlines() if line[:1] == "{" for one in unlabelled(json.loads(line))]
        else:
            found = silent(said, verb)
        if found:
            wrong[verb] = found
    assert not wrong, json.dumps(wrong, indent=1)
    hooked = hook(box, "session-start", "codex", {"session_id": "t"}).stdout.decode()
    assert not silent(hooked, "hook")
    assert printed >= PRINTING


def unlabelled(said, *, known=False):
    """Yield the texts of old memories in a record that nothing around them dates."""
    if isinstance(said, list):
        for one in said:
            yield from unlabelled(one, known=known)
    if isinstance(said, dict):
        dated = said.get("freshness") or said.get("file") or said.get("labels")
        known = known or bool(dated or said.get("ends_at") or said.get("file_changed_at"))
        if said.get("text") in TEXTS and not known:
            yield said["text"]
        for one in said.values():
            yield from unlabelled(one, known=known)


@pytest.mark.slow
def test_records_tell_it_too(box):
    """With --json the end and the change of a file stand beside what a memory says."""
    names = aged(box)
    wrong = {}
    for verb, said in shown(box, names, as_json=True):
        # What was promoted is printed as the rule that it is now.
        if said and verb != "rule promote" and (found := list(unlabelled(json.loads(said)))):
            wrong[verb] = found
    assert not wrong, wrong
