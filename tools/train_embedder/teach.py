"""Teach the table of questions and the matrix of memories together. Run it as README.md says."""

import argparse
import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pairs
import table
import torch
from model import Embedder, Rows, thinned
from report import report
from teacher import Teacher
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from memman.embed.base import Vectors
from memman.embed.static import ideograph
from memman.judge.judge import FOLDER, VOCABULARY, Judge

# Sums come out otherwise, in their last bits, with more or fewer.
THREADS = 2
SEED = 1
MATRIX_RATE, TABLE_RATE, SHARE_RATE = 5e-4, 1e-3, 1e-2
# The share of the steps in which the rates rise.
WARM = 0.1
# Questions in a step, and random memories of other stores, added to all memories of their own store.
BATCH, OTHERS = 128, 64
TEMPERATURE = 0.05
# Weight of finding a memory's questions, and of finding that nothing answers one, beside finding a question's memories.
BACK_SHARE, NOTHING_SHARE = 0.3, 0.5
# Questions in a step that nothing of their store answers.
UNANSWERED = 48
# Dropout of the tokens of questions and memories, and of the elements of the judge's means.
TOKENS_LEFT_OUT, ELEMENTS_LEFT_OUT = 0.15, 0.1
# Of the regression that the matrix starts with, in variances of its input.
RIDGE = 30.0


def main() -> None:
    """Parse the command line and train, from the last finished epoch on if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=Path, required=True, help="the table that build.py wrote")
    parser.add_argument("--out", type=Path, required=True, help="written after each epoch")
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    taught, aside = pairs.read()
    judge = Judge()
    source = _digest(options.start, taught, judge.name, options.epochs)
    kept = torch.load(options.out, weights_only=True) if options.out.exists() else {"source": ""}
    tokens, vectors = start_table(options.start)
    embedder = Embedder(vectors)
    course = Course(embedder, Texts(tokens, judge), taught, options.epochs)
    if kept["source"] == source:
        course.load(kept["course"])
    else:
        course.begin()
    began = time.perf_counter()
    while course.epochs_done < options.epochs:
        loss = course.epoch()
        share = float(embedder.share.detach())
        print(f"epoch {course.epochs_done}: loss {loss:.4f}, share {share:.2f}, {time.perf_counter() - began:.0f} s")
        report(aside, course.memories, course.questions)
        kept = {"source": source, "judge": judge.name, "tokens": list(tokens), "course": course.state()}
        torch.save(kept, options.out)


def start_table(path: Path) -> tuple[dict[str, int], Tensor]:
    """Return the tokens' numbers and vectors; ideographs that only the judge knows get random vectors."""
    names, found = table.read(path)
    vectors = torch.tensor(found / np.linalg.norm(found, axis=1).mean())
    vocabulary = Path(FOLDER, VOCABULARY).read_text(encoding="utf-8").split("\n")
    known = set(names)
    more = [token for token in vocabulary if len(token) == 1 and ideograph(token) and token not in known]
    torch.manual_seed(SEED)
    width = vectors.shape[1]
    extra = torch.randn(len(more), width) * vectors.norm(dim=1).median() / width**0.5
    return {token: n for n, token in enumerate([*names, *more])}, torch.cat([vectors, extra])


class Texts:
    """The embedder's input for each text, computed once: its tokens, and the mean of the judge's states."""

    def __init__(self, tokens: dict[str, int], judge: Judge) -> None:
        self._tokens, self._judge = tokens, judge
        self._rows: dict[str, list[int]] = {}
        self._means: dict[str, Tensor] = {}

    def rows(self, texts: Sequence[str]) -> Rows:
        """Return the tokens of each text."""
        self._rows |= {text: table.row(text, self._tokens) for text in texts if text not in self._rows}
        return [self._rows[text] for text in texts]

    def means(self, texts: Sequence[str]) -> Tensor:
        """Return the means of the judge's last states over each text: (texts, width)."""
        rest = [text for text in dict.fromkeys(texts) if text not in self._means]
        if rest:
            self._means |= dict(zip(rest, torch.tensor(self._judge.means(rest)), strict=True))
        return torch.stack([self._means[text] for text in texts])


