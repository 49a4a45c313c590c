"""Tables of figures as lines of text, for terminals and for Markdown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from scoring.core.wording.numbers import number_text

NO_FIGURE: Final = "-"


def align_columns(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """A line per row; the columns in `left`, counted from 0, align left, all others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table; the first row is its head. Bars in cells are escaped."""
    head, *body = rows
    ruled = [head, ["---"] * len(head), *body]
    return [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in ruled]


def interval_text(value: float, interval: tuple[float, float] | None) -> str:
    """A figure from 0 to 1 with its interval if there is one: 0.800 [0.641, 0.959]."""
    if interval is None:
        return number_text(value, 3)
    low, high = (number_text(end, 3) for end in interval)
    return f"{number_text(value, 3)} [{low}, {high}]"
