"""`memman install`: wire the agents, the launcher and the scheduler."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import click

from memman.commands.ancestors import asking
from memman.commands.person import confirm, refuse_agents
from memman.commands.printing import complain, text
from memman.commands.verb import verb
from memman.commands.wizard import admit, agreed, asked, by_agent, from_shell, offered, shown, taken_over
from memman.config.env import change_all
from memman.config.filesystem import check
from memman.config.keys import KEYS
from memman.config.launcher import lay
from memman.config.places import data_dir, make_private
from memman.config.providers import AGENTS, AUTO
from memman.integrations import codex, nanoclaw, openclaw
from memman.integrations.install_record import InstallRecord
from memman.integrations.installer import Step, locked, plan, wire
from memman.integrations.reach import Reach, reach
from memman.integrations.reach import lay as lay_command
from memman.integrations.state import strangers, switched_off
from memman.integrations.target import File, Target, Wiring
from memman.integrations.targets import ALL, TARGETS, chosen
from memman.llm.agent.clients import CLIENTS
from memman.llm.agent.offer import here, sentence
from memman.llm.agent.program import find
from memman.model.errors import MemmanError
from memman.scheduler import setup

_SANDBOX = """\
Allow commands in Codex's sandbox to write to {}? Without it, notes that the agent makes itself are refused in
`workspace-write`, and turns are captured all the same. With it, what runs there can change memman's settings and
launcher too"""
target_option = click.option(
    "--target",
    "names",
    multiple=True,
    type=click.Choice([*TARGETS, ALL]),
    help="Agent to set up; may be repeated. Default: all agents found on this machine.",
)
dry_option = click.option("--dry-run", is_flag=True, help="Print what would be done, and change nothing.")


@verb(store=False)
@target_option
@dry_option
@click.option("--no-wizard", is_flag=True, help="Do not ask for a provider or for access, even on a terminal.")
@click.option(
    "--agent-model",
    "model",
    type=click.Choice([AUTO, *AGENTS]),
    help="Make your own agent the model, under its login; auto: the agent whose session made the note.",
)
@click.option(
    "--allow-conversation-access", "access", is_flag=True, help="Allow OpenClaw's plugin to see conversations."
)
@click.option(
    "--allow-sandbox",
    "sandbox",
    is_flag=True,
    help="Allow commands in Codex's sandbox to write to the data folder, memman's settings and launcher included.",
)
@click.option(
    "--checkout", default="", metavar="PATH", help="Path of the NanoClaw checkout; default: the current folder."
)
def install(
    names: tuple[str, ...],
    dry_run: bool,
    no_wizard: bool,
    model: str | None,
    access: bool,
    sandbox: bool,
    checkout: str,
) -> int:
    """Set up memman for your agents, and start the scheduler.

    Prints what it is about to do, then does it, and keeps the original of every file it changes. A file that cannot be
    read is left alone; the rest is done, and the exit code reports it.
    """
    data, targets = data_dir(), chosen(names)
    check(data)
    if nanoclaw.TARGET in targets:
        nanoclaw.root(checkout)
    asks = sys.stdin.isatty() and sys.stdout.isatty() and not (no_wizard or dry_run or asking())
    shell = _Shell.read(data, asks=asks)
    settings = shell.settings | taken_over(shell.taken) | _chosen(model)
    settings |= asked(data, settings) if asks else {}
    if asks and not access and openclaw.TARGET in targets and not openclaw.granted():
        access = click.confirm("Allow OpenClaw's plugin to see conversations? Without that, memman does nothing there")
    sandbox = _sandboxed(data, wished=sandbox, dry_run=dry_run, asks=asks and codex.TARGET in targets)
    reached = reach(data)
    wiring = Wiring(data, conversation_access=access, checkout=checkout, command=reached.command, sandbox=sandbox)
    work = Work(data)
    if model:
        _say_model(model)
    shell.say()
    planned = work.plan(targets, wiring, settings)
    _say_reach(reached)
    if dry_run:
        text("dry run: nothing was changed")
        return work.code
    work.ask(settings, shell.settings)
    with locked(data):
        work.do(planned, wiring, settings, reached)
    return work.code


@dataclass(frozen=True, slots=True)
class _Shell:
    """What the shell has for memman: settings, other variables with what each is for, and those that are taken."""

    settings: dict[str, str]
    offered: dict[str, str]
    taken: tuple[str, ...]

    @classmethod
    def read(cls, data: str, *, asks: bool) -> "_Shell":
        """Read it. Another variable is taken where a person agrees, or where there is nobody to ask."""
        settings = from_shell(data)
        headless = not (sys.stdin.isatty() or asking())
        found = offered(data, settings)
        taken = tuple(name for name, does in found.items() if headless or (asks and _agrees(name, does)))
        return cls(settings, found, taken)

    def say(self) -> None:
        """Print what becomes of the other variables."""
        for name, does in self.offered.items():
            text(f"settings: {name} of this shell is " + (f"taken: {does}" if name in self.taken else "not used"))


def _sandboxed(data: str, *, wished: bool, dry_run: bool, asks: bool) -> bool:
    """Whether commands in Codex's sandbox may write to the data folder: they may already, or a person agrees."""
    before = codex.sandboxed(data)
    if wished and not (dry_run or before):
        confirm(_SANDBOX.format(data) + ".")
    return wished or before or (asks and click.confirm(_SANDBOX.format(data)))


