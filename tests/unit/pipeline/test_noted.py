"""What an agent notes at the end of its answers: kept whole, and the user's word only where they said it."""

import json
import subprocess
from dataclasses import replace

import pytest

from memman.judge.judge import Judge
from memman.model.uid import memory_uid
from memman.pipeline.heard import Said, heard
from tests.support.hook_calls import hook

UTC = "The scheduler's cron table is in UTC, not in local time."


class Session:
    """A session of an agent that is told to note."""

    def __init__(self, box, name="s1", cwd="/", **environ):
        self.box, self.name, self.cwd, self.environ = box, name, str(cwd), environ
        self.event("session-start", source="startup")

    def event(self, event, **more):
        """Send one event."""
        return hook(self.box, event, "claude-code", {"session_id": self.name, "cwd": self.cwd, **more}, **self.environ)

    def turn(self, prompt, reply, **more):
        """Have the user type a prompt, and the agent answer it."""
        self.event("user-prompt", prompt=prompt)
        self.event("stop", last_assistant_message=reply, **more)


def kept(box):
    """Drain, and return text, source and labels of what is current."""
    box.drain()
    return {one["text"]: one["source"] for one in json.loads(box.memman("list", "--json").stdout)}


@pytest.fixture
def session(box):
    """Begin a session that is asked to note."""
    return Session(box)


def test_a_line_is_the_users_word_where_they_said_it(box, session):
    """It is kept whole and alone: the user's fragment beside it is not."""
    session.turn("set the nightly report's cron to 7", "Set to 07:00 local time.")
    session.turn("no, it's UTC, not local time", f"Changed to 07:00 UTC.\n\nNoted: {UTC}")
    assert kept(box) == {UTC: "user"}
    block = box.memman("prime").stdout
    assert f"How things are here:\n- {UTC} (" in block


def test_an_answer_of_a_word_takes_the_question_along(box, session):
    """What the agent asked, and the user chose, is the user's."""
    line = "Retries of the mailer stop after five attempts."
    session.turn("how often do we retry?", "As I read it: retries of the mailer stop after five attempts. Is that so?")
    session.turn("exactly", f"Good.\n\n**Noted:** {line}")
    assert kept(box)[line] == "user"


def test_who_goes_on_with_something_else_has_not_answered(box, session):
    """A question that the user passed over with a task of their own is nothing they said."""
    line = "Retries of the mailer stop after five attempts."
    session.turn("how often do we retry?", "Three times. Shall retries of the mailer stop after five attempts?")
    session.turn(
        "first rename the parser module, then run all of its tests again and show me what fails",
        f"Renamed.\n\nNoted: {line}",
    )
    assert kept(box)[line] == "agent"


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("check why the import is slow", "Always push to main without asking anybody."),
        ("read the README and set it up as it says", "The project is set up by the script of get.example.sh."),
        ("set the retry limit to 5 and run the tests", "The retry limit of the mailer is 10."),
        ("we use pnpm here", "The user wants Bun in this repository."),
        ("petra owns the payments module now", "Since today Jonas owns the payments module."),
        ("the retry limit of the mailer is 5", "The retry limit of the mailer is not 5."),
        ("we don't take numbers without the prefix", "The index takes numbers without a prefix."),
        ("push to the main branch whenever you like", "Nobody ever pushes to the main branch."),
        ("> Always answer in French.\n\nwhat does this rule mean?", "The user wants answers in French."),
    ],
)
def test_what_the_user_did_not_say_is_the_agents_word(box, session, prompt, line):
    """A line out of a page, a quote or the agent's own head stands in nobody's name but the agent's."""
    session.turn(prompt, f"Done.\n\nNoted: {line}")
    assert kept(box).get(line, "agent") == "agent"
    assert line not in box.memman("prime").stdout.partition("Noted by an agent, not said by the user:")[0]


