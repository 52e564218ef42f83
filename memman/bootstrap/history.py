"""Commits whose body says why, and reverts: one statement a commit, its subject with the reason."""

import re
from collections.abc import Iterator

from memman.belief import FILE
from memman.bootstrap.checkout import Checkout, Commit
from memman.bootstrap.statements import packed, worthy
from memman.judge.judge import Judge
from memman.llm.builtin.markdown import blocks
from memman.llm.builtin.split import sentences
from memman.portable.incoming import Item

# Statements kept of a commit; words of a sentence that may be a reason, and characters of a subject.
_MOST, _WORDS, _SUBJECT = 4, 6, 120
# A program's name, and a subject that ends in a version: "Release 1.4", "Bump x from 1.2 to 1.3".
_BOT = re.compile(r"\[bot\]|\bbot\b|noreply@(?:github|dependabot)", re.IGNORECASE)
_VERSION = re.compile(r"\bv?\d+(?:\.\d+)+\S*\W*$")
# What is only written about, or only tried: of that nothing is decided.
_ASIDE = re.compile(r"(?:.*/)?(?:docs?|tests?|spec)/.*|.*\.(?:md|rst|txt|adoc|lock)|(?:.*/)?package-lock\.json")
# The types that Conventional Commits names ("feat(api)!: ") say nothing of why, nor does the number of a pull request;
# an area ("net/http: ") stays.
_KIND = re.compile(
    r"^(?:feat|fix|docs|chore|refactor|perf|test|style|build|ci|revert)(?:\([^)]*\))?!?:\s+", re.IGNORECASE
)
_NUMBER = re.compile(r"\s*\(#\d+\)$")
_TRAILER = re.compile(
    r"^(?:[A-Z][\w]*(?:-[\w]+)+|Fixes|Closes|Resolves|Refs?|See|Bug|Change|PR)(?::\s|\s+#|\s+http)\S.*$", re.MULTILINE
)
_PICKED = re.compile(r"^\(cherry picked from commit [0-9a-f]+\)$", re.MULTILINE)
# A name of code, which a sentence may begin with as it is written.
_NAME = re.compile(r"`|\w+(?:[_.(:/]|[A-Z\d])\w*")
# What git itself writes.
_REVERT = re.compile(r'^Revert "(.+)"(?:\s*\(#\d+\))?$')
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,40})[^.\n]*\.?")


def reasons(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:
    """Yield why things were done: commits with a reason that holds still."""
    undone = tuple(found for one in checkout.commits for found in _REVERTED.findall(one.body))
    for commit in checkout.commits:
        if commit.body and not (_mechanical(commit) or _REVERT.match(commit.subject) or commit.id.startswith(undone)):
            about = _about(commit.subject)
            for text in packed(about, worthy(judge, about, _reason(commit.body)), _MOST):
                yield _item(checkout, commit, text)


def reverts(checkout: Checkout, judge: Judge | None) -> Iterator[Item]:  # noqa: ARG001 - as every source is called
    """Yield what was taken back, with the reason where there is one; not what a revert of the revert brought back."""
    for commit in checkout.commits:
        said = _REVERT.match(commit.subject)
        if said and not _REVERT.match(said[1]) and not _VERSION.search(said[1]):
            why = [*packed(f'"{_about(said[1])}" was tried and reverted', _reason(_REVERTED.sub("", commit.body)), 1)]
            yield _item(checkout, commit, *(why or [f'"{_about(said[1])}" was tried and reverted.']))


def _mechanical(commit: Commit) -> bool:
    """Whether a program made it, or it only raises a version, or changes nothing but documents and tests."""
    aside = bool(commit.paths) and all(map(_ASIDE.fullmatch, commit.paths))
    return aside or bool(_BOT.search(commit.author) or _VERSION.search(_NUMBER.sub("", commit.subject)))


def _about(subject: str) -> str:
    said = _NUMBER.sub("", _KIND.sub("", subject)).strip().rstrip(".:")
    said = said if _NAME.match(said) else said[:1].upper() + said[1:]
    return said if len(said) <= _SUBJECT else said[:_SUBJECT].rsplit(" ", 1)[0] + " …"


def _reason(body: str) -> list[str]:
    """Return the whole sentences of a body that may say why: prose, not lists, code, trailers and what was pasted."""
    body = _PICKED.sub("", _TRAILER.sub("", body))
    told = [sentence for block in blocks(body) if block.kind == "prose" for sentence in sentences(block.text)]
    return [one for one in told if len(one.split()) >= _WORDS and one[-1] in ".!)`" and not _broken(one)]


def _broken(sentence: str) -> bool:
    """Whether a sentence begins before its paragraph: in lower case, and not with a name."""
    return sentence[0].islower() and not _NAME.match(sentence)


def _item(checkout: Checkout, commit: Commit, text: str) -> Item:
    return Item(text, at=commit.at, source=FILE, revision=commit.id, channel=checkout.channel(commit.author))
