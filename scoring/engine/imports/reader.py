"""A file on disk as a stream of rows with their keys; problems go to a report."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import orjson

from scoring.core.contract import Json
from scoring.core.files import (
    MISSING,
    BlankCells,
    CaseKeys,
    DetectedFormat,
    FileProblem,
    Header,
    MappedCase,
    PythonCells,
    Row,
    RowProblem,
    Source,
    detect_format,
    guess_mapping,
    read_rows,
)
from scoring.core.files import Mapping as Columns
from scoring.core.files.columns.exported_scores import exported_scores
from scoring.core.files.notes import EXPORTED_SCORES
from scoring.core.files.xlsx import CellOptions, CellReading
from scoring.engine.imports.report import MAX_LISTED, ImportReport

MAX_ROWS: Final = 1_000_000
_SHARE_EVERY: Final = 1_000  # rows
_NEARLY: Final = 0.99  # until the last row, as all bytes may have been read ahead
MAX_TRIAL: Final = 32_767  # what the column of either database holds

#: Which fields must be mapped, by what a file is for.
NEEDED: Final[Mapping[str, Sequence[str]]] = {
    "dataset": ["id|input"],
    "outputs": ["id|input", "output"],
}


class FileOptions(CellOptions, total=False):
    """How to read a file, where that differs from what its beginning suggests."""

    encoding: str
    delimiter: str
    quote: str
    header: Header
    sheet: str
    skip_lines: int


def read_file_options(described: Mapping[str, Any]) -> FileOptions:
    """The options that read a file in the same way again, from `OpenFile.described`."""
    options = {name: described.get(name, "") for name in FileOptions.__annotations__}
    options |= {name: bool(described.get(name)) for name in CellReading._fields}
    return cast("FileOptions", options | {"skip_lines": int(described.get("skip_lines") or 0)})


def resolve_options(mapping: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]] | None:
    """A stored mapping with every field named, so that nothing is guessed; None for no mapping."""
    return {field.name: () for field in fields(Columns)} | dict(mapping) if mapping else None


class KeyedRow(NamedTuple):
    """A usable row. `key` is the case's key; `is_new` is False for a further trial of it.

    `values` holds the outputs that are no texts, by label, as exact JSON.
    """

    key: str
    is_new: bool
    case: MappedCase
    values: dict[str, str]


_NO_VALUES: Final[dict[str, str]] = {}


class LateColumns:
    """Collects the names that only rows behind the sample have, the first of them."""

    def __init__(self, detected: DetectedFormat) -> None:
        self.names: list[str] = []
        self._is_open = detected.is_open
        self._known = {name.partition(".")[0] for name in detected.columns}.union(detected.columns)

    def add(self, row: Row | RowProblem) -> None:
        if not self._is_open or not isinstance(row, Row) or row.fields.keys() <= self._known:
            return
        self.names += [name for name in row.fields if name not in self._known]
        self._known.update(row.fields)
        self._is_open = len(self.names) < MAX_LISTED


@dataclass(frozen=True)
class OpenFile:
    """A file, how it is read, and what its columns mean."""

    path: Path
    name: str  # what people call it, which tells its format
    detected: DetectedFormat
    columns: Columns

    def described(self) -> dict[str, Any]:
        """How the file is read, with the keys of FileOptions among others."""
        detected = self.detected
        return {
            "format": detected.format,
            "encoding": detected.encoding,
            "delimiter": detected.delimiter,
            "quote": detected.quote,
            "header": "yes" if detected.has_header else "no",
            "sheet": detected.sheet,
            "sheets": list(detected.sheets[:MAX_LISTED]),
            "skip_lines": detected.skip_lines,
            **detected.reading._asdict(),
            "columns": list(detected.columns),
        }

    @property
    def unused_columns(self) -> list[str]:
        """Those that nothing is taken from; a dataset keeps them as metadata."""
        return self.columns.unused(self.detected.columns)

    def batches(self, report: ImportReport, size: int) -> Iterator[list[KeyedRow]]:
        """The usable rows in order; problems of the others and of the file are reported."""
        keyer = RowKeyer(self.columns, is_table=self.detected.is_table)
        report.blanks, report.literals = keyer.blanks, keyer.literals
        batch: list[KeyedRow] = []
        late = LateColumns(self.detected)
        for column in exported_scores(self.detected.columns):
            if column in self.columns.drop:
                report.notes.add(EXPORTED_SCORES, self.detected.columns.index(column) + 1)
        try:
            for row in self._rows(report):
                late.add(row)
                keyed = keyer.place(row) if isinstance(row, Row) else row
                if isinstance(keyed, RowProblem):
                    report.add(keyed)
                    continue
                batch.append(keyed)
                if len(batch) == size:
                    yield batch
                    batch = []
        except FileProblem as fault:
            report.add_fatal(fault)
        report.late_columns = self.columns.unused(late.names)
        if batch:
            yield batch

    def with_labels(self, labels: Collection[str]) -> OpenFile:
        """The same reading with only these of its output columns."""
        by_column = self.columns.labels
        output = tuple(column for column, label in by_column.items() if label in labels)
        rest = tuple(column for column in by_column if column not in output)
        columns = replace(self.columns, output=output, drop=(*self.columns.drop, *rest))
        return replace(self, columns=columns)

    def _rows(self, report: ImportReport) -> Iterator[Row | RowProblem]:
        with self.path.open("rb") as stream:
            source = Source(stream, self.name)
            for count, row in enumerate(read_rows(source, self.detected, report.notes), 1):
                report.row_count = count
                if not count % _SHARE_EVERY:
                    report.share_read = min(source.share, _NEARLY)
                if count > MAX_ROWS:
                    text = f"The file has more than {MAX_ROWS:,} rows. "
                    text += "Split it into several datasets."
                    raise FileProblem("too_many_rows", text, line=None)
                yield row


def open_file(
    path: Path,
    name: str,
    *,
    kind: str,
    choices: Mapping[str, Sequence[str]] | None = None,
    options: FileOptions | None = None,
) -> OpenFile:
    """Reads the beginning of the file and completes the mapping with guesses.

    Raises FileProblem, also for a mapping that does not fit the file's columns.
    """
    with path.open("rb") as stream:
        if not stream.seekable():
            text = "A pipe cannot be looked at before it is read. Save its rows as a file first."
            raise FileProblem("not_a_file", text)
        detected = detect_format(Source(stream, name), **(options or {}))
    columns = guess_mapping(
        detected.columns, detected.sample, dict(choices or {}), is_open=detected.is_open
    )
    if not detected.problem:  # else only problems show, told when rows are read
        _check(columns, detected, kind)
    return OpenFile(path, name, replace(detected, sample=()), columns)


def _check(columns: Columns, detected: DetectedFormat, kind: str) -> None:
    if not detected.is_table and (columns.blank_text or columns.blank_missing):
        text = "Only tables have empty cells. Leave out blank_text and blank_missing."
        raise FileProblem("unknown_field", text)
    try:
        columns.check(
            *(detected.columns, detected.sample), needed=NEEDED[kind], is_open=detected.is_open
        )
    except FileProblem as fault:
        if not detected.doubts_header:
            raise
        text = (
            f"{fault.text} The first row looks like values, so columns are numbered; if it holds "
            "names, say so."
        )
        raise FileProblem(fault.code, text, column=fault.column) from None


class RowKeyer:
    """Gives rows, in their order, their keys, or finds their problems.

    All values of a table are texts, but for empty cells, which `blanks` tells apart.
    """

    def __init__(
        self, columns: Columns, keys: CaseKeys | None = None, *, is_table: bool = False
    ) -> None:
        self._columns = columns
        self.blanks = BlankCells(columns) if is_table else None
        self.literals = PythonCells(columns) if is_table else None
        self._keys = keys or CaseKeys(has_trials=bool(columns.trial))

    def place(self, row: Row) -> KeyedRow | RowProblem:
        if self.blanks and self.literals:
            read = self.literals.take(self.blanks.drop(row))
            if isinstance(read, RowProblem):
                return read
            row = read
        case = self._columns.apply(row)
        if isinstance(case, RowProblem):
            return case
        line, key, has_id, trial = case[:4]
        if trial > MAX_TRIAL:
            return _trial_too_high(case, self._columns.trial)
        keyed = (self._keys.place_id if has_id else self._keys.place_hash)(key, line, trial)
        if isinstance(keyed, RowProblem):
            return keyed._replace(column=self._columns.id)
        return KeyedRow(*keyed, case, _NO_VALUES if self.blanks else self._values(row))

    def _values(self, row: Row) -> dict[str, str]:
        columns = self._columns
        values: dict[str, str] = {}
        for column in columns.output:
            value = columns.value(row.fields, column)
            if not (isinstance(value, str) or value is None or value is MISSING):
                values[columns.labels[column]] = exact_json(value)
        return values


def exact_json(value: Json) -> str:
    """JSON text that reads back as exactly this value."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _trial_too_high(case: MappedCase, column: str) -> RowProblem:
    text = (
        f"Line {case.line:,}, column {column}: trial {case.trial:,} is out of range: "
        f"0 to {MAX_TRIAL:,}. Correct it."
    )
    return RowProblem(case.line, column, "out_of_range", text)
