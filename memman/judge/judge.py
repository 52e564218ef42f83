"""What is worth keeping of what somebody said, and what a new statement does to an old one."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache, cached_property
from itertools import pairwise
from threading import Lock
from unicodedata import category

import numpy as np
from cachetools import LRUCache

from memman.embed.base import Vectors
from memman.embed.bert import ids
from memman.embed.static import IDEOGRAPHS, TABLE, ideograph
from memman.judge import heads
from memman.judge.encoder import Encoder
from memman.judge.heads import HEADS, LEAST, NOT, PASTED, PERSONAL, STEERING, Head, Retirement, gaps
from memman.model.errors import ProviderMisconfigured

_QUESTION, _STOP, _COLON, _MARKS_OF_ITEMS = (
    ("?", "\uff1f"),
    (".", "\u3002"),
    (":", "\uff1a"),
    ("-", "*", "\u2022", "\u30fb"),
)
# A message of more passages, letters and paragraphs is no longer told from a longer one.
_MANY, _LONG, _PARAGRAPHS = 20, 8.0, 5
# What a sign weighs beside an element of a unit vector.
_SIGN = 0.5


def surroundings(vectors: Vectors, text: str, passages: Sequence[tuple[int, int]]) -> Vectors:
    """Return for each passage its vector, those of its neighbours and the mean of all, and signs of its place."""
    none = np.zeros((1, vectors.shape[1]), np.float32)
    mean = np.broadcast_to(vectors.mean(0), vectors.shape)
    before, after = np.concatenate((none, vectors[:-1])), np.concatenate((vectors[1:], none))
    asks = [text[start:end].rstrip().endswith(_QUESTION) for start, end in passages]
    signs = [_signs(text, *passages[n], n, asks) for n in range(len(passages))]
    found: Vectors = np.c_[vectors, mean, before, after, _SIGN * np.array(signs, np.float32)]
    return found


def _signs(text: str, start: int, end: int, n: int, asks: Sequence[bool]) -> tuple[float, ...]:
    said, before, after = text[start:end], text[:start], text[end:]
    last = len(asks) - 1
    return (
        n == 0,
        n == last,
        n / last if last else 0.5,
        min(last + 1, _MANY) / _MANY,
        np.log1p(len(said)) / _LONG,
        np.log1p(len(text)) / _LONG,
        len(said) / len(text),
        not before or before.endswith("\n"),
        before.endswith("\n\n"),
        after.startswith("\n"),
        after.startswith("\n\n"),
        "\n" in text,
        min(text.count("\n\n") / _PARAGRAPHS, 1),
        said[:1].isupper(),
        said[:1].islower(),
        said[:1].isdigit(),
        said.startswith(_MARKS_OF_ITEMS),
        asks[n],
        said.endswith(_STOP),
        said.endswith(_COLON),
        any(asks[:n]),
        any(asks[n + 1 :]),
    )


_IDEOGRAPH = "".join(f"{chr(low)}-{chr(high)}" for low, high in IDEOGRAPHS)
# Ideographs and marks stand alone, as BERT has them.
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]+|[^\w\s]|_")

# Number of a token, first character of its word, one behind the last.
Token = tuple[int, int, int]


def tokens(text: str, vocabulary: Mapping[str, int], most: int) -> list[Token]:
    """Return the first `most` tokens of `text`, those that begin and end a sentence left out."""
    found: list[Token] = []
    for start, end in _words(text):
        found += ((number, start, end) for number in ids(text[start:end], vocabulary))
        if len(found) >= most:
            break
    return found[:most]


def bare(statement: str) -> str:
    """Return a statement without its full stop: whether there is one tells only in what mood it was typed."""
    return statement.rstrip(" .!\u3002\uff01") or statement


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each word begins and ends; accents and vowel signs behind a letter belong to its word."""
    at, size = 0, len(text)
    while word := _WORD.search(text, at):
        start, at = word.span()
        while at < size and category(text[at])[0] == "M":
            at += 1
            more = _WORD.match(text, at)
            at = more.end() if more and more[0].isalnum() and not ideograph(more[0][0]) else at
        yield start, at


