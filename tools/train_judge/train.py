"""Train the judge, and say after each epoch how it does on writers kept aside. Run it as README.md says."""

import argparse
import os
import random
import time
from collections import Counter
from functools import partial
from pathlib import Path

import torch
from lessons import DATA, KINDS, RELATIONS, Lessons, read
from model import Judge, minilm
from report import report
from rows import NOTHING, OUTSIDE, Row, batches, extended, padded, pair_row, text_row
from torch import Tensor
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR

from memman.embed.bert import load
from memman.embed.minilm import WEIGHTS, installed

HEADS = ("relate", "keep", "kind")
# Heads begin with nothing learned and learn faster.
HEADS_RATE = 10
# What the kind of a kept token counts beside whether it is kept.
KIND_SHARE = 0.2
SMOOTHING = 0.02


def main() -> None:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(os.cpu_count() or 1)
    taught, aside = read(options.data, options.seed)
    for name, lessons in (("taught", taught), ("aside", aside)):
        print(name, Counter(RELATIONS[pair.relation] for pair in lessons.pairs), len(lessons.texts), flush=True)
    vocabulary = extended(taught)
    judge = Judge(minilm(load(f"{installed()}/{WEIGHTS}")), options.layers, len(vocabulary), len(RELATIONS), len(KINDS))
    course = Course(judge, taught, vocabulary, options.epochs, options.rate, random.Random(options.seed))
    began = time.perf_counter()
    for epoch in range(options.epochs):
        loss = course.epoch()
        print(f"epoch {epoch}: loss {loss:.4f}, {time.perf_counter() - began:.0f} s", flush=True)
        report(judge, aside, vocabulary)
    torch.save({"state": judge.state_dict(), "vocabulary": vocabulary, "layers": options.layers}, options.out)


class Course:
    """What a judge is taught, epoch by epoch: both questions, in batches that are shuffled together."""

    def __init__(
        self, judge: Judge, taught: Lessons, vocabulary: dict[str, int], epochs: int, rate: float, chance: random.Random
    ) -> None:
        self._judge, self._chance = judge, chance
        self._pairs = [pair_row(pair, vocabulary) for pair in taught.pairs]
        self._relations = [pair.relation for pair in taught.pairs]
        self._texts = [text_row(text, vocabulary) for text in taught.texts]
        named = list(judge.named_parameters())
        heads = [value for name, value in named if name.split(".")[0] in HEADS]
        rest = [value for name, value in named if name.split(".")[0] not in HEADS]
        groups = [{"params": rest, "lr": rate}, {"params": heads, "lr": HEADS_RATE * rate}]
        self._optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
        steps = epochs * sum(len(list(batches(rows))) for rows in (self._pairs, self._texts))
        self._plan = LambdaLR(self._optimiser, partial(_pace, steps=steps, warm=steps // 10))

    def epoch(self) -> float:
        """Go through everything once; return the mean loss."""
        self._judge.train()
        work = [(self._pair_loss, batch) for batch in batches(self._pairs, self._chance)]
        work += [(self._text_loss, batch) for batch in batches(self._texts, self._chance)]
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

    def _pair_loss(self, batch: list[int]) -> Tensor:
        rows: list[Row] = [self._pairs[n] for n in batch]
        logits = self._judge.relations(padded([ids for ids, _ in rows]), padded([new for _, new in rows])).float()
        return functional.cross_entropy(
            logits, torch.tensor([self._relations[n] for n in batch]), label_smoothing=SMOOTHING
        )

    def _text_loss(self, batch: list[int]) -> Tensor:
        rows: list[Row] = [self._texts[n] for n in batch]
        kinds = padded([kinds for _, kinds in rows], OUTSIDE)
        keep, kind = (logits.float() for logits in self._judge.spans(padded([ids for ids, _ in rows])))
        there, kept = kinds > OUTSIDE, kinds > NOTHING
        loss = functional.binary_cross_entropy_with_logits(keep[there], kept[there].float())
        return loss + KIND_SHARE * functional.cross_entropy(kind[kept], kinds[kept]) if kept.any() else loss


def _pace(step: int, *, steps: int, warm: int) -> float:
    """Rise to the full rate, then fall to none."""
    return min((step + 1) / max(warm, 1), (steps - step) / (steps - warm))


if __name__ == "__main__":
    main()