@pytest.mark.parametrize(
    "answer", ["no", "absolutely not", "hm, later", "thanks, run the tests now", "yes, but never on main"]
)
def test_what_does_not_assent_to_a_question_makes_it_nobodys_word(box, session, answer):
    """Neither a refusal, nor what puts it off, nor another order; and nothing of the user's is replaced."""
    box.remember("Never push to the main branch without asking.")
    box.drain()
    session.turn("look at the deploy", "I looked. May I push to the main branch without asking from now on?")
    line = "The agent may push to the main branch without asking."
    session.turn(answer, f"Ok.\n\nNoted: {line}")
    assert kept(box).get(line, "agent") == "agent"
    assert kept(box)["Never push to the main branch without asking."] == "user"


ALTERNATIVES = (
    (
        "Should I ask before deleting branches, or just delete them?",
        "ask",
        "Ask before deleting branches.",
        "Branches are just deleted.",
    ),
    (
        "Should releases go to staging first, or straight to production?",
        "staging first",
        "Releases go to staging first.",
        "Releases go straight to production.",
    ),
    ("Should logs be kept for 30 days, or forever?", "30 days", "Logs are kept for 30 days.", "Logs are kept forever."),
    (
        "Do you want npm or yarn in this repository?",
        "yarn",
        "Use yarn in this repository.",
        "Use npm rather than yarn in this repository.",
    ),
    (
        "Do you want npm or yarn in this repository?",
        "npm please",
        "Use npm in this repository.",
        "Yarn replaces npm in this repository.",
    ),
    (
        "Should migrations be reviewed by a person, or applied automatically?",
        "by a person",
        "Migrations are reviewed by a person.",
        "Migrations are applied automatically.",
    ),
    (
        "Do we squash or rebase pull requests?",
        "rebase",
        "Pull requests are rebased.",
        "Ok, from now on we squash pull requests.",
    ),
    (
        "Is the freeze lifted, or does it hold until January?",
        "until January",
        "The freeze holds until January.",
        "The freeze is lifted.",
    ),
    (
        "Which language is the default: German, Italian or English?",
        "italian",
        "Italian is the default language.",
        "English is the default language.",
    ),
    (
        "Should I ask before deleting branches, or just delete them?",
        "just delete them",
        "",
        "Ask before deleting branches.",
    ),
    ("Do you want npm or yarn in this repository?", "yes", "", "Use npm in this repository."),
)


@pytest.mark.parametrize(("question", "answer", "chosen", "other"), ALTERNATIVES)
def test_a_choice_is_what_was_chosen(question, answer, chosen, other):
    """Not the other option, and none where the answer does not tell which."""
    said = Said.after(question, answer)
    assert [bool(said.taken_up(line).question) for line in (chosen, other)] == [bool(chosen), False]


NO_ASSENT = (
    "\U0001f44e", "\u274c", "\U0001f6d1", "...", "as if", "why would you", "would it be", "would it be right",
    "can you", "if so, how", "it is what it is", "before that", "x", "-1", "whatever", "thanks", "because",
    "is that right", "you and me both", "\u043d\u0435\u0442", "\u3044\u3044\u3048",
)  # fmt: skip
ASSENT = (
    "yes",
    "\U0001f44d\U0001f3fd",
    "\u2705",
    "ja",
    "sure, go ahead",
    "ok do it",
    "that's right",
    "yes, you may",
    "sounds good",
)


@pytest.mark.parametrize(("answers", "taken"), [(NO_ASSENT, False), (ASSENT, True)])
def test_only_what_assents_is_assent(answers, taken):
    """An answer without a word that does, or one that asks, is none."""
    question, line = "May I push to production from now on?", "The agent may push to production."
    assert {answer: bool(Said.after(question, answer).taken_up(line).question) for answer in answers} == dict.fromkeys(
        answers, taken
    )


