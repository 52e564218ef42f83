"""The command line as a whole: its table of verbs, help, the store option, completion."""

import importlib
import sys

import click
import pytest

from memman import __version__
from memman.commands.printing import as_data
from memman.commands.root import FIRST, MORE, VERBS, root
from memman.model.text import clean
from tests.support.box import no

LOADED = (
    "import sys; from memman.commands import run; run({args!r});"
    " print(*sorted(m for m in sys.modules if m.startswith('memman.') or m in {{'numpy', 'httpx', 'apsw'}}))"
)


def loaded(box, *args):
    """Return the modules that a command line loads."""
    done = box.start(sys.executable, "-c", LOADED.format(args=list(args)))
    out, err = done.communicate()
    assert not err
    return set(out.splitlines()[-1].split())


def commands(command, path=()):
    """Return every command of the tree with its path."""
    found = [(path, command)]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found += commands(command.get_command(context, name), (*path, name))
    return found


TREE = commands(root)


def test_every_verb_stands_in_one_part_of_the_help():
    """The pages name each verb once, and the first page explains no more than 18."""
    assert sorted([*FIRST.split(), *" ".join(MORE.values()).split()]) == sorted(VERBS)
    assert len(FIRST.split()) <= 18


@pytest.mark.parametrize("verb", VERBS)
def test_the_table_says_what_the_verb_says(verb):
    """The help of `memman` repeats the first line of each verb's own help."""
    module, text = VERBS[verb]
    command = getattr(importlib.import_module(f"memman.commands.{module}"), verb)
    assert command.get_short_help_str(200).rstrip(".") == text


@pytest.mark.parametrize(
    ("path", "command"), TREE, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_and_option_has_help(path, command):  # noqa: ARG001 - names the test
    """No command and no option is without a word of help."""
    assert command.help
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


@pytest.mark.parametrize(
    ("path", "command"), TREE, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_verbs_that_print_data_print_json_and_take_a_store(path, command):
    """What lists or shows something has --json; what works on a store has --store after the verb."""
    names = {p.name for p in command.params}
    if path[-1:] in {("list",), ("show",), ("status",), ("related",), ("failed",), ("recall",)}:
        assert "json" in names or "as_json" in names
        assert "store" in names or path[0] in {"backup", "config"}


def test_help_of_memman_loads_no_verb(box):
    """`memman --help` lists every verb and imports none of them, nor a driver."""
    assert not loaded(box, "--help") & {
        "apsw",
        "numpy",
        "httpx",
        *(f"memman.commands.{module}" for module, _ in VERBS.values()),
    }
    text = box.memman("--help").stdout
    assert all(f"  {verb} " in text for verb in FIRST.split())
    assert set(" ".join(MORE.values()).split()) <= set(text.split())
    assert box.memman().stdout == box.memman("-h").stdout == text
    assert all(f"  {verb} " in box.memman("help", "--all").stdout for verb in VERBS)


def test_a_verb_loads_only_its_own_module(box):
    """Using one verb imports no other verb, and looking loads neither numpy nor a network client."""
    names = loaded(box, "list")
    assert "memman.commands.list" in names
    assert not names & {
        "memman.commands.graph",
        "memman.commands.scheduler",
        "memman.commands.remember",
        "numpy",
        "httpx",
    }


def test_help_of_a_group_lists_its_verbs(box):
    """A group's help names its verbs with what they do."""
    text = box.memman("insights", "--help").stdout
    assert "List memories: the newest" in text
    assert "show" in text


@pytest.mark.parametrize(
    "args",
    [
        ["--store", "b", "insights", "list"],
        ["--store=b", "insights", "list"],
        ["insights", "list", "--store", "b"],
        ["insights", "--store", "b", "list"],
        ["--store", "a", "insights", "list", "--store", "b"],
        ["--store", "a", "recall", "--store", "b", "heron"],
        ["--store=a", "recall", "--store=b", "heron"],
        ["--store=b", "recall", "heron"],
    ],
    ids=" ".join,
)
def test_the_store_may_stand_before_or_after_the_verb(box, args):
    """--store works before and after the verb, and the later one wins."""
    for store in ("a", "b"):
        box.memman("store", "create", store)
        box.memman("--store", store, "remember", f"The heron of store {store}")
    box.memman("scheduler", "drain")
    assert "heron of store b" in box.memman(*args).stdout
    assert "heron of store a" not in box.memman(*args).stdout


def test_the_version_is_printed(box):
    """`memman version` and `memman --version` print the same line."""
    assert box.memman("version").stdout == box.memman("--version").stdout == f"memman {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(box, shell):
    """`memman completion` prints the script that a shell loads."""
    assert "_MEMMAN_COMPLETE" in box.memman("completion", shell).stdout


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("memman insi", {"insights"}),
        ("memman store rem", {"remove"}),
        ("memman recall --cat", {"--cat", "--category"}),
    ],
)
def test_the_shell_completes_verbs_and_options(box, typed, expected):
    """Completion offers verbs and their options."""
    box.environ.update({"_MEMMAN_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))})
    offered = {line.partition(",")[2] for line in box.memman().stdout.splitlines()}
    assert offered == expected


def test_interrupting_a_question_removes_nothing(box):
    """Ctrl-C at a question leaves with 130, the end of input with 77, and neither removes anything."""
    box.memman("store", "create", "other")
    for key, code in (("\x03", 130), ("\x04", 77)):
        done = box.person("store", "remove", "other", answer=lambda asked, key=key: no(asked) and key)
        assert (done.returncode, done.stdout) == (code, "")
    assert "other" in box.memman("store", "list").stdout


def test_json_keeps_every_script(capsys):
    """JSON is printed with its characters as they are, two spaces deep."""
    as_data({"text": "記憶"})
    assert capsys.readouterr().out == '{\n  "text": "記憶"\n}\n'


def test_cleaning_leaves_no_control_characters():
    """What is printed as text is one printable line."""
    assert clean("a\x1b[31m\nb\u202e\u200bc") == "a bc"
