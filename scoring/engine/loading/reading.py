"""A file on disk as a stream of placed rows: mapped, keyed, every fault told to a report."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict, cast

import orjson

from scoring.core.contract import Json
from scoring.core.files import (
    MISSING,
    CaseKeys,
    Detected,
    FileProblem,
    Header,
    MappedCase,
    Row,
    RowProblem,
    Source,
    detect,
    guess_mapping,
    read_rows,
)
from scoring.core.files import Mapping as Columns
from scoring.engine.loading.report import LISTED, Report

MAX_ROWS: Final = 1_000_000
_SHARE_EVERY: Final = 1_000  # rows
_NEARLY: Final = 0.99  # as long as rows come, though all bytes may have been read ahead
MAX_TRIAL: Final = 32_767  # what the column of either database holds

#: Which fields must be mapped, by what a file is for.
NEEDED: Final[Mapping[str, Sequence[str]]] = {
    "dataset": ["id|input"],
    "outputs": ["id|input", "output"],
}


class Options(TypedDict, total=False):
    """How to read a file where its beginning would tell something else."""

    encoding: str
    delimiter: str
    quote: str
    header: Header
    sheet: str


def options_of(described: Mapping[str, Any]) -> Options:
    """What `Reading.described` told, to read the file in the same way again."""
    return cast("Options", {name: described.get(name, "") for name in Options.__annotations__})


def settled(mapping: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]] | None:
    """A kept mapping with every field named, so that nothing is guessed any more; None for none."""
    return {field.name: () for field in fields(Columns)} | dict(mapping) if mapping else None


class Placed(NamedTuple):
    """A usable row. `key` is the case's key; `is_new` is False for a further trial of it.

    `values` holds the outputs that are no texts, by label, as exact JSON.
    """

    key: str
    is_new: bool
    case: MappedCase
    values: dict[str, str]


_NO_VALUES: Final[dict[str, str]] = {}


@dataclass(frozen=True)
class Reading:
    """A file, how it is read, and what its columns mean."""

    path: Path
    name: str  # what people call it, which tells its format
    detected: Detected
    columns: Columns

    def described(self) -> dict[str, Any]:
        """How the file is read, under the names of Options where they take it again."""
        found = self.detected
        return {
            "format": found.format,
            "encoding": found.encoding,
            "delimiter": found.delimiter,
            "quote": found.quote,
            "header": "yes" if found.has_header else "no",
            "sheet": found.sheet,
            "sheets": list(found.sheets[:LISTED]),
            "columns": list(found.columns),
        }

    def batches(self, report: Report, size: int) -> Iterator[list[Placed]]:
        """The usable rows in order; the others, and the end of what can be read, are reported."""
        placer = Placer(self.columns, is_table=self.detected.is_table)
        batch: list[Placed] = []
        try:
            for row in self._rows(report):
                placed = placer.place(row) if isinstance(row, Row) else row
                if isinstance(placed, RowProblem):
                    report.add(placed)
                    continue
                batch.append(placed)
                if len(batch) == size:
                    yield batch
                    batch = []
        except FileProblem as fault:
            report.add_fatal(fault)
        if batch:
            yield batch

    def with_labels(self, labels: Collection[str]) -> Reading:
        """The same reading with only these of its output columns."""
        of_columns = self.columns.labels
        columns = tuple(column for column, label in of_columns.items() if label in labels)
        rest = tuple(column for column in of_columns if column not in columns)
        changed = replace(self.columns, output=columns, drop=(*self.columns.drop, *rest))
        return replace(self, columns=changed)

    def _rows(self, report: Report) -> Iterator[Row | RowProblem]:
        with self.path.open("rb") as stream:
            source = Source(stream, self.name)
            for count, row in enumerate(read_rows(source, self.detected), 1):
                report.row_count = count
                if not count % _SHARE_EVERY:
                    report.share_read = min(source.share, _NEARLY)
                if count > MAX_ROWS:
                    raise _too_many_rows()
                yield row


def open_reading(
    path: Path,
    name: str,
    *,
    kind: str,
    choices: Mapping[str, Sequence[str]] | None = None,
    options: Options | None = None,
) -> Reading:
    """Looks at the beginning of the file and completes the mapping with guesses.

    Raises FileProblem, also for a mapping that
    the file's columns cannot satisfy.
    """
    with path.open("rb") as stream:
        if not stream.seekable():
            text = "A pipe cannot be looked at before it is read. Save its rows as a file first."
            raise FileProblem("not_a_file", text)
        detected = detect(Source(stream, name), **(options or {}))
    columns = guess_mapping(
        detected.columns, detected.sample, dict(choices or {}), is_open=detected.is_open
    )
    if detected.columns or detected.sample:  # else only problems show, told when rows are read
        _check(columns, detected, kind)
    return Reading(path, name, replace(detected, sample=()), columns)


def _check(columns: Columns, detected: Detected, kind: str) -> None:
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


class Placer:
    """Turns rows, in their order, into placed rows or problems. All values of a table are texts."""

    def __init__(
        self, columns: Columns, keys: CaseKeys | None = None, *, is_table: bool = False
    ) -> None:
        self._columns, self._is_table = columns, is_table
        self._keys = keys or CaseKeys(has_trials=bool(columns.trial))

    def place(self, row: Row) -> Placed | RowProblem:
        case = self._columns.apply(row)
        if isinstance(case, RowProblem):
            return case
        line, key, has_id, trial = case[:4]
        if trial > MAX_TRIAL:
            return _trial_too_high(case, self._columns.trial)
        placed = (self._keys.place_id if has_id else self._keys.place_hash)(key, line, trial)
        if isinstance(placed, RowProblem):
            return placed._replace(column=self._columns.id)
        return Placed(*placed, case, _NO_VALUES if self._is_table else self._values(row))

    def _values(self, row: Row) -> dict[str, str]:
        columns = self._columns
        values: dict[str, str] = {}
        for column in columns.output:
            value = columns.value(row.fields, column)
            if not (isinstance(value, str) or value is None or value is MISSING):
                values[columns.labels[column]] = json_of(value)
        return values


def json_of(value: Json) -> str:
    """JSON text that reads back as exactly this value."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _too_many_rows() -> FileProblem:
    text = f"The file has more than {MAX_ROWS:,} rows. Split it into several datasets."
    return FileProblem("too_many_rows", text, line=None)


def _trial_too_high(case: MappedCase, column: str) -> RowProblem:
    text = (
        f"Line {case.line:,}, column {column}: trial {case.trial:,} is out of range: "
        f"0 to {MAX_TRIAL:,}. Correct it."
    )
    return RowProblem(case.line, column, "out_of_range", text)
