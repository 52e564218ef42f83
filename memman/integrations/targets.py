"""The agents there is a target for, in the order they are shown."""

from memman.integrations import claude_code, cline, codex, config_clients, copilot, gemini, nanoclaw, openclaw, opencode
from memman.integrations.target import Target

_HOOKED = (claude_code.TARGET, codex.TARGET, gemini.TARGET, gemini.QWEN, copilot.TARGET, opencode.TARGET)
TARGETS: dict[str, Target] = {
    **{target.name: target for target in (*_HOOKED, cline.TARGET, openclaw.TARGET)},
    **config_clients.TARGETS,
    nanoclaw.NAME: nanoclaw.TARGET,
}
ALL = "all"


def targets() -> list[Target]:
    """Return every target."""
    return list(TARGETS.values())


def chosen(names: tuple[str, ...]) -> list[Target]:
    """Return the targets that `names` mean: nothing is what is detected here, NanoClaw never unasked.

    `all` is also agents that are not found, except those of which a folder would say that they are there.
    """
    if ALL in names:
        found = [target for target in targets() if target.everywhere and (target.unseen or target.detected())]
        return [target for target in targets() if target in found or target.name in names]
    if names:
        return [target for target in targets() if target.name in names]
    return [target for target in targets() if target.everywhere and target.detected()]
