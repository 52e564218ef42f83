"""How the built-in model take a note apart and describe its facts."""

import asyncio
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.judge.judge import Judge
from memman.llm.builtin import BuiltinLLM
from memman.llm.builtin.extract import extract, summary, title
from memman.llm.builtin.split import MAX_CHARS, MAX_FACTS, sentences, split
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Request

JUDGE = Judge()


def note(text, judge=JUDGE, **hints):
    """Extract the facts of a note."""
    payload = {"text": text, "category": None, "importance": None, "entities": [], "source": "user"}
    return extract(payload | hints, judge)["facts"]


KINDS = [
    ("I prefer tabs over spaces.", "preference"),
    ("Never push to main.", "preference"),
    ("We decided to use Postgres.", "decision"),
    ("The API listens on port 8080.", "fact"),
]
DOCUMENT = """# Release notes

Thanks to everybody who helped!

The exporter writes Parquet files to the bucket `reports-eu` every night at 02:00.

See also: https://example.org/notes

Attendees: Kim, Lee, Sam

Billing is owned by Dana.

Signed-off-by: Kim <kim@example.org>
"""


@pytest.mark.parametrize(("text", "category"), KINDS)
def test_the_judge_names_the_kind_of_a_statement(judge, text, category):
    """Rules, preferences and corrections are preferences, and weigh more than facts."""
    (fact,) = note(text, judge)
    assert fact["category"] == category
    assert fact["importance"] == (3 if category == "fact" else 4)


def test_of_a_document_only_what_says_something_is_kept(judge):
    """Thanks, links and trailers are no memories; what the document states is."""
    texts = [fact["text"] for fact in note(DOCUMENT, judge)]
    assert any("Parquet" in text for text in texts)
    assert any("Dana" in text for text in texts)
    assert not any(junk in text for text in texts for junk in ("Thanks", "Signed-off", "example.org/notes"))


PAGE = """# Deploying the shop

![Build](https://ci.example.org/badge.svg) [![Licence](licence.svg)](LICENSE)

- ![a screenshot of the deploy page][page]

The shop is deployed from the branch `release`, see ![the arrow](arrow.png) beside it.

```
git switch release
make deploy
```

A deploy is taken back with:

```
make rollback
```

1. Bo tags the release
   ```
   git tag -s v2
   ```
"""


def test_images_and_code_alone_state_nothing(judge):
    """A line of images is no statement of a document, nor is a fenced block that no sentence or item introduces."""
    told = "\n".join(fact["text"] for fact in note(PAGE, judge))
    assert not any(junk in told for junk in ("badge", "Licence", "screenshot", "git switch", "make deploy"))
    assert all(kept in told for kept in ("the arrow", "`release`", "taken back with:\nmake rollback", "git tag -s v2"))


@pytest.mark.parametrize("text", ["Deploy the shop\n```\nmake deploy\n```", "# Deploy\n```\nmake deploy\n```"])
def test_code_is_kept_where_a_note_says_little_else(judge, text):
    """A short note that is no document keeps its code, and so does a document that has nothing else."""
    assert any("make deploy" in fact["text"] for fact in note(text, judge))


def test_what_somebody_asked_to_remember_is_never_lost(judge):
    """Whatever a short note says, it is kept; so is something of any document."""
    assert [fact["text"] for fact in note("thanks, that worked", judge)] == ["thanks, that worked"]
    assert note("Thanks!\n\nHi all\n\nSee below\n\nBye\n\nCheers", judge)


def test_a_note_of_five_items_is_kept_whole_however_it_is_parted(judge):
    """A paragraph that is stored as two rules does not make a document of the note, of which little things are lost."""
    text = "Always use spaces in YAML. Never push to main without a review.\n"
    items = ["Ann sits in room 4", "the printer PIN is 4471", "Bob is away until May", "milk is in the second fridge"]
    texts = " ".join(fact["text"] for fact in note(text + "".join(f"- {item}\n" for item in items), judge))
    assert [item for item in items if item not in texts] == []


