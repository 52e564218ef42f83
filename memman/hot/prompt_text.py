"""Prompts as texts: their two ends, and what follows a command to the agent's own program."""


def ends(text: str, first: int, last: int) -> str:
    """Return the first and the last bytes of a text that is longer than both."""
    raw = text.encode()
    if len(raw) <= first + last:
        return text
    return f"{raw[:first].decode(errors='ignore')}\n…\n{raw[-last:].decode(errors='ignore')}"


def uncommanded(prompt: str) -> str:
    """Return a prompt without the command to the agent's own program that it begins with: /fix, not /etc/hosts.

    A single plain word after it is the command's, too: /model fast.
    """
    first, rest = (*prompt.split(maxsplit=1), "", "")[:2]
    if first[:1] != "/" or "/" in first[1:]:
        return prompt
    return "" if rest.isascii() and len(rest.split(maxsplit=1)) == 1 else rest
