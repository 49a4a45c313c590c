"""What kind of file it is, and its first rows, told from its beginning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final, Literal, NamedTuple

from scoring.core.contract import CaseProblem
from scoring.core.files.csv_rows import Dialect, guess_dialect, read_csv, read_header
from scoring.core.files.foreign import refuse_foreign
from scoring.core.files.formulas import MARKED, unmarked
from scoring.core.files.guess import is_known
from scoring.core.files.headers import looks_like_values
from scoring.core.files.json_rows import read_json, read_jsonl
from scoring.core.files.lines import CHUNK, Lines
from scoring.core.files.rows import MAX_COLUMNS, MAX_LINE, FileProblem, Row, RowProblem
from scoring.core.files.source import Source, encoding_of, is_workbook, open_source
from scoring.core.files.table import check_delimiter
from scoring.core.files.xlsx import read_sheets, read_xlsx
from scoring.core.json_text import parse

Format = Literal["csv", "json", "jsonl", "xlsx"]
Header = Literal["", "yes", "no"]  # "" leaves it to the guess

_HEAD: Final = 1024 * 1024  # bytes looked at; more only when no row ends within them
_SAMPLE_ROWS: Final = 1_000  # columns are gathered from these
#: What every row of our own exports has; `expected` may only come behind the sample.
_OWN_COLUMNS: Final = frozenset({"key", "input", "references", "tags", "metadata"})
_TABLES: Final = (".csv", ".tsv", ".tab")
_LINES: Final = (".jsonl", ".ndjson")
_OBJECT: Final = re.compile(r'\s*(?:\[\s*)?\{\s*"')  # no header begins like this
# Faults that may only be the end of what was looked at.
_CUT_CODES: Final = frozenset({"no_rows", "unclosed_quote", "invalid_json", "encoding"})


@dataclass(frozen=True, slots=True)
class Detected:
    """`columns` of JSON are the keys of the sample, those of inner objects as `outer.inner`.

    `delimiter` and `quote` are "" where there are none, `quote` is "none" where quotes are text.
    `sheets` of a workbook are all that can be read. `is_whole`: the sample is the whole file.
    `doubts_header`: nobody said that there is none, but the first row looks like values; so it is
    read as one, that none be lost.
    """

    format: Format
    encoding: str
    delimiter: str
    quote: str
    columns: tuple[str, ...]
    sample: tuple[Row, ...]
    is_whole: bool
    has_header: bool = True
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    doubts_header: bool = False

    @property
    def is_table(self) -> bool:
        """Whether every row has the same columns and every value is a text."""
        return self.format in ("csv", "xlsx")

    @property
    def is_open(self) -> bool:
        """Whether rows behind the sample may have columns that it does not show."""
        return not self.is_table and not self.is_whole


def detect(
    origin: Path | Source,
    *,
    kind: Format | None = None,
    encoding: str = "",
    delimiter: str = "",
    quote: str = "",
    header: Header = "",
    sheet: str = "",
) -> Detected:
    """Looks at the beginning of a file; a Source can still be read from its start afterwards.

    Options win over what the beginning says. Raises FileProblem for what shows there already.
    """
    if isinstance(origin, Path):
        with open_source(origin) as source:
            return detect(
                source,
                kind=kind,
                encoding=encoding,
                delimiter=delimiter,
                quote=quote,
                header=header,
                sheet=sheet,
            )
    check_delimiter(delimiter)
    wanted = _Outline(kind, encoding, Dialect(delimiter, quote), header != "no", sheet)
    return _looked(origin, wanted) if header else _guessed(origin, wanted)


def _guessed(source: Source, wanted: _Outline) -> Detected:
    """With a header, unless the first row looks like values."""
    bare = wanted._replace(has_header=False)
    try:
        found = _looked(source, wanted)
    except FileProblem as fault:
        if fault.code != "no_rows":
            raise
        found = _looked(source, bare)
        first = [str(value) for row in found.sample[:1] for value in row.fields.values()]
        if not found.is_table or not looks_like_values(first, []):
            raise
        return replace(found, doubts_header=True)
    below = [[*row.fields.values()] for row in found.sample]
    if found.is_table and looks_like_values(found.columns, below):
        return replace(_looked(source, bare), doubts_header=True)
    return found


def _looked(source: Source, wanted: _Outline) -> Detected:
    head = source.peek(_HEAD)
    if head and is_workbook(head, source.name):
        return _detected_workbook(source, wanted.sheet, has_header=wanted.has_header)
    refuse_foreign(head, source.name)
    codec, mark_length = encoding_of(head, wanted.encoding)
    if not head[mark_length:]:
        raise FileProblem("empty_file", "The file is empty. Choose another one.")
    wanted = wanted._replace(encoding=codec)
    try:
        found = _detected(source, wanted)
    except FileProblem as fault:
        if source.is_whole or fault.code not in _CUT_CODES:
            raise
    else:
        if found.sample or source.is_whole:
            return found
    source.peek(MAX_LINE + CHUNK, waits=True)
    return _detected(source, wanted)


def read_rows(origin: Path | Source, detected: Detected) -> Iterator[Row | RowProblem]:
    """Every row or row problem, in order; memory stays flat.

    Raises FileProblem when nothing further can be read: what was given before must not be kept.
    """
    if isinstance(origin, Path):
        with open_source(origin) as source:
            yield from read_rows(source, detected)
    elif detected.format == "csv":
        dialect = Dialect(detected.delimiter, detected.quote)
        rows = read_csv(origin, dialect, detected.encoding, has_header=detected.has_header)
        yield from unmarked(rows)
    elif detected.format == "xlsx":
        file, sheet = origin.as_file(), detected.sheet
        tell = partial(setattr, origin, "told_share")
        rows = read_xlsx(file, sheet, has_header=detected.has_header, tell_share=tell)
        yield from unmarked(rows)
    elif detected.format == "jsonl":
        yield from read_jsonl(origin, detected.encoding)
    else:
        yield from read_json(origin, detected.encoding)


class _Outline(NamedTuple):
    kind: Format | None
    encoding: str
    dialect: Dialect
    has_header: bool
    sheet: str


def _detected_workbook(source: Source, sheet: str, *, has_header: bool) -> Detected:
    file = source.as_file()
    sheets, sheet, columns = read_sheets(file, sheet, has_header=has_header, suits=_are_known)
    columns = _unmarked(columns)
    blank = Detected("xlsx", "", "", "", columns, (), True, has_header, sheet, sheets)
    rows = [*islice(read_rows(source, blank), _SAMPLE_ROWS + 1)]
    sample = tuple(row for row in rows[:_SAMPLE_ROWS] if isinstance(row, Row))
    return replace(blank, sample=sample, is_whole=len(rows) <= _SAMPLE_ROWS)


def _are_known(columns: Sequence[str]) -> bool:
    """Whether a column of a sheet is called as those of cases are."""
    return any(map(is_known, columns))


def _detected(source: Source, wanted: _Outline) -> Detected:
    head = source.peek(_HEAD)
    lines, are_all = _first_lines(head, wanted.encoding)
    kind = wanted.kind or _format_of(source.name, lines)
    delimiter, quote = "", ""
    if kind == "csv":
        is_tsv = source.name.lower().endswith((".tsv", ".tab"))
        is_whole = source.is_whole and are_all
        guess = guess_dialect(lines, wanted.dialect, is_whole=is_whole, is_tsv=is_tsv)
        delimiter, quote = guess
    has_header = wanted.has_header or kind != "csv"
    blank = Detected(
        kind, wanted.encoding, delimiter, quote, (), (), source.is_whole, has_header=has_header
    )
    sample, is_whole = _sampled(head, blank)
    if kind == "csv":
        dialect = Dialect(delimiter, quote)
        start = Source(BytesIO(head))
        columns = _unmarked(read_header(start, dialect, wanted.encoding, has_header=has_header))
    else:
        columns = _columns(sample)
        if _OWN_COLUMNS.issubset(columns) and not is_whole:
            columns = tuple(dict.fromkeys([*columns, "expected"]))
    return replace(blank, columns=columns, sample=sample, is_whole=is_whole)


def _first_lines(head: bytes, encoding: str) -> tuple[list[str], bool]:
    """Lines to tell format and dialect by, at least one; and whether they are all of the head."""
    lines: list[str] = []
    size = 0
    try:
        for line in Lines(Source(BytesIO(head)), encoding):
            size += len(line)
            if lines and size > CHUNK:
                return lines, False
            lines.append(line)
    except FileProblem:  # told with its place when the rows are read
        return lines, False
    return lines, True


def _format_of(name: str, lines: Iterable[str]) -> Format:
    """The first signs decide where they are clear, else the name does."""
    ending = Path(name.lower()).suffix
    filled = [line for line in lines if not line.isspace()][:2]
    first = filled[0].lstrip()[:1] if filled else ""
    if ending in _TABLES and not _OBJECT.match("".join(filled)):
        return "csv"
    if first == "[":
        return "json"
    if ending in _LINES:
        return "jsonl"
    if first == "{":
        is_lines = _is_json(filled[0]) and (ending != ".json" or len(filled) > 1)
        return "jsonl" if is_lines else "json"
    return "json" if ending == ".json" else "csv"


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except CaseProblem as fault:
        return fault.code != "invalid_json"
    return True


def _sampled(head: bytes, blank: Detected) -> tuple[tuple[Row, ...], bool]:
    """The first rows, and whether they are all there are."""
    rows: list[Row] = []
    is_whole = blank.is_whole
    try:
        for row in read_rows(Source(BytesIO(head)), blank):
            if len(rows) == _SAMPLE_ROWS:
                return tuple(rows), False
            if isinstance(row, Row):
                rows.append(row)
    except FileProblem:  # told again, in its place, when the rows are read
        if not rows:
            raise
        is_whole = False
    # A table's last row may have been cut within its last cell, which does not show.
    is_cut = blank.format == "csv" and not blank.is_whole and not head.endswith(b"\n")
    return tuple(rows[:-1] if is_cut else rows), is_whole


def _unmarked(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(column for column in columns if column != MARKED)


def _columns(sample: Iterable[Row]) -> tuple[str, ...]:
    """Keys in order of appearance, each followed by the keys most of its objects share."""
    names: Counter[str] = Counter()
    inner: dict[str, Counter[str]] = {}
    for row in sample:
        names.update(row.fields.keys())
        for name, value in row.fields.items():
            if isinstance(value, dict):
                inner.setdefault(name, Counter()).update(value.keys())
    columns: list[str] = []
    for name, count in names.items():
        shared = (key for key, times in inner.get(name, {}).items() if times * 2 >= count)
        columns += [name, *(f"{name}.{key}" for key in shared)]
    return tuple(columns[:MAX_COLUMNS])
