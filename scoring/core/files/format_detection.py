"""Detection of a file's format, and its first rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final, Literal, NamedTuple, Unpack

from scoring.core.contract import CaseProblem
from scoring.core.files.binary_detection import refuse_binary
from scoring.core.files.columns.guess import is_known
from scoring.core.files.columns.header_detection import looks_like_values
from scoring.core.files.columns.table_header import check_delimiter
from scoring.core.files.csv.dialect import guess_dialect
from scoring.core.files.csv.reader import read_csv, read_header
from scoring.core.files.csv.records import Dialect
from scoring.core.files.decoding import CHUNK, Lines
from scoring.core.files.formulas import MARKED, unmark_formula
from scoring.core.files.json.reader import read_json, read_jsonl
from scoring.core.files.notes import Note, Notes
from scoring.core.files.rows import (
    MAX_COLUMNS,
    MAX_LINE,
    EncodingProblem,
    FileProblem,
    Row,
    RowProblem,
)
from scoring.core.files.source import Source, detect_encoding, is_workbook, open_source
from scoring.core.files.xlsx import AS_STORED, CellOptions, CellReading, read_sheets, read_xlsx
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
_ENCODING_WORDS: Final = {"cp1252": " (Windows, Western Europe)"}
# Faults that may only be the end of what was looked at.
_CUT_CODES: Final = frozenset({"no_rows", "unclosed_quote", "invalid_json", "encoding"})


@dataclass(frozen=True, slots=True)
class DetectedFormat:
    """`columns` of JSON are the keys of the sample, those of inner objects as `outer.inner`.

    `delimiter` and `quote` are "" where there are none, `quote` is "none" where quotes are text.
    `sheets` of a workbook are all that can be read. `is_whole`: the sample is the whole file.
    `doubts_header`: the first row looks like values, so it is read as a row unless told otherwise.
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
    skip_lines: int = 0
    reading: CellReading = AS_STORED  # of a workbook
    notes: tuple[Note, ...] = ()  # on the sample
    problem: RowProblem | None = None  # the first, where no row of the sample can be used

    @property
    def is_table(self) -> bool:
        """Whether every row has the same columns and every value is a text."""
        return self.format in ("csv", "xlsx")

    @property
    def is_open(self) -> bool:
        """Whether rows behind the sample may have columns that it does not show."""
        return not self.is_table and not self.is_whole


def detect_format(
    origin: Path | Source,
    *,
    kind: Format | None = None,
    encoding: str = "",
    delimiter: str = "",
    quote: str = "",
    header: Header = "",
    sheet: str = "",
    skip_lines: int = 0,
    **reading: Unpack[CellOptions],
) -> DetectedFormat:
    """Looks at the beginning of a file; a Source can still be read from its start afterwards.

    Options win over what the beginning says; those of a workbook's cells (`CellReading`) mean
    nothing for other files. Raises FileProblem for what shows there already.
    """
    check_delimiter(delimiter)
    dialect = Dialect(delimiter, quote)
    cells = CellReading(**reading)
    options = _Options(kind, encoding, dialect, header != "no", sheet, skip_lines, cells)
    with _as_source(origin) as source:
        return _detect(source, options) if header else _guess_header(source, options)


def _guess_header(source: Source, options: _Options) -> DetectedFormat:
    """With a header, unless the first row looks like values."""
    headless = options._replace(has_header=False)
    try:
        detected = _detect(source, options)
    except FileProblem as fault:
        if fault.code != "no_rows":
            raise
        detected = _detect(source, headless)
        first = [str(value) for row in detected.sample[:1] for value in row.fields.values()]
        if not detected.is_table or not looks_like_values(first, []):
            raise
        return replace(detected, doubts_header=True)
    below = [[*row.fields.values()] for row in detected.sample]
    if detected.is_table and looks_like_values(detected.columns, below):
        return replace(_detect(source, headless), doubts_header=True)
    return detected


def _detect(source: Source, options: _Options) -> DetectedFormat:
    head = source.peek(_HEAD)
    if head and is_workbook(head, source.name):
        return _detect_workbook(source, options)
    refuse_binary(head, source.name)
    codec, mark_length = detect_encoding(head, options.encoding)
    if not head[mark_length:]:
        raise FileProblem("empty_file", "The file is empty. Choose another one.")
    options = options._replace(encoding=codec)
    try:
        detected = _detect_text(source, options)
    except FileProblem as fault:
        if source.is_whole or fault.code not in _CUT_CODES:
            raise
    else:
        if detected.sample or source.is_whole:
            return detected
    source.peek(MAX_LINE + CHUNK, waits=True)
    return _detect_text(source, options)


def read_rows(
    origin: Path | Source, detected: DetectedFormat, notes: Notes | None = None
) -> Iterator[Row | RowProblem]:
    """Every row or row problem, in order; memory stays flat. Notes are added to `notes`.

    Raises FileProblem when nothing further can be read: rows read before it must not be stored.
    """
    with _as_source(origin) as source:
        yield from _rows(source, detected, notes or Notes())


def _rows(source: Source, detected: DetectedFormat, notes: Notes) -> Iterator[Row | RowProblem]:
    has_header, skip_lines = detected.has_header, detected.skip_lines
    if detected.format == "csv":
        dialect = Dialect(detected.delimiter, detected.quote)
        rows = read_csv(
            *(source, dialect, detected.encoding),
            has_header=has_header,
            skip_lines=skip_lines,
            notes=notes,
        )
        yield from unmark_formula(rows)
    elif detected.format == "xlsx":
        rows = read_xlsx(
            *(source.as_file(), detected.sheet),
            has_header=has_header,
            skip_lines=skip_lines,
            reading=detected.reading,
            notes=notes,
            report_share=partial(setattr, source, "reported_share"),
        )
        yield from unmark_formula(rows)
    elif detected.format == "jsonl":
        yield from read_jsonl(source, detected.encoding, skip_lines=skip_lines)
    else:
        yield from read_json(source, detected.encoding)


