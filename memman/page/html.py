"""Elements of HTML: nothing gets in that was not escaped."""

from collections.abc import Iterable
from html import escape

from memman.model.text import plain
from memman.secrets import masked

_WIDE = 65_536
_EMPTY = ("br", "input", "meta")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Inside = str | int | float | None | Iterable["Inside"]


def el(tag: str, *inside: Inside, **attributes: str | float | bool | None) -> Html:
    """Make an element; strings in it are shown as they are. `class_` is the attribute class; those of '' are left."""
    said = "".join(
        f" {name}" if value is True else f' {name}="{escape(str(value))}"'
        for name, value in ((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
        if value is not None and value is not False and value != ""
    )
    return Html(f"<{tag}{said}>" + ("" if tag in _EMPTY else f"{together(*inside)}</{tag}>"))


def together(*inside: Inside) -> Html:
    """Put elements and strings one after the other."""
    return Html("".join(map(_written, inside)))


def _written(one: Inside) -> str:
    if isinstance(one, Html):
        return one
    if one is None or one is False:
        return ""
    if isinstance(one, str | int | float):
        return escape("\n".join(plain(line, _WIDE) for line in masked(str(one)).split("\n")))
    return together(*one)