def _chosen(model: str | None) -> dict[str, str]:
    """Return the settings of the agent that a person chose as the model. Raises ForPeople where an agent did."""
    if model:
        refuse_agents()
    return by_agent(model) if model else {}


def _say_model(name: str) -> None:
    """Say what it means that an agent is the model, and warn where it is not there."""
    agents = [CLIENTS[name]] if name in CLIENTS else here()
    for client in agents:
        text(f"model: {sentence(client)}")
    if not any(find(client.program) for client in agents):
        complain(f"{name}: no program was found; until there is one the judge decides")


def _agrees(variable: str, does: str) -> bool:
    return click.confirm(f"Use {variable} of this shell? Then {does}", default=False, err=True)


class Work:
    """What is installed or undone: what went wrong is said where it does, and the first of it is the exit code."""

    def __init__(self, data: str) -> None:
        self.data = data
        self.code = 0
        self.told: list[str] = []

    @contextmanager
    def trying(self, *, otherwise: Callable[[], object] = bool) -> Iterator[None]:
        """Say what went wrong in a part of it, and go on with the rest; then do what is to be done `otherwise`."""
        try:
            yield
        except MemmanError as error:
            complain(str(error))
            self.code = self.code or error.exit_code
            otherwise()

    def tell(self, lines: list[str]) -> None:
        """Print what the scheduler has to say, each line once."""
        for line in lines:
            if line not in self.told:
                text(f"scheduler: {line}")
        self.told += lines

    def plan(self, targets: list[Target], wiring: Wiring, settings: dict[str, str]) -> list[tuple[Target, File]]:
        """Print what is to happen, and drop the settings that are wrong; return the files that can be worked on."""
        manifest, planned = InstallRecord(self.data), []
        for name, value in list(settings.items()):
            with self.trying(otherwise=partial(settings.pop, name)):
                admit(name, value)
                text(f"settings: {name}={shown(name, value)}")
        for target in targets:
            with self.trying():
                steps = [plan(manifest, file) for file in target.files(wiring)]
                planned += [(target, step.file) for step in steps]
                for step in steps:
                    _say(target, step, self.data)
                for command in strangers(target):
                    text(f"{target.name}: {command!r} is a hook that calls memman too; it was kept: remove it by hand")
        self.tell(setup.plan(self.data))
        if not targets:
            text("no agent was found on this machine; `memman install --target NAME` sets one up anyway")
        return planned

    def ask(self, settings: dict[str, str], shell: dict[str, str]) -> None:
        """Drop the settings of the shell that a person has to agree to, unless they do."""
        outward = {name: value for name, value in settings.items() if name in shell and KEYS[name].outward(value)}
        with self.trying(otherwise=lambda: [settings.pop(name) for name in outward]):
            if outward:
                agreed(outward)

    def do(self, planned: list[tuple[Target, File]], wiring: Wiring, settings: dict[str, str], reached: Reach) -> None:
        """Do what was planned."""
        make_private(self.data)
        lay(self.data)
        with self.trying():
            lay_command(self.data, reached)
        with self.trying():
            if settings:
                change_all(self.data, dict(settings))
        manifest = InstallRecord(self.data)
        failed = set[str]()
        for target, file in planned:
            with self.trying(otherwise=partial(failed.add, target.name)):
                wire(manifest, target, file)
        with self.trying():
            self.tell(setup.install(self.data))
        for target in dict.fromkeys(target for target, _ in planned):
            text(
                f"{target.name}: " + ("set up only in part, see the error above" if target.name in failed else "set up")
            )
            off = [f"{says}: {step}" for says, step in switched_off(target)]
            for note in (*target.notes(wiring), *off):
                text(f"{target.name}: {note}")


def _say_reach(reached: Reach) -> None:
    if reached.link:
        text(f"command: link {reached.link} to the launcher, so that agents' shells find it")
    if reached.says:
        text(f"command: {reached.says}")


def _say(target: Target, step: Step, data: str) -> None:
    path = step.file.path
    if not step.verb:
        if step.before is not None and step.base != step.before:
            text(f"{target.name}: {path} is up to date")
        return
    link = os.path.realpath(path)
    behind = f", a link to {link}" if os.path.islink(path) else ""
    kept = "" if step.before is None else f"; the original is kept in {data}/backups/settings"
    instead = f"; replaces hooks of {', '.join(step.replaced)}" if step.replaced else ""
    text(f"{target.name}: {step.verb} {path}{behind} ({step.file.what}){instead}{kept}")