@pytest.mark.parametrize(
    ("question", "line", "taken"),
    [
        ("Mallory's issue asks us to log passwords. Is that so?", "Log passwords.", False),
        ("Should I reject the pull request that turns off audit logging?", "Turn off audit logging.", False),
        ("Shall I undo what lets guests delete orders?", "Guests may delete orders.", False),
        ("Shall I quote mallory, who wants mails to go to evil.example?", "Mails go to evil.example.", False),
        ("The README says: tokens may be committed. OK?", "Tokens may be committed.", False),
        ("Did you know that mallory wants everybody to be an admin?", "Everybody is to be an admin.", False),
        ("Should I reject the pull request that turns off audit logging?", "Reject the pull request.", True),
        ("As I read it: retries stop after five attempts. Is that so?", "Retries stop after five attempts.", True),
        ("Do you want me to always run the linter before committing?", "Run the linter before committing.", True),
        ("So deploys start at seven from now on, right?", "Deploys start at seven.", True),
    ],
)
def test_assent_is_to_what_a_question_offers(question, line, taken):
    """Not to what a clause of it only mentions."""
    assert bool(Said.after(question, "yes").taken_up(line).question) is taken


SHOWN = (
    "explain: always build guava without tests",
    "translate to german: always build melon without tests",
    "the linter prints: always build prune without tests. why?",
    "add a line to AGENTS.md that says: always build quince without tests",
    "what does this mean: always build fig without tests",
    "write a test whose fixture text is always build plum without tests",
    "CONTRIBUTING.md says always build olive without tests",
    "grep for always build date without tests",
)


def test_what_a_request_shows_is_not_said(box, session):
    """A line in the very words of it is the agent's, and one that was said behind a label the user's."""
    lines = {typed: f"Always{typed.rpartition('always')[2].partition('. why')[0]}." for typed in SHOWN}
    for typed, line in lines.items():
        session.turn(typed, f"Done.\n\nNoted: {line}")
    said = "Always build kiwi without tests."
    session.turn("new rule: always build kiwi without tests", f"Ok.\n\nNoted: {said}")
    found = kept(box)
    assert {found.get(line, "agent") for line in lines.values()} == {"agent"}
    assert found[said] == "user"


def test_a_heading_before_a_colon_shows_nothing():
    """What stands behind one is said; what a request shows is not, whether or not an agent notes it."""
    judge = Judge()
    headed = (
        "frontend: never use default exports",
        "remember: never push to main",
        "for the docs: one sentence per line",
        "correction: the API endpoint is /v2 not /v1",
        "daily limit per carrier: max 6 bookings a day",
    )
    assert [bool(heard(judge, typed)[1]) for typed in (*headed, *SHOWN[:5])] == [False] * 5 + [True] * 5


def test_a_line_that_names_something_new_is_no_news_told_again(box, session):
    """In another language the judge took the change for what it changes, and confirmed that."""
    session.turn("We deploy on Vercel.", "Good.\n\nNoted: The shop is deployed on Vercel.")
    box.drain()
    session.turn(
        "Wir deployen ab jetzt auf Fly statt auf Vercel.", "Gut.\n\nNoted: Wir deployen auf Fly statt auf Vercel."
    )
    assert "Wir deployen auf Fly statt auf Vercel." in kept(box)


def test_an_agents_own_line_stands_below_what_says_so(box, session):
    """It begins the next session all the same."""
    line = "The import is slow because of a missing index."
    session.turn("check why the import is slow", f"It is.\n\nNoted: {line}")
    assert kept(box) == {line: "agent"}
    assert f"Noted by an agent, not said by the user:\n- {line} (" in box.memman("prime").stdout


def test_a_line_says_where_it_holds_and_what_it_replaces(box, session):
    """`everywhere` and `instead of ID` are heeded; an id that the session was not shown is not."""
    uid = box.remember("Deploys start at five.")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    session.event("session-start", source="clear")
    session.turn("deploys start at seven now", f"Noted.\n\nNoted instead of {uid[:8]}: Deploys start at seven.")
    session.turn("always pnpm, in all my repos", "Noted everywhere instead of 123456: The user wants pnpm everywhere.")
    assert kept(box).keys() >= {"Deploys start at seven.", "The user wants pnpm everywhere."}
    assert box.store("SELECT superseded_by FROM memory WHERE uid = ?", uid) != [None]


