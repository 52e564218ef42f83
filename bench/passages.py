"""Whose word each passage of a message becomes, whether its author typed or pasted it.

Usage: python -m bench.passages FILE. A line of the file is a message in parts, each its author's own ("user") or
another's ("other"), as in `bench/data/contract/passages.jsonl`. What is fenced or quoted is
cut out; what the judge finds pasted in the rest is stored as the agent's word.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memman.judge.judge import Judge
from memman.pipeline.passages import heard, passages

FATES = ("user's", "agent's", "cut out")


def fates(judge: Judge, parts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield (who wrote it, what becomes of it) for each passage of a message."""
    whole = "".join(text for _, text in parts)
    whose = [who for who, text in parts for _ in text]
    left, doubted = heard(judge, whole)
    for start, end in passages(whole):
        said = whole[start:end]
        among = whose[start:end]
        fate = "cut out" if said not in left else "agent's" if said in doubted else "user's"
        yield "other" if 2 * among.count("other") > len(among) else "user", fate


def main() -> None:
    """Print a table by language: of each author's passages, how many become whose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    judge, counts = Judge(), dict[tuple[str, str], Counter[str]]()
    whole: Counter[str] = Counter()
    for line in parser.parse_args().file.read_text("utf-8").splitlines():
        one = json.loads(line)
        found = list(fates(judge, one["parts"]))
        for who, fate in found:
            for lang in ("all", one["lang"]):
                counts.setdefault((lang, who), Counter())[fate] += 1
        kind = "mixed" if any(who == "other" for who, _ in one["parts"]) else "own"
        whole[kind] += 1
        whole[f"{kind}, something of the author's not theirs"] += any(
            f != "user's" for who, f in found if who == "user"
        )
        whole[f"{kind}, something of another's as the author's"] += any(
            f == "user's" for who, f in found if who == "other"
        )
    _show(counts, whole)


def _show(counts: Mapping[tuple[str, str], Counter[str]], whole: Mapping[str, int]) -> None:
    print("| language | whose | passages |", " | ".join(FATES), "|\n| --- | --- | --- | --- | --- | --- |")
    for (lang, who), found in sorted(counts.items()):
        shares = (f"{found[fate]} ({found[fate] / found.total():.0%})" for fate in FATES)
        print(f"| {lang} | {who} | {found.total()} |", " | ".join(shares), "|")
    for kind, number in whole.items():
        print(f"{kind}: {number} messages")


if __name__ == "__main__":
    main()
