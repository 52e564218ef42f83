"""Whether a model is fit: scripted ones, good and bad, work on the graded notes through the real pipeline."""

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memman.config.env import Settings
from memman.doctor import examine
from memman.doctor import fitness as fitness_of
from memman.doctor.finding import Context
from memman.model.errors import BudgetSpent, ProviderMisconfigured, ProviderUnavailable
from memman.trial.grade import FAULTS, Landed, Outcome, faults
from memman.trial.notes import graded
from memman.trial.run import accounted, estimate, measure
from memman.trial.verdict import LIMITS, verdict
from tests.support.box import no
from tests.support.providers import GARBAGE_CONTENT, OK, ScriptedProvider, status

NOTES = graded()
# What was pasted into a turn is not shown to a model, but its first line is.
BY_LINE = {note.text.splitlines()[0]: note for note in NOTES}
RETIRED = {note.stored[place] for note in NOTES for place in note.retired}
_SAID = re.compile(r"<(?:note|user)>\n(.*?)\n</(?:note|user)>", re.DOTALL)
_FACT = re.compile(r"^f(\d+): (.*)$", re.MULTILINE)
_MEMORY = re.compile(r"^m(\d+) \([^)]*\): (.*)$", re.MULTILINE)


@dataclass
class Scripted:
    """A model that knows the right answers, and what it makes of them."""

    reword: object = field(default=lambda text: text)
    retires: object = field(default=RETIRED.__contains__)
    turns: bool = False

    def __call__(self, question):
        """Answer one question."""
        if question["task"] == "reconcile":
            old = [int(n) for n, text in _MEMORY.findall(question["user"]) if self.retires(text)]
            new = [int(n) for n, _ in _FACT.findall(question["user"])]
            verdicts = [{"fact": new[0], "action": "UPDATE", "memory": n, "reason": ""} for n in old]
            return {"verdicts": verdicts, "causes": []}
        note = BY_LINE[_SAID.search(question["user"])[1].splitlines()[0]]
        answer = note.answer or ((note.text, note.reply) if self.turns else ())
        return {"facts": [self.fact(note, text) for text in answer]}

    def fact(self, note, text):
        """Write one fact."""
        empty = {"category": "fact", "importance": 3, "entities": [], "keywords": [], "summary": ""}
        return empty | {"text": self.reword(text), "speaker": note.speaker}


def tried(box, script=(), **more):
    """Have a scripted model work on the notes, through a data folder of its own; return (trial, its verdict)."""
    with ScriptedProvider(respond=Scripted(**more), script=script) as provider:
        box.use(provider)
        with accounted(str(box.data)) as ledger:
            trial = measure(Settings.load(str(box.data)), ledger, NOTES)
    return trial, verdict(NOTES, trial.faults)


@pytest.fixture
def room(tmp_path, monkeypatch):
    """Give the folder that temporary ones are made in, by this test alone."""
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    return room


def wrong(trial):
    """Return the ids of the notes that went wrong, by fault."""
    found = {}
    for note, names in zip(NOTES, trial.faults, strict=True):
        for name in names:
            found.setdefault(name, []).append(note.id)
    return found


def test_there_are_notes_of_every_kind():
    """Forty notes, each with a right answer that its own grading accepts, and a number for every fault."""
    kinds = [note.kind for note in NOTES]
    least = {"fact": 10, "change": 8, "near": 6, "turn": 8, "language": 4, "hostile": 4}
    assert len(NOTES) == 40
    assert {kind: kinds.count(kind) for kind in least} == least
    assert {limit.fault for limit in LIMITS} == FAULTS.keys()
    for note in NOTES:
        right = Outcome(tuple(map(Landed, note.answer)), frozenset(note.retired))
        assert faults(note, right) == (), note.id
        assert not note.found or "lost" in faults(note, Outcome((), frozenset(note.retired))), note.id


def test_a_perfect_model_gets_full_marks(box, room):
    """Whose answers are right, be it through the real pipeline, is fit; what it took is counted, in the ledger too."""
    trial, says = tried(box)
    assert wrong(trial) == {}
    assert (says.level, says.says) == ("ok", "fit: 40 of 40 notes are right")
    assert box.queue("SELECT sum(calls) FROM ledger") == [trial.calls]
    calls, tokens = estimate(NOTES)
    assert 0.8 * calls <= trial.calls <= calls
    assert 0.3 * tokens <= trial.tokens_in + trial.tokens_out <= 2 * tokens
    assert box.queue("SELECT count(*) FROM note") == [0]
    assert not (box.data / "data").exists()
    assert list(room.iterdir()) == []


def garbled(received):
    """Spoil every answer about one note in four."""
    said = json.dumps(received.body)
    return GARBAGE_CONTENT if any(json.dumps(line)[1:-1] in said for line in list(BY_LINE)[::4]) else OK


def test_a_model_that_garbles_is_unfit(box):
    """What the built-in model makes of a note, because an answer cannot be read, is nothing in the model's favour."""
    trial, says = tried(box, garbled)
    assert wrong(trial).keys() == {"unusable"}
    assert len(wrong(trial)["unusable"]) == 10
    assert (says.level, says.roles) == ("fail", ("fast",))
    assert says.says == "unfit: it gives no usable answer to 10 of 40 notes; 30 of 40 notes are right"


