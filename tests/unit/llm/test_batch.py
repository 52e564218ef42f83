"""Several questions asked as one: each answer is its own note's, whatever the model makes of the numbers."""

import asyncio
import re
from dataclasses import dataclass, field

import pytest

from memman.llm.batch import LONGEST, Batched
from memman.model.errors import BadReply, ProviderUnavailable, Refused
from memman.model.records import Note, Provenance, Reply, Request, Usage

SCHEMA = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}
QUESTION = re.compile(r'<question n="(\d+)">\n(.*?)\n</question>', re.DOTALL)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Nobody in a test comes late."""
    monkeypatch.setattr("memman.llm.batch.SETTLED", 0.01)


@dataclass
class Model:
    """A model that says again what it was asked, its answers changed by `change`."""

    change: object = staticmethod(lambda answers: answers)
    asked: list = field(default_factory=list)
    shares: list = field(default_factory=list)
    provider = "model"

    def model(self, role):
        """Name it."""
        return role

    async def complete(self, request):
        """Answer."""
        self.asked.append(request.user)
        self.shares.append(dict(request.shares))
        await asyncio.sleep(0)
        several = QUESTION.findall(request.user)
        if not several:
            return Reply({"said": request.user}, Usage(1, 1), "m")
        data = self.change([{"question": int(n), "said": text} for n, text in several])
        return Reply({"answers": data}, Usage(1, 1), "m")

    async def close(self):
        """Nothing to close."""


def question(text, source="user", agent="", task="extract", repository=""):
    """Return one question about a note."""
    note = Note(text, "default", text, 0, provenance=Provenance(source, agent, repository=repository))
    return Request(task, "fast", "System.", text, SCHEMA, {}, note=note)


def answered(model, *requests, most=16):
    """Ask all at once; return what each was answered, or the error it met."""

    async def go():
        batched = Batched(model, most)
        replies = await asyncio.gather(*map(batched.complete, requests), return_exceptions=True)
        await batched.close()
        return [reply if isinstance(reply, BaseException) else reply.data["said"] for reply in replies]

    return asyncio.run(go())


TEXTS = [f"text {n}" for n in range(10)]


@pytest.mark.parametrize(
    "change",
    [lambda answers: answers, lambda answers: answers[::-1], lambda answers: [*answers, {"question": 99, "said": "x"}]],
)
def test_each_gets_its_own_answer(change):
    """In one call, in whatever order the answers come."""
    model = Model(change)
    assert answered(model, *map(question, TEXTS)) == TEXTS
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda answers: answers[:-3] if len(answers) > 3 else answers,
        lambda answers: [*answers, answers[0]] if len(answers) > 3 else answers,
        lambda answers: [{**one, "question": str(one["question"])} if one["question"] == 2 else one for one in answers],
        lambda answers: [*answers[1:], None, 7] if len(answers) > 3 else answers,
    ],
)
def test_what_was_left_out_or_told_twice_is_asked_again(change):
    """Of a number that comes twice nobody knows which is meant; nobody gets another's answer."""
    model = Model(change)
    assert answered(model, *map(question, TEXTS)) == TEXTS
    assert len(model.asked) == 2


def test_garbage_is_asked_again_and_not_a_third_time():
    """Ten questions cost two calls, and each of them meets BadReply."""

    class Garbling(Model):
        async def complete(self, request):
            self.asked.append(request.user)
            raise BadReply("no JSON")

    model = Garbling()
    assert all(isinstance(one, BadReply) for one in answered(model, *map(question, TEXTS)))
    assert len(model.asked) == 2


def test_an_outage_is_everybodys():
    """What waits behind it is not tried."""

    class Down(Model):
        async def complete(self, request):
            self.asked.append(request.user)
            raise ProviderUnavailable("down")

    model = Down()
    assert all(isinstance(one, ProviderUnavailable) for one in answered(model, *map(question, TEXTS), most=4))
    assert len(model.asked) == 1


