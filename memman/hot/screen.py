"""Secrets are taken out of a text before it is written anywhere."""

from memman.model.secret_words import suspicious


def screened(text: str) -> str:
    """Remove secrets before the first write; the rules load only when a telling word is there."""
    if not suspicious(text):
        return text
    from memman.model.secrets import redact

    return redact(text)
