"""JSON in and out without the json package, whose import alone costs as much as a recall's search."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANKS = " \t\n\r"


class _Lenient:
    """What the C scanner asks of a decoder: control characters in strings are let through."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def parsed(text: str) -> "Any":
    """Read one JSON value. Raises ValueError, or RecursionError for one that is nested too deeply."""
    text = text.removeprefix("\ufeff").strip(_BLANKS)
    try:
        from _json import make_scanner

        value, end = make_scanner(_Lenient())(text, 0)  # type: ignore[arg-type]
    except (StopIteration, SystemError):  # the latter where it looks for the json package's own error in vain
        raise ValueError("not JSON") from None
    except (ImportError, AttributeError, TypeError):
        from json import loads

        return loads(text, strict=False)
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def quoted(text: str) -> str:
    """Write a JSON string."""
    encode: Callable[[str], str]
    try:
        from _json import encode_basestring as encode
    except ImportError:
        from json import dumps

        return dumps(text, ensure_ascii=False)
    return encode(text)
