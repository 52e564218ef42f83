"""Tasks as data: what was decided in a repository, by word or by commit, and later the prompt that needs it.

The project's own are in `tasks.jsonl`; those of an sde-bench folder are read from there.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
from pathlib import Path
from typing import Any

OWN = Path(__file__).parent / "tasks.jsonl"
# Of a policy in words: the share of them that has to stand before the model.
HALF = 0.5
_MARKED = re.compile(r"superseded|replaced by|suspended by|past its end|\bagainst [0-9a-f]")
_NEWER = re.compile(r"newer than ([0-9a-f]+)")
_STOP = frozenset(
    """a all an and any are as at be by each for from if in is it its must never no not of on only or per than that the
    then this to was when with""".split()
)
_ENDINGS = ("ing", "ed", "es", "s")

Turn = tuple[str, str]


@dataclass(frozen=True)
class Past:
    """What happened before: turns of one session, or a commit with subject and body, in a repository."""

    repository: str
    turns: tuple[Turn, ...] = ()
    commit: tuple[str, str] = ("", "")
    path: str = ""

    @property
    def text(self) -> str:
        """All that was said."""
        return "\n".join((*self.commit, *(said for turn in self.turns for said in turn)))


@dataclass(frozen=True)
class Task:
    """A prompt, and what has to stand before the model: lines that match each of `holds`, or half of `policy`'s words.

    What matches `stale` was superseded and may stand there only if it is marked, what matches `foreign` is another
    repository's and may not. `by_hand` is the line that a person keeps in MEMORY.md.
    """

    id: str
    kind: str
    repository: str
    past: tuple[Past, ...]
    prompt: str
    by_hand: str
    holds: tuple[str, ...] = ()
    policy: str = ""
    stale: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(words(self.policy))

    def stands(self, text: str) -> bool:
        """Whether the decision stands in a text."""
        if self.holds:
            return all(re.search(one, text, re.IGNORECASE) for one in self.holds)
        return len(self._words & set(words(text))) >= HALF * len(self._words) > 0

    def unmarked(self, text: str) -> list[str]:
        """Return the lines of a text that state what was superseded, and are not marked."""
        outdated = {*_NEWER.findall(text)}
        lines = [line for line in _matching(text, self.stale) if not _MARKED.search(line) and not self.stands(line)]
        return [line for line in lines if line.partition(" ")[0] not in outdated]

    def abroad(self, text: str) -> list[str]:
        """Return the lines of a text that state what only holds elsewhere."""
        return [*_matching(text, self.foreign)]


def _matching(text: str, patterns: Iterable[str]) -> Iterator[str]:
    for line in text.split("\n"):
        if any(re.search(one, line, re.IGNORECASE) for one in patterns):
            yield line


def words(text: str) -> list[str]:
    """Return the words of a text by their stems, without those that say nothing."""
    return [_stem(word) for word in re.findall(r"[a-z]+|\d+", text.lower()) if word not in _STOP]


def _stem(word: str) -> str:
    ending = next((one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) > 2), "")
    return word.removesuffix(ending)


def own() -> list[Task]:
    """Return the project's own tasks."""
    rows = map(json.loads, OWN.read_text(encoding="utf-8").splitlines())
    return [_own(row) for row in rows]


def _own(row: dict[str, Any]) -> Task:
    past = tuple(
        Past(
            one.get("in", row["in"]),
            tuple(map(tuple, one.get("say", ()))),
            tuple(one.get("commit", ("", ""))),
            one.get("path", f"{row['id']}.txt"),
        )
        for one in row["past"]
    )
    lists = {name: tuple(row.get(name, ())) for name in ("holds", "stale", "foreign")}
    return Task(row["id"], row["kind"], row["in"], past, row["prompt"], row["by_hand"], **lists)


def half(family: str) -> str:
    """Return which half a family of tasks is in: the one to work with, or the one that is kept aside."""
    return ("work", "aside")[sha1(family.encode(), usedforsecurity=False).digest()[0] % 2]


def sde(folder: str, which: str) -> list[Task]:
    """Return the tasks of an sde-bench folder, of one half or of both; those without a decision are left out."""
    lines = Path(folder, "tasks.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("conversations") or row.get("decision_rationale")]
    return [_sde(row) for row in rows if which in ("all", half(row["task_id"].split("-")[1]))]


def _sde(row: dict[str, Any]) -> Task:
    repository, kind = row["task_id"].split("-")[0], row["source"]
    said = row.get("conversations", ())
    talks = said if said and isinstance(said[0], list) else [said] if said else []
    past = [Past(repository, tuple(_paired(talk))) for talk in talks]
    if kind == "history":
        path = row["module"]
        past = [
            Past(repository, commit=(row["decision_subject"], row["decision_rationale"]), path=path),
            Past(repository, commit=(row["cause_subject"], ""), path=path),
        ]
    return Task(row["task_id"], kind, repository, tuple(past), row["bug_report"], row["policy"], policy=row["policy"])


def decoys(folder: str) -> list[Past]:
    """Return the talks of an sde-bench folder that decide nothing of its tasks."""
    lines = Path(folder, "decoys.jsonl").read_text(encoding="utf-8").splitlines()
    return [Past("", tuple(_paired(json.loads(line)["turns"]))) for line in lines]


def _paired(talk: Iterable[dict[str, str]]) -> Iterator[Turn]:
    user = ""
    for one in talk:
        if one["role"] == "user":
            user = one["text"]
        elif user:
            yield user, one["text"]
            user = ""
