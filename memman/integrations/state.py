"""What doctor asks of a target: whether it is installed, what it should look like, and where it differs."""

from dataclasses import replace

from memman.config.command import command as recorded
from memman.config.launcher import target as launched
from memman.integrations import (
    claude_code,
    codex,
    copilot,
    edits,
    gemini,
    hook_block,
    openclaw,
    toml_block,
)
from memman.integrations.edits import CannotEdit
from memman.integrations.files import content, decoded
from memman.integrations.install_record import InstallRecord
from memman.integrations.installer import plan
from memman.integrations.target import File, Target, Wiring, look, text_of
from memman.integrations.uninstaller import entries
from memman.model.errors import MemmanError

_ENABLE = "start `gemini`, type /hooks enable memman"
# Of each agent: where its settings say something of hooks, what there switches them off, and what a person does then.
_SWITCHES: dict[str, tuple[tuple[tuple[str, ...], object, str], ...]] = {
    claude_code.NAME: ((("disableAllHooks",), True, ""),),
    gemini.FORK: ((("disableAllHooks",), True, ""),),
    copilot.NAME: ((("disableAllHooks",), True, ""),),
    gemini.NAME: (
        (("hooksConfig", "enabled"), False, ""),
        (("hooksConfig", "disabled"), "memman", _ENABLE),
        (("hooks", "disabled"), "memman", _ENABLE),
    ),
    codex.NAME: ((("features", "hooks"), False, ""), (("features", "codex_hooks"), False, "")),
    openclaw.NAME: ((("plugins", "enabled"), False, ""), (("plugins", "entries", "memman", "enabled"), False, "")),
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
    return wrong + doubles(target)


def doubles(target: Target) -> list[str]:
    """Say where hooks are installed twice, so that each would fire twice."""
    found = _calls(target)
    if target.name == claude_code.NAME and found and claude_code.plugged():
        return ["both the plugin and the settings hold memman's hooks: each fires twice"]
    if target.name == codex.NAME and sum(any(map(hook_block.ours, _in(path))) for path in target.settings()) > 1:
        return ["both hooks.json and config.toml hold memman's hooks: each fires twice"]
    by_event: dict[str, list[str]] = {}
    for command in found:
        by_event.setdefault(hook_block.event(command), []).append(command)
    return [_fires(event, same) for event, same in by_event.items() if len(same) > 1]


def strangers(target: Target) -> list[str]:
    """Return the commands in the agent's hooks that call memman, but not plainly, so that install leaves them."""
    return [command for command in _calls(target) if not hook_block.ours(command)]


def commands(target: Target) -> list[str]:
    """Return memman's hook commands as they stand in the agent's settings."""
    return [command for command in _calls(target) if hook_block.ours(command)]


def _calls(target: Target) -> list[str]:
    return [command for path in target.settings() for command in _in(path)]


def _in(path: str) -> list[str]:
    text = text_of(path) or ""
    try:
        return hook_block.calls(toml_block.hooks(text) if path.endswith(".toml") else edits.at(text, ("hooks",)))
    except CannotEdit:
        return []


def _fires(event: str, same: list[str]) -> str:
    foreign = ", ".join(sorted({repr(command) for command in same if not hook_block.ours(command)}))
    step = f": take {foreign} out by hand" if foreign else f": {same[0]!r}"
    return f"the {event} hook stands {len(same)} times in the hooks{step}"


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
            toml_block.read(text) if path.endswith(".toml") else edits.at(text, ())
        except (CannotEdit, MemmanError) as error:
            wrong.append(f"{path}: {error}")
    return wrong