def test_sources_agents_and_tasks_are_asked_about_apart():
    """A page's words stand beside no user's."""
    asked = [
        question("a"),
        question("b", "web"),
        question("c"),
        question("d", agent="codex"),
        question("e", task="turn"),
    ]
    model = Model()
    assert answered(model, *asked) == ["a", "b", "c", "d", "e"]
    assert len(model.asked) == 4


def test_long_questions_are_not_joined():
    """As many as there is room for, and one that is longer than that by itself."""
    texts = ["x" * (LONGEST // 2), "y" * (LONGEST // 2), "z" * (2 * LONGEST)]
    model = Model()
    assert answered(model, *map(question, texts)) == texts
    assert [len(QUESTION.findall(asked)) for asked in model.asked] == [2, 0]


def test_who_gives_up_harms_nobody_else():
    """A note that is abandoned leaves the others their answers."""

    async def go():
        batched = Batched(Model())
        tasks = [asyncio.create_task(batched.complete(question(text))) for text in TEXTS]
        await asyncio.sleep(0)
        tasks[3].cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        await batched.close()
        return [isinstance(one, asyncio.CancelledError) or one.data["said"] for one in done]

    assert asyncio.run(go()) == [text if n != 3 else True for n, text in enumerate(TEXTS)]


def test_closing_ends_what_waits():
    """Nobody is left waiting for an answer that does not come."""

    class Slow(Model):
        async def complete(self, request):
            await asyncio.sleep(600)
            return request

    async def go():
        batched = Batched(Slow())
        task = asyncio.create_task(batched.complete(question("a")))
        await asyncio.sleep(0.1)
        await batched.close()
        await asyncio.wait([task], timeout=10)
        return task.cancelled()

    assert asyncio.run(go())


def compared(name):
    """Return a question about one fact and one memory."""
    note = Note(name, "default", name, 0)
    user = f"Day: 2026-11-22\n<facts>\nf0: {name} now\n</facts>\n<memories>\nm0 (2026-11-21): {name} then\n</memories>"
    return Request("reconcile", "slow", "System.", user, {"properties": {}, "required": []}, {}, note=note)


@pytest.mark.parametrize("mixed", [False, True])
def test_verdicts_of_another_question_name_nothing(mixed):
    """Numbers are each question's own: where a model mixes answers up, they refer to nothing that was offered."""

    class Comparing(Model):
        async def complete(self, request):
            said = []
            for n, text in QUESTION.findall(request.user):
                fact, memory = re.search(r"f(\d+):", text)[1], re.search(r"m(\d+) ", text)[1]
                verdict = {"fact": int(fact), "memory": int(memory), "action": "UPDATE"}
                said.append(
                    {
                        "question": int(n),
                        "verdicts": [verdict],
                        "causes": [{"cause": f"f{fact}", "effect": f"m{memory}"}],
                    }
                )
            if mixed:
                said = [one | {"question": two["question"]} for one, two in zip(said, said[::-1], strict=True)]
            return Reply({"answers": said}, Usage(), "m")

    async def go():
        batched = Batched(Comparing())
        replies = await asyncio.gather(*(batched.complete(compared(name)) for name in ("mailer", "billing")))
        await batched.close()
        return [reply.data for reply in replies]

    for data in asyncio.run(go()):
        assert (data["verdicts"][0]["fact"] == 0) is not mixed
        assert (data["causes"][0]["effect"] == "m0") is not mixed
        assert abs(data["verdicts"][0]["memory"]) % 100 == 0


def test_one_refused_text_is_found_among_many():
    """The others are answered."""

    class Refusing(Model):
        async def complete(self, request):
            if "text 3" in request.user:
                raise Refused("no")
            return await super().complete(request)

    told = answered(Refusing(), *map(question, TEXTS))
    assert [isinstance(one, Refused) or one for one in told] == [
        True if n == 3 else text for n, text in enumerate(TEXTS)
    ]


def test_what_is_asked_about_each_repository_is_told():
    """Questions asked as one say how many characters are about each repository, and so does one asked alone."""
    model = Model()
    answered(model, question("abc", repository="x"), question("defgh"), question("ij", repository="x"))
    answered(model, question("alone", repository="y"))
    assert model.shares == [{"x": 5, "": 5}, {"y": 5}]
