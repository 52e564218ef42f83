"""Figures as Markdown tables."""

from collections.abc import Sequence


def markdown(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Write a table with its columns aligned."""
    widths = [max(map(len, column)) for column in zip(columns, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (columns, rule, *lines)
    )