class Course:
    """The training. An epoch depends only on its number and on what was learned before it."""

    def __init__(self, embedder: Embedder, texts: Texts, stores: Sequence[pairs.Store], epochs: int) -> None:
        self._embedder, self._texts, self._stores = embedder, texts, stores
        self.epochs_done = 0
        rates = (
            (embedder.matrix.parameters(), MATRIX_RATE),
            (embedder.table.parameters(), TABLE_RATE),
            ([embedder.share, embedder.least], SHARE_RATE),
        )
        self._optimiser = torch.optim.Adam([{"params": [*some], "lr": rate} for some, rate in rates])
        steps = epochs * len([*self._batches(random.Random(SEED))])
        self._plan = LambdaLR(self._optimiser, partial(_pace, steps=steps))

    def begin(self) -> None:
        """Start with the matrix that brings memories nearest to MiniLM's vectors, where the table starts."""
        memories = [*dict.fromkeys(text for store in self._stores for text in store.memories)]
        goals = torch.tensor(Teacher().texts(memories))
        self._embedder.start(self._texts.means(memories), goals, RIDGE)

    def epoch(self) -> float:
        """Go through all questions once; return the mean loss."""
        chance = random.Random(f"{SEED}/{self.epochs_done}")
        torch.manual_seed(SEED + self.epochs_done)
        self._embedder.train()
        batches = [*self._batches(chance)]
        chance.shuffle(batches)
        total = 0.0
        for store, questions in batches:
            self._optimiser.zero_grad()
            loss = self._loss(store, questions, chance)
            loss.backward()
            self._optimiser.step()
            self._plan.step()
            total += loss.item()
        self.epochs_done += 1
        return total / len(batches)

    @torch.no_grad()
    def memories(self, texts: Sequence[str]) -> Vectors:
        """Embed memories."""
        self._embedder.eval()
        return self._embedder.memories(self._texts.means(texts), self._texts.rows(texts)).numpy()

    @torch.no_grad()
    def questions(self, texts: Sequence[str]) -> Vectors:
        """Embed questions."""
        return self._embedder.questions(self._texts.rows(texts)).numpy()

    def state(self) -> dict[str, object]:
        """Return all that the next epoch depends on."""
        parts = {"embedder": self._embedder, "optimiser": self._optimiser, "plan": self._plan}
        return {name: part.state_dict() for name, part in parts.items()} | {"epochs": self.epochs_done}

    def load(self, state: dict[str, object]) -> None:
        """Continue from what `state` returned."""
        self._embedder.load_state_dict(state["embedder"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._plan.load_state_dict(state["plan"])
        self.epochs_done = state["epochs"]

    def _batches(self, chance: random.Random) -> Iterator[tuple[pairs.Store, list[pairs.Question]]]:
        """Yield each store's answered questions in random order, BATCH at a time."""
        for store in self._stores:
            asked = [one for one in store.answered() if self._texts.rows([one.text])[0]]
            chance.shuffle(asked)
            yield from ((store, asked[at : at + BATCH]) for at in range(0, len(asked), BATCH))

    def _loss(self, store: pairs.Store, questions: Sequence[pairs.Question], chance: random.Random) -> Tensor:
        """Contrast each question's answers with all other memories of its store and some of other stores; and back."""
        others = [one for one in self._stores if one is not store]
        memories = [*store.memories, *(chance.choice(chance.choice(others).memories) for _ in range(OTHERS))]
        asked = thinned(self._texts.rows([one.text for one in questions]), TOKENS_LEFT_OUT, chance)
        told = thinned(self._texts.rows(memories), TOKENS_LEFT_OUT, chance)
        vectors = self._embedder.memories(self._texts.means(memories), told, ELEMENTS_LEFT_OUT)
        scores = self._embedder.questions(asked) @ vectors.T / TEMPERATURE
        right = torch.zeros_like(scores, dtype=torch.bool)
        for row, question in zip(right, questions, strict=True):
            row[list(question.answers)] = True
        wanted = right.any(0)
        loss = _contrast(scores, right) + BACK_SHARE * _contrast(scores.T[wanted], right.T[wanted])
        loss += NOTHING_SHARE * _contrast(*self._or_nothing(scores, right))
        if nothing := [one for one in store.questions if not one.answers and self._texts.rows([one.text])[0]]:
            asked = self._texts.rows([one.text for one in chance.sample(nothing, min(len(nothing), UNANSWERED))])
            scores = self._embedder.questions(asked) @ vectors.T / TEMPERATURE
            loss += NOTHING_SHARE * _contrast(*self._or_nothing(scores, torch.zeros_like(scores, dtype=torch.bool)))
        return loss

    def _or_nothing(self, scores: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Put `least` behind each row's scores: right where nothing else is."""
        least = (self._embedder.least / TEMPERATURE).expand(len(scores), 1)
        return torch.cat([scores, least], 1), torch.cat([right, ~right.any(1, keepdim=True)], 1)


def _contrast(scores: Tensor, right: Tensor) -> Tensor:
    """Return the mean of -log of the share of each row's softmax that the right ones get."""
    return (scores.logsumexp(1) - scores.masked_fill(~right, -1e9).logsumexp(1)).mean()


def _pace(step: int, *, steps: int) -> float:
    """Rise to the full rate, then fall to none."""
    return min((step + 1) / (steps * WARM), (steps - step) / (steps * (1 - WARM)))


def _digest(start: Path, stores: Sequence[pairs.Store], judge: str, epochs: int) -> str:
    """Return one digest of the start table, the texts, the judge and the number of epochs."""
    whole = hashlib.sha256(start.read_bytes())
    whole.update(repr((stores, judge, epochs)).encode())
    return whole.hexdigest()


if __name__ == "__main__":
    main()
