"""How a value stands behind what names it: between quotes up to the one that closes them, or up to a blank."""

from memman.model.secret_rule import whole

# Within, the quote has a backslash before it or stands there twice.
_ESCAPED = r"(?:[^\\{0}\n]|\\[^\n]|{0}{0}){{{1},120}}(?={0}(?!{0}))"
# Within a quoted string: \" opens and closes, \\" stands for a quote. No two ways lead through a row of backslashes.
_NESTED = r"(?:[^\\\"\n]|\\{2,}(?!\\)\"?|\\(?![\\\"])){@,120}(?=\\\")"
# A quote within a value has a letter or digit behind it.
_PLAIN = r"(?:(?!&\w{1,30}=)(?:[^\s\"'`“”»]|(?<=[^\s=:,;(\[{])[\"'`](?=[A-Za-z0-9]))){@,120}"


def value(least: int) -> str:
    """Return the pattern of a secret of at least so many characters."""
    quoted = "|".join(rf"(?<=[^\\]{quote}){_ESCAPED.format(quote, least)}" for quote in "\"'`")
    nested, plain = (pattern.replace("@", str(least)) for pattern in (_NESTED, _PLAIN))
    return whole("secret", rf"(?!\s)(?:(?<=\\\"){nested}|{quoted})|{plain}")