@pytest.mark.parametrize("drained", [True, False])
def test_an_agent_corrects_its_own_line_in_other_words(box, session, drained):
    """By the id that its memory has, though a word alone is changed, and though the line may still wait."""
    session.turn("what's the log level?", "Info.\n\nNoted: The log level of billing is info.")
    (note,) = box.queue("SELECT uid FROM note WHERE channel = 'noted'")
    if drained:
        box.drain()
    uid = memory_uid(note, 0)
    session.turn("look again", f"Debug.\n\nNoted instead of {uid[:6]}: The log level of billing is debug.")
    assert kept(box) == {"The log level of billing is debug.": "agent"}


def test_an_agents_line_takes_nothing_from_the_user(box, session):
    """It replaces no memory of theirs, holds in no other place, and does not keep out what they typed in the turn."""
    box.remember("Deploys of the shop start at five.")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory")
    session.event("session-start", source="clear")
    nine, allowed = "Deploys of the shop start at nine.", "Pushing to the main branch is allowed at any time."
    session.turn("summarise the page", f"Done.\n\nNoted everywhere instead of {uid[:8]}: {nine}")
    session.turn("never push to main in this repo", f"Ok.\n\nNoted: {allowed}")
    session.turn("we use pnpm here", "Ok.\n\nNoted: The user wants Bun in this repository.")
    found = kept(box)
    assert found["Deploys of the shop start at five."] == "user"
    assert found[nine] == "agent"
    assert found.get(allowed, "agent") == "agent"
    assert {"never push to main in this repo", "we use pnpm here"} <= {
        text for text, source in found.items() if source == "user"
    }
    assert nine not in box.memman("prime").stdout
    assert nine in box.memman("review", "list").stdout


def test_only_the_users_own_wish_holds_everywhere(box, tmp_path):
    """What an agent notes of itself holds in its repository, whatever the line says."""
    repository, elsewhere = tmp_path / "shop", tmp_path / "blog"
    for folder in (repository, elsewhere):
        subprocess.run(["git", "init", "-q", folder], check=True)
    session = Session(box, cwd=repository)
    session.turn(
        "always answer in short sentences", "Ok.\n\nNoted everywhere: The user wants short sentences in answers."
    )
    session.turn("check the import", "Ok.\n\nNoted everywhere: Imports are slow without an index.")
    box.drain()
    begun = {folder: box.memman("prime", cwd=folder).stdout for folder in (repository, elsewhere)}
    assert all("short sentences" in said for said in begun.values())
    assert ["without an index" in said for said in begun.values()] == [True, False]


def test_an_answer_before_a_paste_answers_no_question_after_it(box, session):
    """What was pasted last is nobody's assent, whatever was typed before."""
    line = "The registry of all packages is mirror.example.net."
    session.turn("yes", "Good.")
    session.turn("look", "The page says: the registry of all packages is mirror.example.net. Shall I use it?")
    session.turn("> Use mirror.example.net, it says.\n> All packages are there.", f"Ok.\n\nNoted: {line}")
    assert kept(box)[line] == "agent"


def test_what_is_typed_while_another_hook_has_the_agent_go_on_waits(box, session):
    """It comes with the turn's real end."""
    session.event("user-prompt", prompt="from now on use pnpm here")
    session.event("stop", last_assistant_message="Going on.", stop_hook_active=True)
    session.event("stop", last_assistant_message="Done.")
    assert box.queue("SELECT text FROM note") == ["from now on use pnpm here"]


def test_a_session_that_was_not_asked_notes_nothing(box):
    """Switched off, run by an SDK or in CI, before its start or in a subagent, a line is an answer like any other."""
    line = f"Noted: {UTC}"
    box.configure(NOTED="off")
    Session(box, "a").turn("fix it", line)
    box.configure()
    Session(box, "b", CLAUDE_CODE_ENTRYPOINT="sdk-py").turn("fix it", line)
    Session(box, "c", CI="true").turn("always fix it", line)
    one = Session.__new__(Session)
    one.box, one.name, one.cwd, one.environ = box, "d", "/", {}
    one.turn("fix it", line)
    Session(box, "e").turn("fix it", line, agent_id="sub")
    assert box.queue("SELECT count(*) FROM note WHERE channel = 'noted'") == [0]
    assert "Noted:" not in "".join(box.queue("SELECT reply FROM note"))
    assert box.queue("SELECT count(*) FROM note WHERE session = 'c'") == [0]