FOLDER = __file__.removesuffix("judge.py")
WEIGHTS, VOCABULARY, MANIFEST = "judge.safetensors", "vocabulary.txt", "manifest.json"
# What embeds memories: memman/judge/embedder.py reads it.
MEMORY = "memory.safetensors"
RELATIONS = ("apart", "supersedes", "retracts", "same", "refines")
STATEMENT_KINDS = ("preference", "correction", "rule", "decision", "fact")
# That something corrects the agent says nothing of what it is: of these the likeliest other kind counts.
_CORRECTION = STATEMENT_KINDS.index("correction")
# Elements of the vector of what a statement speaks of.
ABOUT = 256
# Tokens read of each statement of a pair, and of a text at once: what it was taught is seldom longer.
LONGEST_PAIR, LONGEST_TEXT = 60, 100
# A span is worth keeping where a token is worth this, and reaches as far as tokens are worth the lesser, over a gap of
# a few within the sentence; its worth is that of its best few neighbours.
PART, EDGE, GAP, RUN = 0.5, 0.2, 3, 4
# Vectors and relations that are remembered, and tokens of texts.
_KEPT, _READ = 4_096, 32_768
_MEND = "install memman again"
_STOPS = frozenset(".!?\u3002\uff01\uff1f")
_BULLETS = frozenset("-*+\u2022#>0123456789")


# A new statement, the older ones it is compared with, and how many of them it may bear on.
Asked = tuple[str, tuple[str, ...], int | None]
# A token, how much it is worth keeping, and as what.
Read = tuple[Token, float, str]