@contextmanager
def _as_source(origin: Path | Source) -> Iterator[Source]:
    """The source; an encoding problem names only encodings in which all of it can be read."""
    with open_source(origin) if isinstance(origin, Path) else nullcontext(origin) as source:
        try:
            yield source
        except EncodingProblem as fault:
            fitting = [name for name in fault.candidates if source.decodes_as(name)]
            names = (f"{name}{_ENCODING_WORDS.get(name, '')}" for name in fitting)
            advice = f", or choose the encoding {' or '.join(names)}" if fitting else ""
            text = f"{fault.text} Save the file as UTF-8{advice}."
            raise FileProblem(fault.code, text, line=fault.line) from None


class _Options(NamedTuple):
    kind: Format | None
    encoding: str
    dialect: Dialect
    has_header: bool
    sheet: str
    skip_lines: int
    reading: CellReading


def _detect_workbook(source: Source, options: _Options) -> DetectedFormat:
    sheets, sheet, columns = read_sheets(
        source.as_file(),
        options.sheet,
        has_header=options.has_header,
        skip_lines=options.skip_lines,
        reading=options.reading,
        suits=_are_known,
    )
    blank = DetectedFormat(
        *("xlsx", "", "", "", _usable(columns), (), True, options.has_header, sheet, sheets),
        skip_lines=options.skip_lines,
        reading=options.reading,
    )
    notes = Notes()
    rows = [*islice(read_rows(source, blank, notes), _SAMPLE_ROWS + 1)]
    sample = tuple(row for row in rows[:_SAMPLE_ROWS] if isinstance(row, Row))
    problem = next((row for row in rows if isinstance(row, RowProblem)), None)
    return replace(
        blank,
        sample=sample,
        is_whole=len(rows) <= _SAMPLE_ROWS,
        notes=notes.listed,
        problem=None if sample else problem,
    )


def _are_known(columns: Sequence[str]) -> bool:
    """Whether every column has a name, and one of them is that of a field of cases."""
    return all(columns) and any(map(is_known, columns))


def _detect_text(source: Source, options: _Options) -> DetectedFormat:
    head = source.peek(_HEAD)
    lines, are_all = _first_lines(head, options)
    kind = options.kind or _format_of(source.name, lines)
    delimiter, quote = "", ""
    if kind == "csv":
        is_tsv = source.name.lower().endswith((".tsv", ".tab"))
        is_whole = source.is_whole and are_all
        dialect = guess_dialect(lines, options.dialect, is_whole=is_whole, is_tsv=is_tsv)
        delimiter, quote = dialect
    has_header = options.has_header or kind != "csv"
    blank = DetectedFormat(
        *(kind, options.encoding, delimiter, quote, (), (), source.is_whole),
        has_header=has_header,
        skip_lines=options.skip_lines if kind != "json" else 0,
    )
    detected = _add_sample(head, blank)
    if kind == "csv":
        start = Source(BytesIO(head)), Dialect(delimiter, quote), options.encoding
        columns = _usable(read_header(*start, has_header=has_header, skip_lines=options.skip_lines))
    else:
        columns = _columns(detected.sample)
        if _OWN_COLUMNS.issubset(columns) and not detected.is_whole:
            columns = tuple(dict.fromkeys([*columns, "expected"]))
    return replace(detected, columns=columns)


def _first_lines(head: bytes, options: _Options) -> tuple[list[str], bool]:
    """Lines from which to detect format and dialect, and whether they are all of the head."""
    lines: list[str] = []
    size = 0
    try:
        for line in islice(
            Lines(Source(BytesIO(head)), options.encoding), options.skip_lines, None
        ):
            size += len(line)
            if lines and size > CHUNK:
                return lines, False
            lines.append(line)
    except FileProblem:  # raised again when the rows are read
        return lines, False
    return lines, True


def _format_of(name: str, lines: Iterable[str]) -> Format:
    """The first characters decide where they are clear, else the name does."""
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


def _add_sample(head: bytes, blank: DetectedFormat) -> DetectedFormat:
    """Add the first rows, and whether they are all rows of the file."""
    rows: list[Row] = []
    notes, problem = Notes(), None
    is_whole = blank.is_whole
    try:
        for row in _rows(Source(BytesIO(head)), blank, notes):
            if len(rows) == _SAMPLE_ROWS:
                return replace(blank, sample=tuple(rows), is_whole=False, notes=notes.listed)
            if isinstance(row, Row):
                rows.append(row)
            else:
                problem = problem or row
    except FileProblem:  # raised again when the rows are read
        if not rows:
            raise
        is_whole = False
    # A table's last row may be cut within its last cell, which nothing shows.
    is_cut = blank.format == "csv" and not blank.is_whole and not head.endswith(b"\n")
    return replace(
        blank,
        sample=tuple(rows[:-1] if is_cut else rows),
        is_whole=is_whole,
        notes=notes.listed,
        problem=None if rows else problem,
    )


def _usable(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns with a name, without the column of formula marks."""
    return tuple(column for column in columns if column not in ("", MARKED))


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