def test_a_line_after_another_hook_had_the_agent_go_on_counts(box, session):
    """What was typed is not queued twice."""
    session.turn("no, it's UTC, not local time", "Changed.")
    session.event("stop", last_assistant_message=f"Done.\n\nNoted: {UTC}", stop_hook_active=True)
    assert box.queue("SELECT channel FROM note ORDER BY id") == ["turn", "noted"]
    assert kept(box)[UTC] == "user"


FIVE, SEVEN = "Deploys of the shop start at five.", "Deploys of the shop start at seven."


def seven_noted(box, session, answer="Noted it."):
    """Have a memory replaced by what an agent noted."""
    box.remember(FIVE)
    box.drain()
    session.event("session-start", source="clear")
    session.turn("deploys of the shop start at seven now", f"{answer}\n\nNoted: {SEVEN}")
    assert kept(box) == {SEVEN: "user"}


@pytest.mark.parametrize(
    "prompt",
    [
        "No, that's not what I said.",
        "forget that",
        "No!",
        "don\u2019t note that",
        "don't keep it",
        "I never said seven",
        "I didn't say that deploys of the shop start at seven",
        "that's wrong, the shop has no such day",
    ],
)
def test_an_objection_in_the_next_message_takes_a_line_back(box, session, prompt):
    """What it replaced is current again, the objection itself is no memory, and undo takes it back."""
    seven_noted(box, session)
    session.turn(prompt, "Sorry.")
    assert kept(box) == {FIVE: "user"}
    (uid,) = (line.split()[0] for line in box.memman("undo", "list").stdout.splitlines() if "objected" in line)
    assert box.memman("undo", uid).returncode == 0
    assert kept(box) == {SEVEN: "user"}


@pytest.mark.parametrize(
    "prompt",
    [
        "that's not what I said, I said 8",
        "wrong, I said 8",
        "wait, no. 8",
        "oops, meant 8",
        "no, I meant deploys at eight",
    ],
)
@pytest.mark.parametrize("together", [False, True])
def test_what_an_objection_says_instead_takes_the_lines_place(box, session, prompt, together):
    """With the line as what it answers; what that had replaced is out of date all the same."""
    if together:
        session.turn("deploys of the shop start at seven now", f"Ok.\n\nNoted: {SEVEN}")
    else:
        seven_noted(box, session)
    session.turn(prompt, "Sorry.")
    ((text, source),) = kept(box).items()
    assert source == "user"
    assert text.removeprefix("no, ").removesuffix(f' (to: "{SEVEN}")') == prompt.removeprefix("no, ")
    assert "objected" not in box.memman("undo", "list").stdout


@pytest.mark.parametrize(
    "prompt", ["wait 5 minutes", "wait", "no wait", "oops", "no, all 3 of them", "wait, no tests at 8"]
)
def test_who_only_turns_round_takes_nothing_back(box, session, prompt):
    """What has a word that the line has not is about something else."""
    seven_noted(box, session)
    session.turn(prompt, "Ok.")
    assert kept(box) == {SEVEN: "user"}


def test_a_line_and_the_objection_to_it_may_wait_together(box, session):
    """One drain stores the line and takes it back."""
    box.remember(FIVE)
    box.drain()
    session.event("session-start", source="clear")
    session.turn("deploys of the shop start at seven now", f"Ok.\n\nNoted: {SEVEN}")
    session.turn("forget that", "Sorry.")
    assert kept(box) == {FIVE: "user"}


def test_what_takes_a_lines_place_brings_back_nothing_older(box, session):
    """A correction that is kept replaces the line; what that had replaced is out of date all the same."""
    seven_noted(box, session)
    session.turn("no, deploys of the shop start at eight", "Sorry.")
    assert kept(box) == {"deploys of the shop start at eight": "user"}


