"""What hooks put before the models of real clients, and keep from them, in two repositories of one house."""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from clients import Desk, Turn
from house import House

from tests.support.clocks import DAY, Clock, library

pytestmark = pytest.mark.skipif(not library(), reason="libfaketime is not there for this machine")

# The slow clients first, so that two at a time end together.
NAMES = ("opencode", "gemini", "codex", "claude-code")
# Those with a hook before a command.
RULED = NAMES[1:]
RELEASE = "push the release to github"


@dataclass(frozen=True)
class Topic:
    """What an agent notes of something by itself, and what its user then says and asks of it."""

    note: str
    correction: str
    question: str


TOPICS = {
    # `opencode run` puts the prompt in quotes, and escapes those it has.
    "opencode": Topic(
        "The staging cluster is called by bin/call-staging.",
        'No, the staging cluster is called "north", not "south".',
        "What is the staging cluster called?",
    ),
    "gemini": Topic(
        "The metrics dashboards are copied by bin/copy-dashboards.",
        "No, the metrics dashboards are in Grafana, not in Kibana.",
        "Where are the metrics dashboards?",
    ),
    "codex": Topic(
        "The search index is rebuilt by bin/rebuild-index.",
        "No, the search index is on Elasticsearch, not on Solr.",
        "What is the search index on?",
    ),
    "claude-code": Topic(
        "The billing service runs once a night, by bin/bill.",
        "No, the billing service runs on Nomad, not on Kubernetes.",
        "What does the billing service run on?",
    ),
}

# What the user says, by where; what is not gone, or over, is what a session there is given.
PREFERENCE = "I prefer small pull requests over big ones."
STATE = "We decided to build the shop with Bazel."
LANGUAGE = "Commit messages of the shop are in German."
RETRIES = "Retries of the shop are set in retries.toml, three at most."
PROCEDURE = "Release procedure: tag the commit, let CI build the wheel, then push the tag to GitHub."
NOTES = "A GitHub release takes its notes from notes.md."
OTHER_STATE = "We decided to build the blog with Hugo."
OTHER_PROCEDURE = "Release procedure of the blog: push main to GitHub, which is live at once."
ENDED = "Until Friday, pushing a release to GitHub needs a word from Vera."
# By how it went.
GONE = {
    "undo": "A GitHub release is announced by a mail to Otto.",
    "purge": "A GitHub release is signed with the key of Petra.",
    "insights archive": "A GitHub release waits for the nod of Quentin.",
}
STANDING = {"": "Call me Robin.", "shop": "Answer in short sentences.", "blog": "Posts are written in plain English."}
# Before a command that makes a file of this name.
MATCHED = {"mine": "Nobody makes mine.", "shop": "Nobody makes that of the shop.", "blog": "Nobody makes the blog's."}

PARTS = {
    "Rules that the user set": {STANDING[""], STANDING["shop"]},
    "What this user asked for before": {PREFERENCE, LANGUAGE},
    "How things are here:": {STATE, PROCEDURE},
    "Noted by an agent, not said by the user:": set(),
    "Uncertain, check before relying on it:": {RETRIES, NOTES},
}
GIVEN = {
    "shop": set.union(*PARTS.values()),
    "blog": {STANDING[""], STANDING["blog"], PREFERENCE, OTHER_STATE, OTHER_PROCEDURE},
}
ALL = {
    *set.union(*GIVEN.values(), {ENDED}, GONE.values()),
    *(text for topic in TOPICS.values() for text in (topic.note, topic.correction.removeprefix("No, "))),
}


# What the agents noted themselves.
NOTED = {topic.note for topic in TOPICS.values()}


@dataclass(frozen=True)
class Heard:
    """A session of one turn each: one in which the model ran commands and made a note, and those after a drain."""

    worked: Turn
    shop: Turn
    blog: Turn
    corrected: Turn
    refused: dict[str, Turn]


def read(said: str) -> str:
    """Return what stands in a request as it was said."""
    return html.unescape(re.sub(r'\\+"', '"', said.replace("\\n", "\n")))


def those_in(said: str) -> set[str]:
    """Return which of all that was ever said are in it."""
    return {text for text in ALL if text in said}


