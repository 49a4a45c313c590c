"""Detection of a CSV file's delimiter and quotes from its first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Final

from scoring.core.files.csv.records import Dialect, open_reader

_DELIMITERS: Final = (",", "\t", ";", "|")
_SPACED: Final = (",", ";", "|")  # which people write with a space
_QUOTES: Final[tuple[str, ...]] = ('"', "'")
_SEPARATOR_LINE: Final = re.compile(r"(?i)\ufeff?sep=(?P<delimiter>[^\"\w\s]|\t)[\r\n]*\Z")
_SAMPLE_RECORDS: Final = 200

_UNKNOWN: Final = Dialect("", "")


def guess_dialect(
    lines: Sequence[str],
    wanted: Dialect = _UNKNOWN,
    *,
    is_whole: bool = True,
    is_tsv: bool = False,
) -> Dialect:
    """The dialect under which the most records have one width above 1; `"` and commas at a tie.

    One column is the answer only when no delimiter divides at least half of the records alike.
    What is `wanted` is not guessed, nor a delimiter that a first line `sep=;` names. `is_whole`:
    the lines are not cut off at the end.
    """
    separator = _SEPARATOR_LINE.match(lines[0]) if lines else None
    if separator and not wanted.delimiter:
        wanted = wanted._replace(delimiter=separator["delimiter"])
    order = ("\t", *_DELIMITERS) if is_tsv else _DELIMITERS
    delimiters = (wanted.delimiter,) if wanted.delimiter else order
    # Where there is any `"`, an open one would pass as text under the other quote.
    quotes = _QUOTES[:1] if any('"' in line for line in lines) else _QUOTES
    quotes = (wanted.quote,) if wanted.quote else quotes
    dialects = [Dialect(delimiter, quote) for quote in quotes for delimiter in delimiters]
    best = max(dialects, key=lambda dialect: _fit(lines, dialect, is_whole=is_whole))
    return best if wanted.delimiter else _with_spaces(lines, best, is_whole=is_whole)


def _with_spaces(lines: Sequence[str], dialect: Dialect, *, is_whole: bool) -> Dialect:
    """The same with the spaces beside its delimiter, if no delimiter stands without them.

    Of `1, a` and `2,b` the space is text; where each record of the sample has it everywhere, and
    all have as many cells, it belongs to the delimiter.
    """
    sign = dialect.delimiter
    if sign not in _SPACED or dialect.quote != '"':
        return dialect
    text = re.sub(r'"[^"]*"', '""', "".join(lines))
    for longer in (f" {sign} ", f"{sign} "):
        candidate = Dialect(longer, dialect.quote)
        is_everywhere = text.count(sign) == text.count(longer) > 0
        if is_everywhere and _fit(lines, candidate, is_whole=is_whole)[0]:
            return candidate
    return dialect


def _fit(
    lines: Sequence[str], dialect: Dialect, *, is_whole: bool
) -> tuple[bool, bool, float, int]:
    widths, is_clean = _widths(lines, dialect, is_whole=is_whole)
    usual = max(set(widths), key=widths.count, default=0)
    share = widths.count(usual) / len(widths) if usual > 1 else 0.0
    is_even = is_clean and share == 1.0
    return is_even, dialect.quote == '"', share if share >= 0.5 else 0.0, usual if share else 0


def _widths(lines: Sequence[str], dialect: Dialect, *, is_whole: bool) -> tuple[list[int], bool]:
    """The widths of the first records, and whether all of them could be read."""
    widths: list[int] = []
    try:
        for cells in open_reader(lines, dialect):
            if not is_blank(cells):
                widths.append(len(cells))
            if len(widths) >= _SAMPLE_RECORDS:
                return widths, True
    except csv.Error as fault:
        return widths, not is_whole and "unexpected end" in str(fault)
    return (widths if is_whole else widths[:-1] or widths), True


def is_blank(cells: Sequence[str]) -> bool:
    return not cells or (len(cells) == 1 and not cells[0].strip())