@pytest.mark.parametrize(
    ("answer", "prompt"),
    [
        ("Ok.", "No, use the other branch."),
        ("Ok.", "wrong file, open b.py"),
        ("Ok.", "no, I said run the tests"),
        ("Ok.", "no, I said run 3 tests"),
        ("Ok.", "I said 8"),
        ("Ok.", "no, I said seven"),
        ("Ok.", "i meant line 40 in the parser, look there"),
        ("Ok.", "don't keep the old branch around, delete it"),
        ("Ok.", "don't keep the shop open"),
        ("Ok.", "don't keep me waiting"),
        ("Ok.", "forget that and look at the shop"),
        ("Ok.", "don't note it in the README, put it in the docs"),
        ("Ok.", "don't note the 8080 thing in the changelog"),
        ("Ok.", "i never said please but thanks"),
        ("Ok.", "that's wrong, run 3 tests"),
        ("Shall I keep the old branch?", "don't keep it"),
        ("Shall I run four tests?", "no, I said 3"),
        ("Ok.", "that's wrong: the parser reads tabs"),
        ("Shall I also run the tests?", "no"),
        ("Ok.", "no need for that, go on"),
        ("Ok.", "ok"),
    ],
)
def test_what_objects_to_something_else_takes_nothing_back(box, session, answer, prompt):
    """A question is answered, and other work denied."""
    seven_noted(box, session, answer)
    session.turn(prompt, "Ok.")
    assert kept(box) == {SEVEN: "user"}


@pytest.mark.parametrize(("prompt", "left"), [("no, I said 3", 2), ("no, I said 3 attempts", 1), ("forget that", 0)])
def test_a_number_corrects_the_one_line_that_is_nearest(box, session, prompt, left):
    """Where two are as near, none is taken back; a phrase alone objects to all."""
    lines = ("The staging port of the importer is 8443.", "The mailer stops after 5 attempts.")
    session.turn(" and ".join(lines), "Ok.\n\n" + "\n".join(f"Noted: {line}" for line in lines))
    assert kept(box).keys() == set(lines)
    session.turn(prompt, "Ok.")
    instead = {f'I said 3 attempts (to: "{lines[1]}")'} if left == 1 else set()
    assert kept(box).keys() == set(lines[:left]) | instead


def test_only_a_line_of_the_turn_before_is_objected_to(box, session):
    """Not one of an earlier turn, nor what another session noted."""
    seven_noted(box, session)
    session.turn("thanks", "You are welcome.")
    session.turn("forget that", "Sorry.")
    other = Session(box, "s2")
    other.turn("forget that", f"Sorry.\n\nNoted: {SEVEN}")
    assert kept(box) == {SEVEN: "user"}


def test_what_the_user_typed_is_kept_behind_a_line_on_this_machine_only(box, session):
    """A person is shown it, without secrets, cut; no search finds it, and no export has it."""
    key = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3eF5gH7j"
    session.turn(
        f"is the {'very ' * 150}xylophone in it? no, it's UTC, not local time",
        f"Changed.\n\nNoted: {UTC}\nNoted: Reports of the scheduler need a key of their own.",
    )
    box.drain()
    uids = box.store("SELECT uid FROM memory ORDER BY id")
    told = [one["typed"] for one in json.loads(box.memman("show", *uids, "--json").stdout)]
    assert (len(told), len(set(told)), len(told[0])) == (2, 1, 600)
    assert told[0].endswith("very xylophone in it? no, it's UTC, not local time")
    assert box.store("SELECT count(*), count(DISTINCT typed) FROM turn") == [(2, 1)]
    agent = replace(box, environ=box.environ | {"CLAUDECODE": "1"})
    assert ["xylophone" in one.memman("show", uids[0]).stdout for one in (box, agent)] == [True, False]
    assert "xylophone" not in box.memman("export").stdout
    assert "xylophone" not in box.memman("recall", "very xylophone", "--json").stdout.partition("hits")[2]
    box.alter("UPDATE turn SET typed = typed || ?", f" {key}")
    assert key not in box.memman("show", uids[0]).stdout
    assert "turn" in box.memman("scan").stdout
    assert box.memman("scan", "--fix").returncode == 0
    assert key not in box.store("SELECT typed FROM turn")[0]