def made_by(house: House, name: str) -> Path:
    """Return the folder in which a client's model makes files."""
    return house.home / f"made-by-{name}"


def ids(house: House) -> dict[str, str]:
    """Return the id of each memory, by its text."""
    listed = json.loads(house.memman("insights", "list", "--status", "all", "--json", "--limit", "999"))
    return {one["text"]: one["uid"] for one in listed}


@pytest.fixture(name="told", scope="module")
def _told(house: House, tmp_path_factory: pytest.TempPathFactory) -> House:
    """Return a house with what a person said of two repositories, and the rules that they made."""
    past = Clock(tmp_path_factory.mktemp("clock"))
    past.jump(-10 * DAY)
    for name in ("shop", "blog"):
        house.repository(name, {"notes.md": "1\n", "retries.toml": "3\n"})

    def say(category: str, *texts: str, folder: str = ".", environ: dict[str, str] | None = None) -> None:
        for text in texts:
            house.memman("remember", "--category", category, text, folder=folder, environ=environ or {})

    say("preference", PREFERENCE)
    say("preference", LANGUAGE, *GONE.values(), folder="shop")
    say("preference", ENDED, folder="shop", environ=past.environ)
    say("decision", STATE, RETRIES, folder="shop")
    say("fact", PROCEDURE, NOTES, folder="shop")
    say("decision", OTHER_STATE, folder="blog")
    say("fact", OTHER_PROCEDURE, folder="blog")
    house.memman("scheduler", "drain", "--wait")
    for verb, text in GONE.items():
        house.person(*verb.split(), ids(house)[text])

    def rule(file: str, *options: str, folder: str = ".", environ: dict[str, str] | None = None) -> str:
        added = ("rule", "add", MATCHED.get(file, f"Nobody makes {file}."), "--match", f"touch */{file}")
        return house.person(*added, "--do", "deny", *options, folder=folder, environ=environ or {})

    for folder, text in STANDING.items():
        house.person("rule", "add", text, folder=folder)
    rule("mine", "--scope", "personal", folder="blog")
    rule("shop", folder="shop")
    rule("blog", folder="blog")
    rule("expired", "--until", "7d", environ=past.environ)
    snoozed = json.loads(rule("snoozed", "--json"))
    house.person("rule", "snooze", snoozed["uid"], "--for", "2h")
    return house


@pytest.fixture(name="heard", scope="module")
def _heard(told: House) -> dict[str, Heard]:
    """Return the turns of each client; what is said from the second on is asked about first."""

    def work(desk: Desk) -> Turn:
        place = made_by(told, desk.client.name)
        place.mkdir()
        return desk.run(
            f"touch {place}/blog; touch {place}/snoozed; touch {place}/expired; echo >> notes.md; echo >> retries.toml;"
            f" {told.program} remember '{TOPICS[desk.client.name].note}';"
            f" {told.program} recall 'who agrees before a release is pushed to GitHub'",
            folder="shop",
        )

    worked = told.at_desks(NAMES, work)
    told.memman("scheduler", "drain", "--wait")
    told.person("config", "set", "MEMMAN_CAPTURE", "ask")

    def hear(desk: Desk) -> Heard:
        name, place = desk.client.name, made_by(told, desk.client.name)
        run = {at: f"touch {place}/{at}; touch {place}/mine" for at in ("shop", "blog") if name in RULED}
        return Heard(
            worked[name],
            desk.ask(RELEASE, folder="shop"),
            desk.ask(RELEASE, folder="blog"),
            desk.ask(TOPICS[name].correction, folder="shop"),
            {at: desk.run(command, folder=at) for at, command in run.items()},
        )

    heard = told.at_desks(NAMES, hear)
    for one in heard.values():
        for turn in (one.worked, one.shop, one.blog, one.corrected, *one.refused.values()):
            assert turn.code == 0, turn.errors
    return heard


@pytest.fixture(name="waiting", scope="module")
def _waiting(told: House, heard: dict[str, Heard]) -> dict[str, Turn]:
    """Return the turn of each client in which its user asks about what they have said, which waits for approval."""
    assert heard
    told.memman("scheduler", "drain", "--wait")
    return told.at_desks(NAMES, lambda desk: desk.ask(TOPICS[desk.client.name].question, folder="shop"))


