"""Guide, skill and first block: short, true to the code's verbs, and the same everywhere."""

import re
from pathlib import Path

import click
import pytest

from memman.commands.root import VERBS, root
from memman.config.scope import Here
from memman.hot.prime import block, guide
from memman.integrations.sources import COMMANDS
from memman.model.verbs import AGENT_VERBS
from memman.recall.render import tokens

SKILLS = Path(__file__).parents[3] / "hooks/claude-code/skills"
SKILL = (SKILLS / "memman/SKILL.md").read_text()
TYPED = {name: (SKILLS / name / "SKILL.md").read_text() for name in COMMANDS}


def test_agents_are_granted_six_verbs_and_no_other():
    """None of them changes the configuration, installs anything, or runs a drain."""
    assert set(AGENT_VERBS) == {"remember", "recall", "list", "replace", "forget", "status"}
    assert AGENT_VERBS.keys() <= VERBS.keys()


@pytest.mark.parametrize("verb", AGENT_VERBS)
def test_an_agents_verb_is_called_as_the_texts_say(verb):
    """The usage in the table is one that the verb takes."""
    usage, when = AGENT_VERBS[verb]
    _, name, *words = re.findall(r'"[^"]*"|\S+', usage)
    assert name == verb
    assert when
    command = root.get_command(click.Context(root), verb)
    command.make_context(verb, words)


@pytest.mark.parametrize("text", [guide(), SKILL, *TYPED.values()], ids=["guide", "skill", *TYPED])
def test_the_texts_name_only_what_there_is(text):
    """Every command in a text is a verb of the agent's, and every option one of its verb's."""
    for verb, rest in re.findall(
        r"memman (\w+)([^`\n]*)", "\n".join(re.findall(r"`[^`]+`|^    .*$", text, re.MULTILINE))
    ):
        assert verb in AGENT_VERBS
        command = root.get_command(click.Context(root), verb)
        options = {flag for param in command.params for flag in param.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= options
    assert text != SKILL or all(usage in text for usage, _ in AGENT_VERBS.values())


def test_the_texts_are_short():
    """The guide takes 200 tokens at most, the skill 600, a command that a user types 300."""
    assert tokens(guide()) <= 200
    assert tokens(SKILL) <= 600
    assert max(map(tokens, TYPED.values())) <= 300


def test_the_skill_is_one_that_agents_load():
    """It begins with its name and a description on one line."""
    head = SKILL.split("---\n")[1]
    assert SKILL.startswith("---\n")
    assert re.fullmatch(r"name: memman\ndescription: [^\n]{40,400}\n", head)
    # Typed by a user, no model has to choose them.
    for name, text in TYPED.items():
        typed = r"argument-hint: [^\n]+\ndisable-model-invocation: true\n"
        assert re.fullmatch(rf"name: {name}\ndescription: [^\n]{{40,400}}\n{typed}", text.split("---\n")[1])


def test_a_session_without_memories_starts_with_the_guide(box):
    """Where there is no store yet, or nothing that holds, the block is the guide alone."""
    assert block(str(box.data), "default", Here()) == (guide(), {})
    box.remember("The index is rebuilt at night.", source="web")
    box.drain()
    assert block(str(box.data), "default", Here()) == (guide(), {})
    assert box.memman("prime").stdout == box.memman("guide").stdout == guide() + "\n"


def test_the_texts_are_facts(box):
    """No text that is put before a model orders it about."""
    box.remember("I prefer pnpm.", category="preference")
    box.drain()
    text = block(str(box.data), "default", Here())[0]
    assert not re.search(r"\b(you must|must|always|never|do not|don't|important|ignore)\b", text.lower())


def test_the_hooks_help_names_events_and_hosts(box):
    """`memman hook --help` lists what can be asked, with or without a store."""
    said = " ".join(box.memman("hook", "--help").stdout.split())
    assert "session-start, user-prompt" in said
    assert "openclaw, goose, nanoclaw" in said