@dataclass(frozen=True, slots=True)
class Relation:
    """How probably a new statement supersedes, retracts, repeats or refines an old one, or leaves it alone."""

    apart: float
    supersedes: float
    retracts: float
    same: float
    refines: float

    @property
    def ends(self) -> float:
        """How probably the old statement no longer holds."""
        return self.supersedes + self.retracts


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text worth keeping: from character `start` up to `end`, of a kind, how surely."""

    start: int
    end: int
    kind: str
    worth: float


class Judge:
    """The trained judge, loaded with the first question. Raises ProviderMisconfigured for missing or damaged files."""

    def __init__(self, folder: str = FOLDER) -> None:
        self._folder = folder
        self._lock = Lock()
        self._model: tuple[Encoder, dict[str, int]] | None = None
        self._means: LRUCache[str, Vectors] = LRUCache(_KEPT)
        self._early: LRUCache[str, Vectors] = LRUCache(_KEPT)
        self._read: LRUCache[str, list[Read]] = LRUCache(_READ, getsizeof=_size)
        self._relations: LRUCache[Asked, list[Relation]] = LRUCache(_KEPT)

    @cached_property
    def name(self) -> str:
        """Name the weights."""
        try:
            with open(self._folder + MANIFEST, encoding="utf-8") as file:
                return str(json.load(file)["name"])
        except (OSError, ValueError, KeyError) as error:
            raise ProviderMisconfigured(f"the judge cannot be loaded ({error}): {_MEND}") from error

    def relation(self, old: str, new: str) -> Relation:
        """Judge what `new`, said later, does to `old`."""
        return self.relations([(old, new)])[0]

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        """Judge what the second statement of each pair, said later, does to the first."""
        return [found for (found,) in self.compared([(new, (old,)) for old, new in pairs])]

    def compared(self, groups: Sequence[tuple[str, tuple[str, ...]]], most: int | None = None) -> list[list[Relation]]:
        """Judge what each new statement does to each of the older ones, of which it bears on `most` at most."""
        with self._lock:
            known = {one: judged for one in groups if (judged := self._relations.get((*one, most)))}
        rest = [one for one in dict.fromkeys(groups) if one not in known]
        rows = [(self._bare(new), [self._bare(old) for old in olds]) for new, olds in rest]
        shares = self._encoder.pairs(rows, most) if rows else []
        known |= {one: [Relation(*row) for row in some.tolist()] for one, some in zip(rest, shares, strict=True)}
        with self._lock:
            self._relations.update({(*one, most): known[one] for one in rest})
        return [known[one] for one in groups]

    def endings(self, new: str, olds: Sequence[str], relations: Sequence[Relation]) -> list[tuple[float, int]]:
        """Return how probably `new` ends each old statement, and SURE, MAYBE or NOT, from their judged `relations`."""
        found = [(0.0, NOT)] * len(olds)
        likely = [n for n, relation in enumerate(relations) if relation.ends >= LEAST]
        if likely:
            shares = self._retirement.shares(self.shown(new, olds, relations))
            for n in likely:
                found[n] = shares[n], self._retirement.band(shares[n], relations[n].ends)
        return found

    def shown(self, new: str, olds: Sequence[str], relations: Sequence[Relation]) -> Vectors:
        """Return what each pair shows of whether the old statement ends (pairs, FEATURES)."""
        mine, *theirs = (set(self._ids(text, LONGEST_PAIR)) for text in (new, *olds))
        shared = [len(mine & one) / max(1, min(len(mine), len(one))) for one in theirs]
        near = self.about(olds) @ self.about([new])[0]
        return heads.features([astuple(one) for one in relations], near, shared)

    def about(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of what statements speak of: those that bear on one another are near (texts, ABOUT)."""
        return self._encoder.about(self.means(texts)) if texts else np.empty((0, ABOUT), np.float32)

    def means(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of the judge's last states over each statement: (texts, width)."""
        return self._kept(self._means, self._encoder.means, texts)

    def personal(self, texts: Sequence[str]) -> list[int]:
        """Say of each statement whether it holds everywhere: 2 surely, 1 maybe, 0 is about what they work on."""
        return self._bands(PERSONAL, texts)

    def steering(self, texts: Sequence[str]) -> list[int]:
        """Say of each text how probably it is written to steer agents: 2 probably, 1 possibly, 0 it is not."""
        return self._bands(STEERING, texts)

    def pasted(self, text: str, passages: Sequence[tuple[int, int]]) -> list[int]:
        """Say of each passage whether its author did not write it: 2 probably, 1 possibly, 0 surely theirs."""
        head = self._heads.get(PASTED)
        if head is None or not passages:
            return [1] * len(passages)
        said = [text[start:end] for start, end in passages]
        return head.bands(surroundings(self.early(said), text, passages), said, gaps(text, passages))

    def early(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of how statements are said, after the judge's first layers (texts, width)."""
        return self._kept(self._early, self._encoder.early, texts)

    def _kept(
        self,
        cache: LRUCache[str, Vectors],
        make: Callable[[Sequence[Sequence[int]]], Vectors],
        texts: Sequence[str],
    ) -> Vectors:
        """Return a vector for each text, made only where `cache` has none."""
        with self._lock:
            known = {text: found for text in texts if (found := cache.get(text)) is not None}
        rest = [text for text in dict.fromkeys(texts) if text not in known]
        if rest:
            made = make([self._ids(text, LONGEST_PAIR) for text in rest])
            # Copies, so that a remembered row does not keep its whole batch alive.
            new = {text: row.copy() for text, row in zip(rest, made, strict=True)}
            with self._lock:
                cache.update(new)
            known |= new
        return np.array([known[text] for text in texts], np.float32)

    def reads_whole(self, word: str) -> bool:
        """Whether a word is so common that the judge does not spell it."""
        return word.lower() in self._vocabulary

    def spans(self, text: str) -> list[Span]:
        """Return the pieces of `text` that seem worth keeping at all, in order; the surer, the more worth."""
        return self.spans_of([text])[0]

    def spans_of(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return these pieces of each text, read by itself."""
        return [
            [Span(run[0][0][1], run[-1][0][2], _kind(run), _highest(run)) for run in _runs(read, text)]
            for read, text in zip(self.read(texts), texts, strict=True)
        ]

    def lines(self, texts: Sequence[str]) -> list[tuple[float, str]]:
        """Return how much each of the statements of a document is worth keeping, and of what kind it is."""
        (read,) = self.read(["\n".join(texts)])
        found, at = [], 0
        for text in texts:
            mine = [one for one in read if at <= one[0][1] < at + len(text)]
            found.append((_highest(mine), _kind(mine)) if mine else (0.0, STATEMENT_KINDS[-1]))
            at += len(text) + 1
        return found

    def read(self, texts: Sequence[str]) -> list[list[Read]]:
        """Return the tokens of each text, how much each is worth keeping, and as what."""
        with self._lock:
            known = {text: found for text in texts if (found := self._read.get(text)) is not None}
        rest = [text for text in dict.fromkeys(texts) if text not in known]
        cuts = [list(parts(tokens(text, self._vocabulary, len(text)), text)) for text in rest]
        answers = self._encoder.texts([[number for number, _, _ in part] for cut in cuts for part in cut])
        for text, cut in zip(rest, cuts, strict=True):
            known[text] = []
            for part in cut:
                worth, kinds, mean, early = next(answers)
                kinds[:, _CORRECTION] = 0
                names = (STATEMENT_KINDS[n] for n in kinds.argmax(-1).tolist())
                known[text] += zip(part, worth.tolist(), names, strict=True)
            with self._lock:
                if _size(known[text]) <= _READ:
                    self._read[text] = known[text]
                if len(cut) == 1 and len(cut[0]) <= LONGEST_PAIR:
                    self._means[text], self._early[text] = mean, early
        return [known[text] for text in texts]

    def _bare(self, statement: str) -> list[int]:
        return self._ids(bare(statement), LONGEST_PAIR)

    def _ids(self, text: str, most: int) -> list[int]:
        return [number for number, _, _ in tokens(text, self._vocabulary, most)]

    def _bands(self, head: str, texts: Sequence[str]) -> list[int]:
        """Return how many thresholds of a head each text passes: none where it was fitted to another judge."""
        asked = self._heads.get(head)
        return asked.bands(self.early(texts), texts) if asked is not None and texts else [0] * len(texts)

    @cached_property
    def _heads(self) -> dict[str, Head]:
        try:
            return heads.read(self._folder + HEADS, self.name)
        except (OSError, ValueError, KeyError) as error:
            raise ProviderMisconfigured(f"the judge cannot be loaded ({error}): {_MEND}") from error

    @cached_property
    def _retirement(self) -> Retirement:
        try:
            return heads.read_retirement(self._folder + HEADS, self.name)
        except (OSError, ValueError, KeyError) as error:
            raise ProviderMisconfigured(f"the judge cannot be loaded ({error}): {_MEND}") from error

    @property
    def _encoder(self) -> Encoder:
        return self._loaded()[0]

    @property
    def _vocabulary(self) -> dict[str, int]:
        return self._loaded()[1]

    def _loaded(self) -> tuple[Encoder, dict[str, int]]:
        if self._model is None:
            with self._lock:
                self._model = self._model or _load(self._folder)
        return self._model


def _size(read: Sequence[Read]) -> int:
    return len(read) + 1


def parts(found: list[Token], text: str) -> Iterator[list[Token]]:
    """Cut the tokens of a text, where a line or a sentence ends, so that each part can be read at once."""
    while len(found) > LONGEST_TEXT:
        later_half = range(LONGEST_TEXT, LONGEST_TEXT // 2, -1)
        between = {n: text[found[n - 1][1] : found[n][1]] for n in later_half}
        at = next((n for n in later_half if "\n" in between[n]), 0)
        at = at or next((n for n in later_half if between[n].rstrip() in _STOPS), LONGEST_TEXT)
        yield found[:at]
        found = found[at:]
    if found:
        yield found


def damage(folder: str = FOLDER) -> str:
    """Say what is wrong with the files of judge and embedder, '' where they are those that the trainings wrote."""
    try:
        with open(folder + MANIFEST, encoding="utf-8") as file:
            digests = json.load(file)["sha256"]
        for path in (TABLE, *(folder + name for name in (WEIGHTS, VOCABULARY, MEMORY))):
            with open(path, "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digests[path.rpartition("/")[2]]:
                    return f"{path} was changed"
    except (OSError, ValueError, KeyError) as error:
        return str(error)
    return ""


@cache
def _load(folder: str) -> tuple[Encoder, dict[str, int]]:
    """Load the weights and the vocabulary, which nobody changes: once a process, for every round of a drain."""
    try:
        with open(folder + VOCABULARY, encoding="utf-8") as file:
            vocabulary = {token: n for n, token in enumerate(file.read().split("\n"))}
        return Encoder(folder + WEIGHTS), vocabulary
    except (OSError, ValueError, KeyError) as error:
        raise ProviderMisconfigured(f"the judge cannot be loaded ({error}): {_MEND}") from error


def _runs(read: Sequence[Read], text: str) -> Iterator[Sequence[Read]]:
    """Yield the runs of tokens that belong together and are worth keeping."""
    run: list[Read] = []
    gap: list[Read] = []
    for one, following in pairwise([*read, None]):
        assert one is not None  # noqa: S101 - only what follows the last is None
        if one[1] >= EDGE:
            run += [*gap, one] if run else [one]
            gap = []
        else:
            gap.append(one)
        behind = text[one[0][2] : following[0][1] if following else None]
        if len(gap) > GAP or _ends(text[one[0][1] : one[0][2]], behind, text[one[0][2] + len(behind) :]):
            yield from _kept(run)
            run, gap = [], []
    yield from _kept(run)


def _ends(word: str, behind: str, rest: str) -> bool:
    """Whether a sentence, a paragraph or an item of a list ends with `word`, which `behind` parts from the `rest`."""
    if word in _STOPS and (behind[:1].isspace() or not rest or word not in ".!?"):
        return True
    return behind.count("\n") > 1 or ("\n" in behind and rest[:1] in _BULLETS)


def _kept(run: Sequence[Read]) -> Iterator[Sequence[Read]]:
    if any(one[1] >= PART for one in run):
        yield run


def _highest(run: Sequence[Read]) -> float:
    """Return the worth of the few neighbouring tokens that are worth most."""
    size = min(RUN, len(run))
    return max(sum(one[1] for one in run[at : at + size]) / size for at in range(len(run) - size + 1))


def _kind(run: Sequence[Read]) -> str:
    """Return the kind that most tokens are of."""
    kinds = [kind for _, _, kind in run]
    return max(STATEMENT_KINDS, key=kinds.count)
