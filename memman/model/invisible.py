"""Characters that a reader does not see, and that Python calls printable all the same. Safe on the hot path."""

# Joiners, fillers and variation selectors: a run of the last carries any text unseen.
SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
UNSEEN = dict.fromkeys((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0, *SELECTORS), "")


def codes(text: str) -> str:
    """Write characters as JSON's escapes, each by its one or two units of UTF-16."""
    raw = text.encode("utf-16-be", "surrogatepass")
    return "".join([f"\\u{raw[at]:02x}{raw[at + 1]:02x}" for at in range(0, len(raw), 2)])
