"""A coding agent behind the LLM protocol."""

from collections.abc import Mapping
from contextlib import suppress
from uuid import uuid4

from memman.config.places import make_folder, write_file
from memman.llm.agent.clients import Client, Question, Said
from memman.llm.agent.process import Ran, run
from memman.llm.agent.program import find, search_path
from memman.llm.text import outermost
from memman.model.errors import BadReply, ProviderError, ProviderMisconfigured, ProviderUnavailable
from memman.model.records import Reply, Request
from memman.model.secret_words import screened

# Seconds for one answer, starting included; and for a session to be removed.
LIMIT, _FORGETTING = 90.0, 20.0
# Characters of what an agent says is wrong that are repeated.
_SAID = 160
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
    """One agent as the model.

    `folder` is its own, made when first needed; `models` names a model for each role where the settings do, `named`
    the program.
    """

    def __init__(self, client: Client, folder: str, models: Mapping[str, str], named: str = "") -> None:
        self.client, self.provider = client, client.name
        self._folder, self._models, self._named = folder, models, named

    def model(self, role: str) -> str:
        """Name the model that serves `role`."""
        return self._models.get(role) or self.client.model or "default"

    async def complete(self, request: Request) -> Reply:
        """Answer `request`.

        Raises LimitReached, ProviderUnavailable, BadReply, or ProviderMisconfigured where a person has to see to it.
        """
        program = find(self.client.program, self._named)
        if not program:
            raise ProviderMisconfigured(
                f"{self.client.name}: no program {self._named or self.client.program}; install it, or name it with"
                " `memman config set MEMMAN_LLM_COMMAND PATH`"
            )
        model = self._models.get(request.role) or self.client.model
        question = Question(request.system, request.schema, model, self._folder, str(uuid4()))
        said = await self._asked(program, question, screened(request.user))
        found = said.found or outermost(said.text)
        if found is None:
            raise BadReply(f"{self.client.name} answered no JSON object")
        return Reply(found, said.usage, self.model(request.role))

    async def close(self) -> None:
        """Nothing stays open between calls."""

    async def _asked(self, program: str, question: Question, user: str) -> Said:
        make_folder(self._folder)
        for name, text in self.client.files(question).items():
            write_file(f"{self._folder}/{name}", text)
        ran = await self._run(program, self.client.argv(question), user, question, LIMIT)
        said = self.client.read(ran.out, question)
        if said.session and self.client.forget:
            with suppress(ProviderError):
                await self._run(program, self.client.forget(said.session), "", question, _FORGETTING)
        if said.wrong or ran.code:
            raise self._trouble(ran, said)
        return said

    async def _run(self, program: str, words: list[str], user: str, question: Question, limit: float) -> Ran:
        environ = {"PATH": search_path(program), "TERM": "dumb", "NO_COLOR": "1"} | self.client.environ(question)
        return await run(
            [program, *words], user, folder=self._folder, environ=environ, limit=limit, name=self.client.name
        )

    def _trouble(self, ran: Ran, said: Said) -> ProviderError:
        """Say what went wrong as an error of the kind that decides what follows."""
        told = said.wrong or next((line for line in reversed(ran.err.splitlines()) if line.strip()), "")
        words = " ".join(screened(told).split())[:_SAID] or f"it ended with {ran.code}"
        low = words.lower()
        if any(sign in low for sign in _LIMITS):
            return LimitReached(f"{self.client.name}: {words}")
        mend = next((mend for signs, mend in _MENDS if any(sign in low for sign in signs)), "")
        if mend:
            return ProviderMisconfigured(f"{self.client.name}: {words}; start `{self.client.program}` and {mend}")
        return ProviderUnavailable(f"{self.client.name}: {words}")
