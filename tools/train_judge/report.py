"""How the judge does on writers it has not read."""

from collections.abc import Sequence

import torch
from lessons import Lessons, Text
from model import Judge
from rows import Row, batches, padded, pair_row, statement_row, text_rows
from torch import Tensor

from memman.judge.judge import ABOUT, RELATIONS, RUN

EARLY_BARS = (0.02, 0.05, 0.1, 0.2, 0.3)
PAIR_BARS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
TEXT_BARS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)


def report(judge: Judge, aside: Lessons, vocabulary: dict[str, int]) -> None:
    """Print the shares retired and kept at some thresholds."""
    judge.eval()
    _pairs(judge, aside, vocabulary)
    _turns(judge, [text for text in aside.texts if text.form == "turns"], vocabulary)
    _offered(judge, aside, vocabulary)


def _pairs(judge: Judge, aside: Lessons, vocabulary: dict[str, int]) -> None:
    found, early = related(judge, [pair_row(pair, vocabulary) for pair in aside.pairs])
    gone = found[:, RELATIONS.index("supersedes")] + found[:, RELATIONS.index("retracts")]
    right = found.argmax(1) == torch.tensor([pair.relation for pair in aside.pairs])
    told = [(RELATIONS[pair.relation], pair.kind) for pair in aside.pairs]
    groups = {
        "changed": [relation in {"supersedes", "retracts"} for relation, _ in told],
        "near": [relation == "apart" and kind != "elsewhere" for relation, kind in told],
        "same": [relation in {"same", "refines"} for relation, _ in told],
        "elsewhere": [kind == "elsewhere" for _, kind in told],
    }
    for bar in PAIR_BARS:
        print(f"  retired at {bar}:", {name: _share(gone >= bar, which) for name, which in groups.items()})
    for bar in EARLY_BARS:
        print(f"  looked at further at {bar}:", {name: _share(early >= bar, which) for name, which in groups.items()})
    print("  right:", {name: _share(right, which) for name, which in groups.items()})
    kinds = sorted({kind for relation, kind in told if relation != "apart"})
    print("  right, by kind:", {kind: _share(right, [kind == k for _, k in told]) for kind in kinds})


def _turns(judge: Judge, turns: Sequence[Text], vocabulary: dict[str, int]) -> None:
    worth = kept(judge, [next(text_rows(text, vocabulary)) for text in turns])
    for bar in TEXT_BARS:
        shares = {}
        for language, english in (("English", True), ("others", False)):
            for what, something in (("worth it", True), ("the rest", False)):
                which = [bool(text.spans) == something and (text.lang == "en") == english for text in turns]
                shares[f"{language}, {what}"] = _share(worth >= bar, which)
        print(f"  kept at {bar}:", shares)


def _share(true: Tensor, which: Sequence[bool]) -> str:
    return f"{true[torch.tensor(which)].float().mean():.3f}"


@torch.no_grad()
def related(judge: Judge, rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """Return the probabilities of the relations (pairs, relations), and that of an end by the early look (pairs,)."""
    found, early = torch.zeros(len(rows), len(RELATIONS)), torch.zeros(len(rows))
    for batch in batches(rows):
        some = [rows[n] for n in batch]
        logits, ends = judge.relations(padded([ids for ids, _ in some]), padded([new for _, new in some]))
        found[batch], early[batch] = logits.softmax(-1), ends.sigmoid()
    return found, early


@torch.no_grad()
def kept(judge: Judge, rows: Sequence[Row]) -> Tensor:
    """Return the most that RUN neighbouring tokens of each text are worth keeping: (texts,)."""
    found = torch.zeros(len(rows))
    for batch in batches(rows):
        keep, _ = judge.spans(padded([rows[n][0] for n in batch]))
        for row, n in enumerate(batch):
            worth = keep[row, 1 : len(rows[n][0]) - 1].sigmoid()
            found[n] = worth.unfold(0, min(RUN, len(worth)), 1).mean(-1).max() if len(worth) else 0.0
    return found


@torch.no_grad()
def vectors(judge: Judge, texts: Sequence[str], vocabulary: dict[str, int]) -> Tensor:
    """Return what each text speaks of: (texts, ABOUT)."""
    rows = [(statement_row(text, vocabulary), [0]) for text in texts]
    found = torch.zeros(len(rows), ABOUT)
    for batch in batches(rows):
        found[batch] = judge.vectors(padded([rows[n][0] for n in batch]))
    return found


def _offered(judge: Judge, aside: Lessons, vocabulary: dict[str, int]) -> None:
    """Print the shares of changes whose old statement is among the nearest of all that are kept aside."""
    olds = list(dict.fromkeys(pair.old for pair in aside.pairs))
    changes = [pair for pair in aside.pairs if RELATIONS[pair.relation] in {"supersedes", "retracts"}]
    old = vectors(judge, olds, vocabulary)
    new = vectors(judge, [pair.new for pair in changes], vocabulary)
    right = torch.tensor([olds.index(pair.old) for pair in changes])
    alike = new @ old.T
    place = (alike > alike.gather(1, right[:, None])).sum(1)
    print(f"  offered of {len(olds)}:", {most: _share(place < most, [True] * len(place)) for most in (1, 4, 8, 16)})
