"""Every verb of the command line, and how it is called so that it does something."""

import subprocess

import click

from memman.commands.root import root

# A server that nobody runs: tests/unit/store/test_sharing.py has the verbs that need one.
NOWHERE = "postgresql://localhost:1/memman"
# Verb -> what follows it. Words in braces stand for what `made` gives: ids of memories, of a parked note.
CALLS: dict[str, tuple[str, ...]] = {
    "backup create": (),
    "backup list": (),
    "backup remove": ("{backup}",),
    "backup restore": ("{backup}",),
    "backup schedule": ("daily",),
    "backup verify": ("{backup}",),
    "bootstrap": ("{project}",),
    "completion": ("bash",),
    "config get": ("HTTP_TRIES",),
    "config set": ("HTTP_TRIES", "2"),
    "config show": (),
    "config unset": ("HTTP_TRIES",),
    "consolidate": (),
    "doctor": (),
    "embed reembed": (),
    "embed status": (),
    "embed swap": ("--to", "builtin"),
    "export": (),
    "forget": ("{spare}",),
    "graph link": ("{memory}", "{other}"),
    "graph rebuild": (),
    "graph related": ("{memory}",),
    "guide": (),
    "handover accept": (),
    "handover drop": (),
    "handover list": (),
    "handover show": (),
    "help": (),
    "import": ("{file}",),
    "hook": ("session-start", "--host", "claude-code"),
    "insights archive": ("{spare}",),
    "insights candidates": (),
    "insights expire": ("{memory}", "--never"),
    "insights feedback": ("{memory}", "helpful"),
    "insights restore": ("{spare}",),
    "insights stale": (),
    "insights verify": ("{memory}",),
    "insights list": (),
    "insights protect": ("{memory}",),
    "insights reinstate": ("{memory}",),
    "insights show": ("{memory}",),
    "install": ("--target", "all", "--no-wizard"),
    "list": ("--around", "{memory}"),
    "lint": (),
    "log cost": (),
    "log diff": (),
    "log learned": (),
    "log list": (),
    "log sessions": (),
    "log worker": (),
    "mcp": (),
    "migrate": ("--to", "sqlite"),
    "page": (),
    "onboard": (),
    "prime": (),
    "reason": ("why is billing deployed",),
    "purge": ("{spare}",),
    "recall": ("where is billing deployed",),
    "remember": ("The office plant is watered on Mondays.",),
    "repair": (),
    "replace": ("{memory}", "Billing is deployed to Render."),
    "review all": (),
    "review approve": ("{review}",),
    "review both": ("{waiting}",),
    "review edit": ("{waiting}", "--text", "Billing goes to Render."),
    "review list": (),
    "review reject": ("{review}",),
    "rule add": ("Ask before a release.", "--match", "make release", "--do", "ask"),
    "rule list": (),
    "rule promote": ("{memory}", "--match", "fly deploy"),
    "rule remove": ("{rule}",),
    "rule show": ("{rule}",),
    "rule snooze": ("{rule}", "--for", "1h"),
    "rule test": ("make release",),
    "scan": (),
    "scope join": ("--undo",),
    "scope list": (),
    "scope move": ("{memory}", "--to", "personal"),
    "scope name": ("acme",),
    "scheduler debug": ("on",),
    "scheduler drain": (),
    "scheduler install": (),
    "scheduler interval": ("30",),
    "scheduler logs": (),
    "scheduler queue failed": (),
    "scheduler queue list": (),
    "scheduler queue purge": ("--done",),
    "scheduler queue retry": ("--all",),
    "scheduler queue show": ("{note}",),
    "scheduler serve": (),
    "scheduler start": (),
    "scheduler status": (),
    "scheduler stop": (),
    "scheduler trigger": (),
    "scheduler uninstall": (),
    "team upgrade": ("--dsn", NOWHERE),
    "team share": ("{memory}",),
    "self-update": (),
    "show": ("{memory}",),
    "status": (),
    "team add": ("second", "somebody"),
    "store bind": ("second",),
    "team connect": ("third", "--dsn", NOWHERE),
    "store branch": ("third",),
    "store create": ("second",),
    "store diff": ("second",),
    "store merge": ("second",),
    "store list": (),
    "team members": ("second",),
    "store remove": ("second",),
    "team remove": ("second", "somebody"),
    "store use": ("second",),
    "sync": ("--folder", "{folder}"),
    "undo": ("{spare}",),
    "uninstall": (),
    "team unshare": ("{memory}",),
    "version": (),
    "wiki build": ("{folder}",),
    "wiki list": (),
    "wiki show": ("Billing",),
    "wonder": (),
}
# The same with an option that changes what they may do.
MORE = {"doctor": ("--billable",), "forget": ("--undo",), "scan": ("--fix",)}
TEXTS = (
    "We deploy billing to Fly.io from the main branch.",
    "Redis caches the invoices of the billing service.",
    "The heron is the mascot of the team.",
)


def leaves(command: click.Command = root, path: tuple[str, ...] = ()) -> dict[str, click.Command]:
    """Return every verb of the command line that does something."""
    if not isinstance(command, click.Group):
        return {" ".join(path): command}
    context, found = click.Context(command), {}
    for name in command.list_commands(context):
        found |= leaves(command.get_command(context, name), (*path, name))
    return found


LEAVES = leaves()


def made(box) -> dict[str, str]:
    """Fill the box with a few memories and a waiting note; return what the words in braces stand for."""
    for text in TEXTS:
        box.remember(text, session="a-session")
    box.drain()
    memory, other, spare = box.store("SELECT uid FROM memory ORDER BY id")
    assert box.memman("rule", "add", "No releases on Fridays.").returncode == 0
    (rule,) = box.store("SELECT uid FROM rule")
    note = box.remember("The kitchen is painted green.")
    file = box.data.parent / "notes.txt"
    file.write_text("The lift is inspected in May.\n")
    folder = box.data.parent / "shared"
    folder.mkdir()
    project = box.data.parent / "project"
    why = ("Retry requests", "The gateway drops a connection every hour, so each is retried three times.")
    named = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for args in (("init", "--quiet"), ("commit", "--quiet", "--allow-empty", *(f"--message={one}" for one in why))):
        project.mkdir(exist_ok=True)
        subprocess.run(["git", "-C", project, *named, *args], check=True)
    names = {"project": str(project)}
    names |= {"memory": memory, "other": other, "spare": spare, "note": note, "review": spare, "waiting": spare}
    return names | {"backup": "none", "file": str(file), "rule": rule, "session": "a-session", "folder": str(folder)}


def calls(names: dict[str, str]) -> dict[str, list[str]]:
    """Return the command line of every verb that there is."""
    return {verb: [*verb.split(), *(word.format(**names) for word in CALLS.get(verb, ()))] for verb in LEAVES}


def variants(verb: str) -> list[str]:
    """Return the options of a verb that change what it may do."""
    known = {name for param in LEAVES[verb].params for name in param.opts}
    return [option for option in MORE.get(verb, ()) if option in known]
