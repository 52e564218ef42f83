"""An object in what a program or a model wrote."""

from typing import Any

from memman.model.objects import parsed


def outermost(text: str) -> dict[str, Any] | None:
    """Parse the object between the first and the last brace, past any fence, prose or thinking; None for none.

    An object inside a broken one is not looked for: it would pass for the whole.
    """
    thought, closed, answer = text.partition("</think>")
    thought = thought.lstrip()
    if thought.startswith("<think>") or (closed and not thought.startswith(("{", "```"))):
        text = answer
    return parsed(text[text.find("{") : text.rfind("}") + 1])
