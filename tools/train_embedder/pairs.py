"""The stores of memories and questions that the embedder is taught with, and those kept aside."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BENCH, PROMPTS, PAIRS = ROOT / "bench/data", ROOT / "tools/train_judge/data", Path(__file__).parent / "data"
# Nothing is taught on these: constants and thresholds are chosen on them.
ASIDE = ("coding-held/", "aside/", "unasked/", "scopes-e/", "scopes-f/", "prompts/42", "203/", "205/fr")
# Folders of bench/data with several stores in one file.
SHELVES = ("coding", "coding-held", "fitted", "aside", "unasked")


@dataclass(frozen=True)
class Question:
    """A question or prompt, and the memories that answer it by their places in the store: none for some."""

    text: str
    answers: tuple[int, ...]
    kind: str


@dataclass(frozen=True)
class Store:
    """The memories of one team, and questions about them. Named folder/store."""

    name: str
    memories: tuple[str, ...]
    questions: tuple[Question, ...]

    def answered(self) -> list[Question]:
        """Return the questions that a memory answers."""
        return [question for question in self.questions if question.answers]


def read() -> tuple[list[Store], list[Store]]:
    """Return the stores to teach with, and those kept aside."""
    stores = [*_shelves(), *_scopes(), *_prompts(), *_pairs()]
    aside = [store for store in stores if store.name.startswith(ASIDE)]
    return [store for store in stores if store not in aside], aside


def _shelves() -> Iterator[Store]:
    """Yield the stores of bench/data that stand several in a file."""
    for folder in SHELVES:
        docs, queries = (_lines(BENCH / folder / f"{name}.jsonl") for name in ("docs", "queries"))
        for scope in dict.fromkeys(doc["scope"] for doc in docs):
            memories = {doc["id"]: doc["text"] for doc in docs if doc["scope"] == scope}
            asked = [(line["q"], line["gold"], line.get("cat", "")) for line in queries if line["scope"] == scope]
            yield _store(f"{folder}/{scope}", memories, asked)


def _scopes() -> Iterator[Store]:
    """Yield the stores of bench/data/scopes*, whose answers are numbers of lines."""
    for path in sorted(BENCH.glob("scopes*/*-questions.jsonl")):
        name = path.name.removesuffix("-questions.jsonl")
        memories = {number: line["text"] for number, line in enumerate(_lines(path.with_name(f"{name}.jsonl")))}
        asked = [(line["question"], _listed(line["answer"]), "question") for line in _lines(path)]
        yield _store(f"{path.parent.name}/{name}", memories, asked)


def _prompts() -> Iterator[Store]:
    """Yield the memories of the judge's writers, with prompts that need one and prompts that do not."""
    for folder in sorted(PROMPTS.iterdir()):
        lines = [line for path in sorted(folder.glob("prompts-*.jsonl")) for line in _lines(path)]
        if lines:
            asked = [(text, [n], "prompt") for n, line in enumerate(lines) for text in line["needed"]]
            asked += [(text, [], "none-prompt") for line in lines for text in line["not"]]
            yield _store(f"prompts/{folder.name}", {n: line["memory"] for n, line in enumerate(lines)}, asked)


def _pairs() -> Iterator[Store]:
    """Yield the stores that were written for this."""
    for path in sorted(PAIRS.glob("*/*-memories.jsonl")):
        name = path.name.removesuffix("-memories.jsonl")
        asked = [(line["q"], line["gold"], line["kind"]) for line in _lines(path.with_name(f"{name}-questions.jsonl"))]
        nothing = _lines(path.with_name(f"{name}-none.jsonl"))
        asked += [(line["q"], [], f"none-{line['kind']}") for line in nothing]
        yield _store(f"{path.parent.name}/{name}", {line["id"]: line["text"] for line in _lines(path)}, asked)


def _store(name: str, memories: Mapping[Any, str], asked: Sequence[tuple[str, Sequence[Any], str]]) -> Store:
    places = {key: place for place, key in enumerate(memories)}
    questions = [Question(text, tuple(places[key] for key in answers), kind) for text, answers, kind in asked]
    return Store(name, tuple(memories.values()), tuple(questions))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _listed(answer: int | list[int]) -> list[int]:
    return answer if isinstance(answer, list) else [answer]