SENTENCES = [
    ("We use v1.2.3 of it. Deploys go out on Fridays.", ["We use v1.2.3 of it.", "Deploys go out on Fridays."]),
    ("Python 3.11 is required. Tests run with tox.", ["Python 3.11 is required.", "Tests run with tox."]),
    ("See docs/db.md. Run ./bin/setup first.", ["See docs/db.md.", "Run ./bin/setup first."]),
    ("It is at https://acme.io/v1. The panel is internal.", ["It is at https://acme.io/v1.", "The panel is internal."]),
    ("Prefer small tools, e.g. ripgrep. Avoid big ones.", ["Prefer small tools, e.g. ripgrep.", "Avoid big ones."]),
    ("Ask Dr. Smith about it. Bob knows too.", ["Ask Dr. Smith about it.", "Bob knows too."]),
    ("Stage with git add . Push the branch later.", ["Stage with git add .", "Push the branch later."]),
    ('The log says "Done. Bye." at the end. Ship the fix.', ['The log says "Done. Bye." at the end.', "Ship the fix."]),
    ("Call `a. B` first. Close the file afterwards.", ["Call `a. B` first.", "Close the file afterwards."]),
    ("use redis for queues. never use memcached here.", ["use redis for queues.", "never use memcached here."]),
    ("The API uses Go. This repo uses Rust.", ["The API uses Go.", "This repo uses Rust."]),
    ("我们使用 Postgres。每周五部署服务。", ["我们使用 Postgres。", "每周五部署服务。"]),
    ("Bob (see p. 3. and p. 4.) agreed. Eve did not.", ["Bob (see p. 3. and p. 4.) agreed.", "Eve did not."]),
    ("Does it scale? Yes. The queue is sharded.", ["Does it scale?", "Yes.", "The queue is sharded."]),
]