def reviewed(house: House, topic: Topic) -> tuple[str, str]:
    """Return what the user said of a topic, and its id where it waits, word for word."""
    said = topic.correction.removeprefix("No, ")
    (uid,) = (one["uid"] for one in json.loads(house.memman("review", "list", "--json")) if one["text"] == said)
    return said, uid


@pytest.mark.parametrize("where", GIVEN)
@pytest.mark.parametrize("name", NAMES)
def test_a_session_is_given_what_holds_there_and_nothing_else(heard: dict[str, Heard], name: str, where: str) -> None:
    """No line of the other repository, nor of what is past its end or was taken back."""
    turn: Turn = getattr(heard[name], where)
    assert those_in(read(turn.whole)) - NOTED == GIVEN[where]


@pytest.mark.parametrize("name", NAMES)
def test_a_session_begins_in_five_parts(heard: dict[str, Heard], name: str) -> None:
    """The standing rules, what the user asked for, how things are, what agents noted, and what is uncertain."""
    _, *parts = re.split("|".join(PARTS), read(heard[name].shop.whole))
    begun = [part.partition("</memman-")[0] for part in parts]
    assert [those_in(part) - NOTED for part in begun] == [*PARTS.values()]
    assert re.search(rf"- {RETRIES} \([^)]*file changed since", begun[-1])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_past_its_end_is_recalled_behind_what_holds(heard: dict[str, Heard], name: str) -> None:
    """Where the agent asks for it, and it says so."""
    recalled = read(heard[name].worked.asked[-1].text).partition(f"user: {PROCEDURE}")[2]
    assert re.search(rf"user, past its end \dd ago: {ENDED}", recalled)


@pytest.mark.parametrize("name", NAMES)
def test_an_agents_own_note_is_shown_as_unconfirmed(heard: dict[str, Heard], name: str) -> None:
    """It stands below a line that says whose it is, once."""
    said = read(heard[name].corrected.whole)
    assert said.count(TOPICS[name].note) == 1
    assert TOPICS[name].note in said.partition("Noted by an agent, not said by the user:")[2]


@pytest.mark.parametrize("name", RULED)
def test_a_rule_fires_where_it_holds(told: House, heard: dict[str, Heard], name: str) -> None:
    """A repository's there, a personal one in both, none that is over or snoozed; what is denied does not run."""
    refused = heard[name].refused
    fired = {where: {file for file, text in MATCHED.items() if text in turn.whole} for where, turn in refused.items()}
    assert fired == {"shop": {"mine", "shop"}, "blog": {"mine", "blog"}}
    assert {made.name for made in made_by(told, name).iterdir()} == {"blog", "expired", "snoozed"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_about_first_is_not_shown(told: House, waiting: dict[str, Turn], name: str) -> None:
    """With `MEMMAN_CAPTURE=ask` what the user said in a turn is in the inbox, and before no model."""
    said, _ = reviewed(told, TOPICS[name])
    assert waiting[name].code == 0, waiting[name].errors
    assert said not in read(waiting[name].whole)


def test_what_was_approved_is_shown(told: House, waiting: dict[str, Turn]) -> None:
    """Once a person has said so."""
    assert waiting
    topic = TOPICS["codex"]
    said, uid = reviewed(told, topic)
    told.person("review", "approve", uid)
    assert said in told.desks["codex"].ask(topic.question, folder="shop").whole


@pytest.mark.parametrize(("text", "way"), [(STATE, "session-start"), (PROCEDURE, "session-start"), (ENDED, "recall")])
def test_show_says_where_a_memory_was_shown(told: House, waiting: dict[str, Turn], text: str, way: str) -> None:
    """By each client, in which way; only where an agent asked for it was it of use."""
    assert waiting
    (memory,) = json.loads(told.memman("show", "--json", ids(told)[text]))
    assert {one["agent"] for one in memory["shown"] if one["way"] == way} == {*NAMES}
    asked = [one for one in memory["shown"] if one["way"] == "recall"]
    assert memory["uses"] == len(asked)
