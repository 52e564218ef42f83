"""An object in what a program or a model wrote."""

from typing import Any

from memman.model.objects import parsed


def outermost(text: str) -> dict[str, Any] | None:
    """Parse the object between the first and the last brace; None for none, and no object inside a broken one."""
    thought, closed, answer = text.partition("</think>")
    thought = thought.lstrip()
    if thought.startswith("<think>") or (closed and not thought.startswith(("{", "```"))):
        text = answer
    return parsed(text[text.find("{") : text.rfind("}") + 1])
