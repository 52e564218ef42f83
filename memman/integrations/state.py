"""What doctor asks of a target: whether it is installed, what it should look like, and where it differs."""

from dataclasses import replace

from memman.config.command import command as recorded
from memman.config.launcher import target as launched
from memman.integrations import codex, edits, toml
from memman.integrations.edits import CannotEdit
from memman.integrations.files import content, decoded
from memman.integrations.installer import InstallRecord, entries, plan
from memman.integrations.target import File, Target, Wiring, look
from memman.model.errors import MemmanError

_ENABLE = "start `gemini`, type /hooks enable memman"
# Of each agent: where its settings say something of hooks, what there switches them off, and what a person does then.
_SWITCHES: dict[str, tuple[tuple[tuple[str, ...], object, str], ...]] = {
    "claude-code": ((("disableAllHooks",), True, ""),),
    "qwen": ((("disableAllHooks",), True, ""),),
    "copilot": ((("disableAllHooks",), True, ""),),
    "gemini": (
        (("hooksConfig", "enabled"), False, ""),
        (("hooksConfig", "disabled"), "memman", _ENABLE),
        (("hooks", "disabled"), "memman", _ENABLE),
    ),
    "codex": ((("features", "hooks"), False, ""), (("features", "codex_hooks"), False, "")),
    "openclaw": ((("plugins", "enabled"), False, ""), (("plugins", "entries", "memman", "enabled"), False, "")),
}


def wiring(data: str) -> Wiring:
    """Return what the files of a target depend on, for a look at what is there."""
    return Wiring(data, command=recorded(data), sandbox=codex.sandboxed(data))


def expected(target: Target, data: str) -> list[File]:
    """Return the files of a target, each with the text it should have. Raises MemmanError."""
    return target.files(replace(wiring(data), mcp=target.name in InstallRecord(data).served))


def installed(target: Target, data: str) -> bool:
    """Whether anything of ours stands in the agent's files."""
    return bool(entries(InstallRecord(data), [target], wiring(data)))


def drift(target: Target, data: str) -> list[str]:
    """Say how an installed target differs from what this version ships, one line per difference."""
    wrong = [] if launched(data) else [f"the launcher is missing: {wiring(data).launcher}"]
    try:
        files = expected(target, data)
    except (MemmanError, CannotEdit) as error:
        return [*wrong, str(error)]
    manifest = InstallRecord(data)
    for file in files:
        try:
            if plan(manifest, file).verb:
                wrong.append(f"{file.path} was changed or is from another version ({file.what})")
        except MemmanError as error:
            wrong.append(str(error))
    return wrong


def switched_off(target: Target) -> list[tuple[str, str]]:
    """Return what in an agent's settings switches hooks off, each with what a person does then."""
    return [
        (f"{'.'.join(keys)} in {path} switches hooks off", step or f"set it to {str(not off).lower()}")
        for path in target.settings()
        for keys, off, step in _SWITCHES.get(target.name, ())
        if (found := look(path, keys)) is off or (isinstance(found, list) and off in found)
    ]


def unreadable(target: Target) -> list[str]:
    """Return one line for each settings file of the agent that cannot be parsed."""
    wrong = []
    for path in target.settings():
        try:
            text = decoded(content(path)) or ""
            toml.read(text) if path.endswith(".toml") else edits.at(text, ())
        except (CannotEdit, MemmanError) as error:
            wrong.append(f"{path}: {error}")
    return wrong
