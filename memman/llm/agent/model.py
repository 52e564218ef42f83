"""A coding agent behind the LLM protocol, or for each note the one that it came from."""

from collections.abc import Mapping
from contextlib import suppress
from uuid import uuid4

from memman.config.places import make_folder, split_lines, write_file
from memman.llm import LLM
from memman.llm.agent.clients import CLIENTS, Client, Question, Said
from memman.llm.agent.process import Ran, TimedOut, find, run, search_path
from memman.llm.remote import outermost
from memman.model.errors import BadReply, ProviderError, ProviderMisconfigured, ProviderUnavailable
from memman.model.records import Reply, Request
from memman.secrets import screened

# Seconds for one answer, starting included; and for a session to be removed.
LIMIT, _FORGETTING = 90.0, 20.0
# Characters of what an agent says is wrong that are repeated.
_SAID = 160
# Characters in a row that are a quote.
_RUN = 16
# What an agent says where nothing but a person helps, in its words, and what that is.
_MENDS = (
    (("log in", "login", "logged", "auth", "api key", "credential", "unauthorized", "401", "403"), "log in"),
    (("trust",), "answer whether it may work there"),
    (("license", "licence", "terms", "consent"), "accept its terms"),
    (("unknown option", "unexpected argument", "unknown argument", "unrecognized"), "update it"),
)
_LIMITS = (
    "usage limit",
    "rate limit",
    "rate_limit",
    "quota",
    "429",
    "limit reached",
    "hit your limit",
    "out of credits",
)


class LimitReached(ProviderUnavailable):
    """The user's own allowance with this agent is used up for now."""


class AgentModel:
    """One agent as the model, in a `folder` of its own; `models` by role, `named` is its program."""

    def __init__(self, client: Client, folder: str, models: Mapping[str, str], named: str = "") -> None:
        self.client, self.provider = client, client.name
        self._folder, self._models, self._named = folder, models, named

    def model(self, role: str) -> str:
        """Name the model that serves `role`."""
        return self._models.get(role) or self.client.model or "default"

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises LimitReached, ProviderUnavailable, BadReply, or ProviderMisconfigured."""
        program = find(self.client.program, self._named)
        if not program:
            raise ProviderMisconfigured(
                f"{self.client.name}: no program {self.client.program}; install it, or name it with"
                " `memman config set MEMMAN_LLM_COMMAND PATH`"
            )
        model = self._models.get(request.role) or self.client.model
        question = Question(request.system, request.schema, model, self._folder, str(uuid4()))
        try:
            said = await self._asked(program, question, screened(request.user))
        except ProviderError:
            raise
        except Exception as error:  # whatever a program does, no note pays for it
            raise ProviderUnavailable(f"{self.client.name} could not be asked: {type(error).__name__}") from error
        found = said.found or outermost(said.text)
        if found is None:
            raise _spent(BadReply(f"{self.client.name} answered no JSON object"), said)
        return Reply(found, said.usage, self.model(request.role), self.provider)

    async def close(self) -> None:
        """Nothing stays open between calls."""

    async def _asked(self, program: str, question: Question, user: str) -> Said:
        make_folder(self._folder)
        for name, text in self.client.files(question).items():
            write_file(f"{self._folder}/{name}", text)
        try:
            ran = await self._run(program, self.client.argv(question), user, question, LIMIT)
        except TimedOut as late:
            await self._forgotten(program, question, self.client.read(late.out, question))
            raise
        said = self.client.read(ran.out, question)
        await self._forgotten(program, question, said)
        if said.wrong or ran.code:
            raise _spent(self._trouble(ran, said, user), said)
        return said

    async def _forgotten(self, program: str, question: Question, said: Said) -> None:
        """Have the agent remove the session that it has kept."""
        session = question.session if self.client.kept else said.session
        if session and self.client.forget:
            with suppress(ProviderError):
                await self._run(program, self.client.forget(session), "", question, _FORGETTING)

    async def _run(self, program: str, words: list[str], user: str, question: Question, limit: float) -> Ran:
        environ = {"PATH": search_path(program), "TERM": "dumb", "NO_COLOR": "1"} | self.client.environ(question)
        return await run(
            [program, *words], user, folder=self._folder, environ=environ, limit=limit, name=self.client.name
        )

    def _trouble(self, ran: Ran, said: Said, user: str) -> ProviderError:
        """Say what went wrong as an error of the kind that decides what follows, in no words of the question."""
        told = said.wrong or next((line for line in reversed(split_lines(ran.err)) if line.strip()), "")
        words = " ".join(screened(told).split())[:_SAID] or f"it ended with {ran.code}"
        low = words.lower()
        words = "an error that repeats the question" if _quotes(words, user) else words
        if any(sign in low for sign in _LIMITS):
            return LimitReached(f"{self.client.name}: {words}")
        mend = next((mend for signs, mend in _MENDS if any(sign in low for sign in signs)), "")
        if mend:
            return ProviderMisconfigured(f"{self.client.name}: {words}; start `{self.client.program}` and {mend}")
        return ProviderUnavailable(f"{self.client.name}: {words}")


def _quotes(words: str, user: str) -> bool:
    """Whether a run of `words` stands in what the user's texts say."""
    said = " ".join(user.split())
    return any(words[at : at + _RUN] in said for at in range(max(1, len(words) - _RUN + 1)) if len(words) >= _RUN)


def _spent(error: ProviderError, said: Said) -> ProviderError:
    error.usage = said.usage
    return error


class WhicheverAgent:
    """Asks the agent that a note came from; about one from elsewhere the first agent that is here."""

    provider = "auto"

    def __init__(self, agents: Mapping[str, LLM]) -> None:
        self._agents = agents

    def model(self, role: str) -> str:  # noqa: ARG002 - each agent has its own
        """Say that each note has its own."""
        return "of each agent"

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises what that agent does."""
        own = self._agents.get(request.note.provenance.agent) if request.note else None
        agent = own or next((one for name, one in self._agents.items() if find(CLIENTS[name].program)), None)
        if agent is None:
            raise ProviderMisconfigured(f"auto: none of {', '.join(self._agents)} is installed")
        return await agent.complete(request)

    async def close(self) -> None:
        """Let go of all of them."""
        for agent in self._agents.values():
            await agent.close()
