"""Words that are no verbs are answered with the command that does what they mean, and `help` prints it."""

import shlex

import click
import pytest

from memman.commands.root import VERBS, root
from memman.commands.verb import MEANT
from memman.model.plural import counted


def found(words):
    """Follow a command's words as far as verbs go; return the verb and what is left."""
    command, rest = root, list(words)
    with click.Context(root) as ctx:
        while isinstance(command, click.Group):
            command = command.get_command(ctx, rest.pop(0))
    return command, rest


@pytest.mark.parametrize("word", sorted(MEANT))
def test_what_a_word_is_answered_with_exists(word):
    """The word is no verb, the command is one, and takes what is given to it."""
    command, rest = found(shlex.split(MEANT[word]))
    options = {option for param in command.params for option in param.opts if option.startswith("-")}
    given = [part for part in rest if not part.startswith("-")]
    assert word not in VERBS
    assert {part for part in rest if part.startswith("-")} <= options
    assert not given or any(isinstance(param, click.Argument) or param.opts for param in command.params)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("search x", "memman: there is no verb 'search'; `memman recall \"…\"` does it"),
        ("ls", "`memman list` does it"),
        ("add x", '`memman remember "…"` does it'),
        ("delete x", "`memman forget ID` does it"),
        ("setup", "`memman install` does it"),
        ("init", "`memman install` does it"),
        ("store rm x", "`memman store remove` does it"),
        ("backup add", "`memman backup create` does it"),
        ("insights review", "`memman review list` does it"),
        ("insights delete x", "there is no verb 'delete' (see"),
        ("xyzzy", "there is no verb 'xyzzy' (see `memman --help`)"),
    ],
)
def test_a_word_that_is_no_verb_is_answered_in_one_line(box, typed, answer):
    """The exit code is that of a mistake in the command line, and no guess is made at a distance."""
    done = box.memman(*typed.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    # Where a shell does not find memman, it is named by its path.
    assert answer in done.stderr.replace(f"`{box.script} ", "`memman ")
    assert "did you mean" not in done.stderr


def test_help_prints_what_the_option_prints(box):
    """`memman help`, also with a verb or a verb of a verb; one that does not exist is answered as everywhere."""
    for words in ((), ("recall",), ("scheduler", "queue"), ("scheduler", "queue", "list")):
        done, option = box.memman("help", *words), box.memman(*words, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == option.stdout
    assert "does it" in box.memman("help", "search").stderr
    assert box.memman("help", "recall", "x").returncode == 2


def test_numbers_agree_with_what_they_count():
    """One is singular, nothing and all else plural."""
    nouns = ("store", "memory", "day")
    assert [counted(1, noun) for noun in nouns] == ["1 store", "1 memory", "1 day"]
    assert [counted(2, noun) for noun in nouns] == ["2 stores", "2 memories", "2 days"]
    assert counted(0, "memory") == "0 memories"