def test_a_model_that_finds_nothing_is_unfit(box):
    """An empty answer to what somebody asked to be remembered is as good as none."""
    trial, says = tried(box, reword=lambda _: "")
    assert says.level == "fail"
    notes = [note.id for note in NOTES if note.channel == "note"]
    assert wrong(trial)["unusable"] == notes


def test_a_model_that_denies_and_one_that_makes_up_numbers_are_unfit(box):
    """A fact turned round and a number that nobody said are seen, and named in the sentence."""
    denies, says = tried(
        box, reword=lambda text: re.sub(r" (runs?|needs|listens|owns|is|wants) ", r" does not \1 ", text)
    )
    assert says.level == "fail"
    assert {"gateway", "bakery", "owners", "timeout", "canary", "android", "videos", "bench"} <= {
        *wrong(denies)["invented"]
    }
    assert "what was not said" in says.says
    invents, says = tried(box, reword=lambda text: f"{text} It was measured 77 times.")
    assert says.level == "fail"
    assert len(wrong(invents)["invented"]) >= 25


def test_a_model_that_retires_too_much_or_too_little_is_fit_for_notes_alone(box):
    """Both are the fault of the slow model, and neither touches what notes say."""
    every, says = tried(box, retires=lambda _: True)
    assert wrong(every).keys() == {"wrongly_retired"}
    assert says.level == "warn"
    assert says.roles == ("slow",)
    assert says.says.startswith("fit for notes, not for changes: it retires what still holds at ")
    none, says = tried(box, retires=lambda _: False)
    assert wrong(none) == {"left_standing": [note.id for note in NOTES if note.retired]}
    assert says.says.startswith(
        "fit for notes, not for changes: it leaves standing what 9 of 9 changes make out of date;"
    )


def test_a_model_that_keeps_every_turn_is_told(box):
    """What is kept of turns that hold nothing is needless."""
    trial, says = tried(box, turns=True)
    assert {*wrong(trial)["needless"]} <= {note.id for note in NOTES if not note.found}
    assert says.level == "warn"
    assert says.says.startswith("fit for notes, not for turns: it keeps something of ")


def test_the_built_in_model_is_judged_by_the_same_notes(box):
    """It costs nothing, and asks nobody."""
    box.data.mkdir(mode=0o700)
    with accounted(str(box.data)) as ledger:
        trial = measure(Settings({}), ledger, NOTES)
    assert (trial.provider, trial.calls, trial.cost) == ("builtin", 0, 0)
    assert wrong(trial) == {"lost": ["greenhouse", "client", "pool"]}


@pytest.mark.parametrize(
    ("act", "settings", "kind"),
    [
        (status(401), {}, ProviderMisconfigured),
        (status(503), {}, ProviderUnavailable),
        (OK, {"BUDGET_TOKENS": 0}, BudgetSpent),
    ],
)
def test_a_provider_that_cannot_be_asked_is_not_judged(box, room, act, settings, kind):
    """Neither a rejected key nor an outage nor an empty purse is a mark; nothing is left behind."""
    with ScriptedProvider(respond=Scripted(), script=lambda _: act) as provider:
        box.use(provider, **settings)
        with accounted(str(box.data)) as ledger, pytest.raises(kind):
            measure(Settings.load(str(box.data)), ledger, NOTES)
        assert provider.calls.total() < len(NOTES)
    assert list(room.iterdir()) == []


def test_an_outage_that_passes_costs_no_mark(box):
    """What failed is asked again."""
    trial, says = tried(box, [OK, status(503), status(503), OK, status(503)])
    assert (wrong(trial), says.level) == ({}, "ok")


# --- the verbs ---


def test_providers_are_listed(box):
    """One line each for model, embedder and reranker, set up or not."""
    done = box.memman("providers", "list")
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["for", "provider"],
        ["llm", "builtin"],
        ["embed", "builtin"],
        ["rerank", "none"],
    ]
    box.configure(LLM_PROVIDER="anthropic", LLM_MODEL_SLOW="opus", RERANK_PROVIDER="voyage", LLM_API_KEY="sesame")
    done = box.memman("providers", "list", "--json")
    llm, _, rerank = json.loads(done.stdout)
    assert llm == {
        "for": "llm",
        "provider": "anthropic",
        "model": "claude-haiku-4-5, opus",
        "at": "https://api.anthropic.com",
    }
    assert rerank["model"]
    (box.data / "env.second").touch(mode=0o600)
    (box.data / "env.second").write_text("MEMMAN_EMBED_PROVIDER=voyage\n")
    assert "voyage-3.5-lite" in box.memman("providers", "list", "--store", "second").stdout
    assert "sesame" not in done.stdout


def test_the_built_in_ones_go_by_their_own_names(box):
    """A model or an address that is set for another provider is not shown as the built-in one's."""
    builtin = json.loads(box.memman("providers", "list", "--json").stdout)
    box.configure(LLM_PROVIDER="builtin", LLM_ENDPOINT="http://localhost:1/v1", LLM_MODEL_FAST="qwen")
    box.configure(EMBED_ENDPOINT="http://localhost:1", EMBED_MODEL="bge-m3")
    assert json.loads(box.memman("providers", "list", "--json").stdout) == builtin