SPLITS = [
    ("We use Postgres.", ["We use Postgres."]),
    ("we use  postgres\n for billing", ["we use postgres for billing"]),
    (
        "To use it: run the installer once, then type what you need. It runs on Linux and\nmacOS (Windows by WSL).",
        ["To use it: run the installer once, then type what you need. It runs on Linux and macOS (Windows by WSL)."],
    ),
    ("Stage the files with git add . at the root.", ["Stage the files with git add . at the root."]),
    ("Wait... then retry the job.", ["Wait... then retry the job."]),
    ("The pool is small. It exhausts under load.", ["The pool is small. It exhausts under load."]),
    ("We pin numpy. Otherwise the build breaks.", ["We pin numpy. Otherwise the build breaks."]),
    ("Disk db1 is full. Therefore backups fail.", ["Disk db1 is full. Therefore backups fail."]),
    ("We use uv. The reason is speed.", ["We use uv. The reason is speed."]),
    ("We use uv because pip is slow.", ["We use uv because pip is slow."]),
    ("# Deployment\n- port 8080\n- region eu-west-1", ["Deployment: port 8080", "Deployment: region eu-west-1"]),
    ("We chose uv over Poetry for the lock file. Trade-offs:\n- young tool\n- no plugins yet",
     ["We chose uv over Poetry for the lock file.", "Trade-offs: young tool", "Trade-offs: no plugins yet"]),
    ("Log:\n  File one is missing\nThe fix is to add it.", ["Log: File one is missing", "The fix is to add it."]),
    ("Tools:\n- pytest\n- ruff", ["Tools: pytest", "Tools: ruff"]),
    ("Tools:\n\n- pytest\n- ruff", ["Tools: pytest", "Tools: ruff"]),
    ("- Backend\n  - uses FastAPI\n  - port 8080", ["Backend: uses FastAPI", "Backend: port 8080"]),
    ("1. Run make build now\n2. Tag the release", ["Run make build now", "Tag the release"]),
    ("# Rules\n- The API must never return HTML.\n- All times are in UTC.",
     ["Rules: The API must never return HTML.", "Rules: All times are in UTC."]),
    ("- [ ] write the docs page\n- [x] ship the parser", ["to do: write the docs page", "done: ship the parser"]),
    ("| Name | Port |\n|--|--|\n| api | 80 |\n| web | 3000 |", ["Name: api; Port: 80", "Name: web; Port: 3000"]),
    ("| | Port |\n|--|--|\n| api | 80 |", ["api; Port: 80"]),
    ("The worker that runs in the background turns all of the notes into\nmemories: it removes secrets first.",
     ["The worker that runs in the background turns all of the notes into memories: it removes secrets first."]),
    ("The staging database was moved to another host last week.\nport: 5433",
     ["The staging database was moved to another host last week.", "port: 5433"]),
    ("Release notes\n=============\nThe parser is fast.", ["Release notes: The parser is fast."]),
    ("<!-- hidden --> The parser is <b>fast</b>.", ["The parser is fast."]),
    ("Run the tests with:\n```sh\nmake test\npytest -x\n```", ["Run the tests with:\nmake test\npytest -x"]),
    ("abc1234 Fix the parser\ndef5678 Add more tests", ["abc1234 Fix the parser", "def5678 Add more tests"]),
    ("Author: Bob Smith\nBranch: main branch", ["Author: Bob Smith", "Branch: main branch"]),
    ("Deployment target: Vercel\nDatabase: Postgres", ["Deployment target: Vercel", "Database: Postgres"]),
    ("> We deploy on Fridays only.", ["We deploy on Fridays only."]),
    ("Thanks! The API listens on port 8080.", ["The API listens on port 8080."]),
    ("Tools:\n- pytest runs\nThen ship it all.", ["Tools: pytest runs", "Then ship it all."]),
    ("| Name | Port number |\n|--|--|", ["Name; Port number"]),
    ("# Only a heading", ["Only a heading"]),
    ("Who gets access\nOperators and everybody on call.", ["Who gets access: Operators and everybody on call."]),
    ("Money\n- capped at 22,000 euros\n- paid in May", ["Money: capped at 22,000 euros", "Money: paid in May"]),
    ("In der Woche vom 12. August sind wir nicht da.", ["In der Woche vom 12. August sind wir nicht da."]),
    ("", []),
    ("   \n\t", []),
    ("----", []),
    ("(((", []),
    ("Step one is lint.\nStep one is lint.", ["Step one is lint."]),
    ("- The parser reads the file\n  and closes it afterwards", ["The parser reads the file and closes it afterwards"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_a_paragraph_has_sentences(text, expected):
    """Full stops of abbreviations, versions, quotations and code end no sentence."""
    assert sentences(text) == expected


@pytest.mark.parametrize(("text", "_"), SENTENCES)
def test_a_short_paragraph_stays_one_statement(text, _):
    """What is said in one breath is split by nothing but the judge."""
    assert split(text) == [text]


WHOLE = [
    "Deploys need two approvals. Never run them on Fridays.",
    "I've had it with Kotest breaking on every update. JUnit 5 for anything you write from here.",
    "rhino has been switched off. The dashboard is at https://dash.example/beds since then.",
    "Use tabs in Go files. Everywhere else use two spaces.",
    "The API runs on Fly in Frankfurt. The backup runs there too every night.",
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_understood_only_together_is_stored_together(judge, text):
    """A sentence that refers to the one before, or says too little by itself, stays with it."""
    assert [fact["text"] for fact in note(text, judge)] == [text]


def test_sentences_that_stand_by_themselves_are_stored_apart(judge):
    """Two rules in one note are two memories, each of which can be replaced alone."""
    texts = [fact["text"] for fact in note("Use pnpm, never npm. Deploys go out on Fridays.", judge)]
    assert texts == ["Use pnpm, never npm.", "Deploys go out on Fridays."]


@pytest.mark.parametrize(("text", "expected"), SPLITS)
def test_a_note_becomes_statements(text, expected):
    """A note is cut into statements that can be read alone."""
    assert split(text) == expected


def test_only_a_line_feed_or_a_carriage_return_ends_a_line():
    """U+2028, a vertical tab, a form feed and U+0085 begin no heading, list, title or statement."""
    said = "The banner says hello\u2028# and nothing\x85- else\x0bat night\x0ctwice a week."
    assert [one["text"] for one in note(said)] == [" ".join(said.split())]
    assert len(note("# Shop\r\n- Deploys run at night.\r- Nobody deploys on Fridays.")) == 2
    assert title(f"Deploys of shop\u2028{'-' * 9}\u2028They run at night.") == ""


def test_hints_win():
    """What the caller hinted replaces category and importance and leads the entities of every fact."""
    facts = note("We use Redis.\n\nBob owns the cache.", category="context", importance=5, entities=["acme", "REDIS"])
    assert {(fact["category"], fact["importance"]) for fact in facts} == {("context", 5)}
    assert facts[0]["entities"] == ["acme", "REDIS"]
    assert facts[1]["entities"][:2] == ["acme", "REDIS"]


def test_only_long_text_is_summarised():
    """A summary is the first clause of a text over two hundred characters, with what introduces it."""
    assert summary("We use Postgres.") == ""
    long = "The importer reads every order from the queue, " + "and then writes it to the ledger " * 8
    assert summary(long) == "The importer reads every order from the queue"
    assert summary(f"How the importer works at night: {long}").endswith("every order from the queue")


def test_long_statements_are_cut_at_clauses():
    """An over-long statement is cut where a clause ends, never inside a word."""
    text = "The importer reads the queue and writes the ledger, " * 20
    pieces = split(text)
    assert all(len(piece) <= MAX_CHARS for piece in pieces)
    assert all(piece.startswith(("The importer", "and writes")) for piece in pieces)
    assert " ".join(pieces).split() == text.split()


def test_many_statements_are_grouped():
    """Beyond the most facts of a note statements are grouped, none dropped."""
    text = " ".join(f"Service number {i} listens on port {i}." for i in range(300))
    facts = split(text)
    assert len(facts) <= MAX_FACTS
    assert " ".join(facts).split() == text.split()


def test_an_unknown_task_is_refused():
    """The rules say plainly which task they do not know."""
    with pytest.raises(ProviderMisconfigured, match="poetry"):
        asyncio.run(BuiltinLLM(JUDGE).complete(Request("poetry", "fast", "", "", {}, {})))


def test_the_protocol_answers_extract():
    """The model behind the protocol reads the payload."""
    request = Request("extract", "fast", "", "", {}, {"text": "We use uv.", "entities": [], "source": "user"})
    assert [fact["text"] for fact in asyncio.run(BuiltinLLM(JUDGE).complete(request)).data["facts"]] == ["We use uv."]


@pytest.mark.parametrize("broken", [0, 1, 2, 5])
def test_of_questions_answered_together_each_has_its_own_answer(judge, broken):
    """A note that cannot be read fails alone, and the others are answered as if they were asked alone."""
    texts = ["We use uv.", "Never push to main.", "We decided to use Postgres.", "The API listens on port 8080."] * 2
    payloads = [{"text": text, "entities": [], "source": "user"} for text in texts]
    payloads[broken] = {"entities": []}

    async def asked():
        model = BuiltinLLM(judge)
        requests = [Request("extract", "fast", "", "", {}, payload) for payload in payloads]
        answers = await asyncio.gather(*(model.complete(one) for one in requests), return_exceptions=True)
        await model.close()
        return answers

    answers = asyncio.run(asked())
    assert isinstance(answers[broken], KeyError)
    for n, text in enumerate(texts):
        if n != broken:
            assert [(fact["text"], fact["category"]) for fact in answers[n].data["facts"]] == [
                (fact["text"], fact["category"]) for fact in note(text, judge)
            ]


def test_what_waits_when_the_model_is_closed_is_cancelled(judge):
    """Nobody waits for an answer that will not come."""

    async def asked():
        model = BuiltinLLM(judge)
        request = Request("extract", "fast", "", "", {}, {"text": "We use uv. " * 200, "entities": []})
        asking = [asyncio.ensure_future(model.complete(request)) for _ in range(40)]
        await asyncio.sleep(0)
        await model.close()
        return await asyncio.gather(*asking, return_exceptions=True)

    answers = asyncio.run(asked())
    assert len(answers) == 40
    assert any(isinstance(one, asyncio.CancelledError) for one in answers)


PLAIN = st.lists(
    st.lists(st.text("abcdeimnorstyABT", min_size=2, max_size=9), min_size=3, max_size=12).map(" ".join),
    min_size=1,
    max_size=12,
)


@given(PLAIN)
def test_no_word_of_a_plain_note_is_lost(statements):
    """Every word of a note of plain sentences is in one of its facts."""
    said = set(" ".join(split(". ".join(statements) + ".")).replace(".", " ").replace(";", " ").split())
    assert set(" ".join(statements).split()) <= said


LINES = [
    "# Head",
    "## Sub",
    "- item",
    "  - deeper",
    "1. step",
    "Lead:",
    "Text here.",
    "",
    "| a | b |",
    "|---|---|",
    "```",
]
# Seconds. In proportion it takes a fifth of one; in proportion to the square it would take many minutes.
HANG = 20.0
LINES += ["> quote", "wrapped line, and", "abc1234 fix", "key: value", "---", "- [ ] task", "It leans.", "====", "~~~"]
MARKDOWN = st.lists(st.sampled_from(LINES), max_size=14)


@given(MARKDOWN)
def test_no_word_of_a_markdown_note_is_lost(lines):
    """Whatever the layout, every word written comes out in a fact."""
    marked = [
        f"{line.rstrip('.:')} w{i}x{line[-1]}" if line.strip("`|-># ") and line[-1] in ".:" else line
        for i, line in enumerate(lines)
    ]
    said = " ".join(split("\n".join(marked)))
    assert all(f"w{i}x" in said for i, line in enumerate(marked) if f"w{i}x" in line)
    assert all(
        word in said for line in lines for word in ("Head", "Sub", "item", "deeper", "step", "quote") if word in line
    )


@given(st.text(max_size=300))
def test_extract_takes_any_text(text):
    """Any text gives the same bounded facts twice, and none of them is empty."""
    facts = note(text)
    assert facts == note(text)
    assert len(facts) <= MAX_FACTS
    assert all(fact["text"].strip() and 1 <= fact["importance"] <= 5 for fact in facts)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "(",
        ". ",
        "because ",
        "`",
        '"',
        "A ",
        "a/",
        "a.",
        "a_",
        "- a\n",
        "# a\n",
        "| ",
        "\n",
        "**",
        "A:\n",
        "。",
        "🙂",
        "https://",
        "a\n",
        "中。",
    ],
)
def test_extract_takes_time_in_proportion(unit):
    """64 KiB of anything is taken apart at once."""
    started = time.process_time()
    note(unit * (65536 // len(unit)))
    assert time.process_time() - started < HANG


@pytest.mark.parametrize(
    "alphabet", ["aB3+/", "aB3+/\n", "aB_1-", "a.b/C-", "A_1-.", "aB.(){}", "ab =:,", "aé中B1 "], ids=ascii
)
def test_noise_takes_time_in_proportion(alphabet):
    """64 KiB of encoded data, of lines or in one, is taken apart at once."""
    chance = random.Random(alphabet)
    started = time.process_time()
    note("".join(chance.choices(alphabet, k=32768)))
    note("\n".join("".join(chance.choices(alphabet, k=76)) for _ in range(800)))
    assert time.process_time() - started < HANG
