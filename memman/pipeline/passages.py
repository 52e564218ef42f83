"""A message's passages, and what of them its author did not write, as far as the judge can tell."""

import re

from memman.judge.judge import Judge
from memman.llm.builtin.split import extents
from memman.model.terms import STOPWORDS, folded, words
from memman.pipeline.fidelity import parsed
from memman.pipeline.speech import own

# Of a single passage there is nothing to tell whose it is by.
FEWEST = 2
# What the judge says of a passage: surely the author's own, possibly pasted, or probably.
OWN, MAYBE, PASTED = 0, 1, 2
# What a request shows behind a colon, after what is no adverb: "translate to German: …", "the linter prints: …".
_LED = re.compile(r"([^,;:\u2026\n]{2,80}):\s+\S.*", re.DOTALL)
_ADVERBIAL = STOPWORDS - frozenset("the this that these those what".split())
# The judge would keep what is worth this; what is only shown differs so surely from the sentence that ends in it.
WORTH, SHOWN = 0.3, 0.4


def passages(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends; one never goes on behind a line's end."""
    found, at = [], 0
    for line in text.split("\n"):
        for start, end in extents(line):
            said = line[start:end]
            if any(map(str.isalnum, said)):
                first = at + start + len(said) - len(said.lstrip())
                found.append((first, first + len(said.strip())))
        at += len(line) + 1
    return found


def heard(judge: Judge | None, text: str) -> tuple[str, tuple[str, ...]]:
    """Return what the author of a message may have typed, and its passages that are not their word."""
    said = own(text)
    if judge is None:
        return said, ()
    found = passages(said)
    bands = judge.pasted(said, found) if len(found) >= FEWEST else [OWN] * len(found)
    told = [said[start:end] for start, end in found]
    steers = judge.steering(told)
    read = zip(told, bands, steers, strict=True)
    return said, tuple(one for one, band, order in read if band == PASTED or order or _led(judge, one))


def _led(judge: Judge, sentence: str) -> bool:
    """Whether a sentence only shows what stands behind its colon.

    The judge would keep a heading with it ("frontend: never use tabs"), and a label ("new rule:") changes no meaning.
    """
    led = _LED.fullmatch(sentence)
    first = next(iter(words(led[1])), "") if led else ""
    if not led or folded(first) in _ADVERBIAL or not any(one.order for one in parsed(led[1])):
        return False
    starts = [span.start for span in judge.spans(sentence) if span.worth >= WORTH]
    shown = sentence[led.end(1) + 1 :].strip()
    return min(starts, default=0) > led.end(1) and judge.relation(shown, sentence).apart >= SHOWN