def test_providers_are_compared(box):
    """After a question that says what it takes, each provider has a line of figures and a verdict."""
    with ScriptedProvider(respond=Scripted(retires=lambda _: True)) as provider:
        box.use(provider, LLM_PRICE="1,5")
        done = box.person("providers", "compare")
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(r"Have openai work on 40 notes: about \d+ calls and [\d,]+ tokens\?", done.asked)
        head, scripted, builtin, *verdicts = done.stdout.splitlines()
        assert head.split()[:3] == ["provider", "model", "right"]
        assert scripted.split()[0] == "openai"
        assert " USD" in scripted
        assert builtin.split()[0] == "builtin"
        assert [line.split(":")[:2] for line in verdicts] == [
            ["openai", " fit for notes, not for changes"],
            ["builtin", " fit"],
        ]
        asked = provider.calls.total()
        (record,) = json.loads(box.memman("providers", "compare", "--only", "builtin", "--json").stdout)
        assert len(record["wrong"]) == record["notes"] - record["right"]
        assert box.person("providers", "compare", answer=no).returncode == 77
        assert provider.calls.total() == asked
    assert box.queue("SELECT sum(calls) FROM ledger") == [asked]
    assert not (box.data / "data").exists()


def test_a_provider_that_is_down_does_not_keep_the_other_from_its_line(box):
    """Its error stands in its place, and the exit code is that of the error."""
    with ScriptedProvider(script=lambda _: status(401)) as provider:
        box.use(provider)
        done = box.person("providers", "compare")
    assert done.returncode == 24
    assert "Traceback" not in done.stderr
    assert re.search(r"^openai: not tried to the end: .*401", done.stdout, re.MULTILINE)
    assert re.search(r"^builtin: fit: ", done.stdout, re.MULTILINE)


def test_a_provider_that_is_not_set_up_is_refused_by_name(box):
    """The line says which there are."""
    done = box.memman("providers", "compare", "--only", "codex")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "memman: 'codex' is not set up as the model's provider: try builtin\n"


# --- doctor ---


def fitness(box, **options):
    """Return the one finding of the check."""
    ((_, finding),) = examine(Context(str(box.data), **options), ["fitness"])
    return finding


def test_doctor_judges_the_model_with_leave_alone(box):
    """Without --billable nothing is asked; with it a fit model is well, and one that is not names the way out."""
    with ScriptedProvider(respond=Scripted()) as provider:
        box.use(provider)
        assert fitness(box).status == "skipped"
        assert provider.calls.total() == 0
        found = fitness(box, billable=True)
        assert (found.status, found.mend) == ("ok", "")
        assert found.says.endswith("is fit: 40 of 40 notes are right")
    with ScriptedProvider(respond=Scripted(retires=lambda _: True)) as provider:
        box.use(provider)
        found = fitness(box, billable=True)
        assert found.status == "warn"
        assert "MEMMAN_LLM_MODEL_SLOW" in found.hint
        assert "MODEL_FAST" not in found.hint
    with ScriptedProvider(respond=Scripted(reword=lambda _: "")) as provider:
        box.use(provider)
        found = fitness(box, billable=True)
        assert found.status == "fail"
        assert "unfit: it gives no usable answer to" in found.says
        assert box.person(*found.mend.split()[1:]).returncode == 0
        assert fitness(box, billable=True).status == "ok"
    with ScriptedProvider(script=lambda _: status(401)) as provider:
        box.use(provider)
        found = fitness(box, billable=True)
        assert found.status == "warn"
        assert "401" in found.says


@pytest.mark.parametrize(
    ("chosen", "mend"),
    [
        ({"MODEL_SLOW": "tiny"}, "memman config set MEMMAN_LLM_MODEL_SLOW claude-sonnet-4-5"),
        ({"MODEL_FAST": "tiny"}, "memman config set MEMMAN_LLM_PROVIDER builtin"),
        ({"MODEL_SLOW": "tiny", "ENDPOINT": "http://localhost:1"}, "memman config set MEMMAN_LLM_PROVIDER builtin"),
    ],
)
def test_doctor_names_the_usual_model_where_another_was_at_fault(chosen, mend):
    """The slow model failed: the provider's own takes its place, unless that is in use, or nobody knows of one."""
    settings = Settings(
        {"MEMMAN_LLM_PROVIDER": "anthropic"} | {f"MEMMAN_LLM_{name}": said for name, said in chosen.items()}
    )
    assert fitness_of.mended(settings, ("slow",)) == mend


def test_the_page_says_what_is_measured():
    """The docs name every kind of fault, and the limits that are in force."""
    page = (Path(__file__).parents[2] / "docs/providers.md").read_text()
    assert [fault for fault in FAULTS if f"| {fault.replace('_', ' ')} |" not in page] == []
    assert [limit.fault for limit in LIMITS if limit.most and f"{limit.most:.0%}".replace("%", " %") not in page] == []
