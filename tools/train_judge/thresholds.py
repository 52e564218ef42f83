"""Print the curves that memman's thresholds are chosen by: the judge as it is shipped, on the writers kept aside.

`python tools/train_judge/thresholds.py` needs memman alone. Pairs are the written ones; the three or four memories that
a store would offer beside each are in train.py's own report.
"""

from collections.abc import Iterable

from texts import KEPT_ASIDE, read_lines

from memman.judge.judge import Judge
from memman.llm.builtin.extract import DOCUMENT, rated
from memman.llm.builtin.split import split
from memman.model.terms import stems

BARS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
# A memory says what was to be kept where it holds this part of its words.
SAID = 0.5


def main() -> None:
    """Print all three curves."""
    judge = Judge()
    _pairs(judge)
    _turns(judge)
    _documents(judge)


def _pairs(judge: Judge) -> None:
    groups = [(writer, group) for writer in KEPT_ASIDE for group in read_lines(writer, "pairs")]
    said = [(writer, group["old"], new) for writer, group in groups for new in group["news"]]
    ends = [one.ends for one in judge.relations([(old, new["new"]) for _, old, new in said])]
    kinds = {"supersedes": "changed", "retracts": "changed", "same": "same", "refines": "same", "apart": "near misses"}
    table: dict[str, list[float]] = {}
    for (writer, _, new), probability in zip(said, ends, strict=True):
        table.setdefault(f"{kinds[new['label']]}, {writer}", []).append(probability)
    _print("pairs that end the older statement", table)


def _turns(judge: Judge) -> None:
    table: dict[str, list[float]] = {}
    for writer in KEPT_ASIDE:
        for line in read_lines(writer, "turns"):
            spans = [(span.worth, line["text"][span.start : span.end]) for span in judge.spans(line["text"])]
            wanted = [kept["span"] for kept in line["keep"]]
            best = max((worth for worth, text in spans if not wanted or _covers(text, wanted)), default=0.0)
            lang = "English" if line["lang"] == "en" else "other languages"
            table.setdefault(f"{lang}, {'worth it' if wanted else 'the rest'}", []).append(best)
    _print("turns of which something is kept", table)


def _documents(judge: Judge) -> None:
    table: dict[str, list[float]] = {"worth it": [], "junk": []}
    for writer in KEPT_ASIDE:
        for line in read_lines(writer, "notes"):
            statements = split(line["text"])
            if len(statements) < DOCUMENT:
                continue
            wanted = [kept["span"] for kept in line["keep"]]
            for text, worth, _ in rated(statements, judge):
                table["worth it" if _covers(text, wanted) else "junk"].append(worth)
    _print("statements of documents that are kept", table)


def _covers(text: str, pieces: Iterable[str]) -> bool:
    mine = stems(text)
    return any(
        (wanted := stems(piece)) and len(wanted & mine) >= SAID * min(len(wanted), len(mine)) for piece in pieces
    )


def _print(title: str, table: dict[str, list[float]]) -> None:
    names = sorted(table)
    print(f"\n{title}\n\n| from | {' | '.join(f'{name} ({len(table[name])})' for name in names)} |")
    for bar in BARS:
        print(
            f"| {bar} | " + " | ".join(f"{sum(p >= bar for p in table[n]) / len(table[n]):.1%}" for n in names) + " |"
        )


if __name__ == "__main__":
    main()
