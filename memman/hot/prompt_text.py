"""Prompts as texts: their two ends, and whether one is a command to the agent's own program."""


def ends(text: str, first: int, last: int) -> str:
    """Return the first and the last bytes of a text that is longer than both."""
    raw = text.encode()
    if len(raw) <= first + last:
        return text
    return f"{raw[:first].decode(errors='ignore')}\n…\n{raw[-last:].decode(errors='ignore')}"


def command(prompt: str) -> bool:
    """Whether a prompt is a command to the agent's own program: /clear, and not /etc/hosts."""
    first = prompt.split(maxsplit=1)[:1]
    return bool(first) and first[0][0] == "/" and "/" not in first[0][1:]
