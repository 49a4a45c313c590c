"""Writers of cases and outputs, and the digests that recognise them again."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from typing import Any, Final

import orjson
from django.db import transaction

from scoring.core.contract import Json
from scoring.core.files import MISSING, NearDuplicates, OutputText, RowProblem
from scoring.core.files.near_keys import find_near_keys
from scoring.engine.imports.near_duplicates import find_repeats, nearest_pairs
from scoring.engine.imports.reader import KeyedRow, exact_json
from scoring.engine.imports.report import MARKED, ImportReport
from scoring.models import Case, DatasetVersion, Output, OutputSet
from scoring.models.bulk import bulk_insert
from scoring.models.locks import lock_row
from scoring.models.runs.result_rows import OUTPUT_COLUMNS, OutputRow

ROWS_PER_TRANSACTION: Final = 5_000
_KEYS_PER_QUERY: Final = 900  # SQLite may be built for no more than 999 parameters

CASE_COLUMNS: Final = (
    *("version_id", "position", "key", "input_json"),
    *("expected_json", "references_json", "metadata_json", "tags_json"),
)

CaseRow = tuple[int, int, str, str, str | None, str, str, str]  # CASE_COLUMNS


class CaseWriter:
    """Takes the rows of a dataset file in batches; without a version it stores nothing.

    `output_sets` are by label. Each batch is one short transaction. `near` compares the inputs.
    """

    def __init__(
        self,
        report: ImportReport,
        version: DatasetVersion | None = None,
        output_sets: Mapping[str, OutputSet] | None = None,
        near: NearDuplicates | None = None,
    ) -> None:
        self.report, self.version, self.output_sets = report, version, output_sets or {}
        self._near = near
        self._digest = sha256()
        self._inputs = array("q")  # hashes

    def take(self, batch: Sequence[KeyedRow]) -> None:
        new = [row for row in batch if row.is_new]
        for row in new:
            self.report.add_case(row.case.expected, row.case.references, row.case.tags)
        cases = self._case_rows(new)
        self._digest.update(_canonical(cases, new))
        self._inputs.extend(
            hash(row.key if row.case.input is MISSING else case[3])
            for row, case in zip(new, cases, strict=True)
        )
        self._find_near_duplicates(new)
        for label, count in Counter(chain.from_iterable(row.case.outputs for row in batch)).items():
            self.report.outputs[label] = self.report.outputs.get(label, 0) + count
        if self.version and self.report.is_storable:
            self._store(self.version, batch, cases)

    def finish(self) -> None:
        self.report.content_hash = self._digest.hexdigest()
        repeats = find_repeats(self._inputs)
        self.report.duplicate_inputs = len(repeats)
        self.report.repeats = repeats[:MARKED]
        if self._near:
            self.report.near_count = len(self._near.found)
            self.report.near = nearest_pairs(self._near)
            self.report.is_near_known = True

    def _find_near_duplicates(self, new: Sequence[KeyedRow]) -> None:
        if self._near is None:
            return
        for row in new:
            value = row.case.input
            text = (
                value if isinstance(value, str) else "" if value is MISSING else exact_json(value)
            )
            self._near.add(text)

    def _case_rows(self, new: Sequence[KeyedRow]) -> list[CaseRow]:
        version_id = self.version.pk if self.version else 0
        first = self.report.case_count + 1
        self.report.case_count += len(new)
        return [
            (
                version_id,
                position,
                row.key,
                "null" if row.case.input is MISSING else exact_json(row.case.input),
                None if row.case.expected is MISSING else exact_json(row.case.expected),
                exact_json(row.case.references) if row.case.references else "[]",
                exact_json(row.case.metadata) if row.case.metadata else "{}",
                exact_json(row.case.tags) if row.case.tags else "[]",
            )
            for position, row in enumerate(new, start=first)
        ]

    def _store(
        self, version: DatasetVersion, batch: Sequence[KeyedRow], cases: Sequence[CaseRow]
    ) -> None:
        with transaction.atomic():
            lock_row(version, "state")
            bulk_insert(Case, CASE_COLUMNS, cases)
            if self.output_sets:
                insert_outputs(batch, self.output_sets, self._case_ids(batch, cases))

    def _case_ids(self, batch: Sequence[KeyedRow], cases: Sequence[CaseRow]) -> dict[str, int]:
        """The ids of the batch's cases by key, those of earlier batches included."""
        stored = Case.objects.filter(version=self.version)
        ids: dict[str, int] = {}
        if cases:
            within = stored.filter(position__range=(cases[0][1], cases[-1][1]))
            ids.update(within.order_by().values_list("key", "pk"))
        earlier = [row.key for row in batch if row.key not in ids]
        return ids | case_ids(self.version, earlier) if earlier else ids


class OutputWriter:
    """Takes the rows of an outputs file and matches them by case key with a version's cases.

    Without output sets it stores nothing. With `needs_outputs` a row that lacks an output is an
    output that was not produced; otherwise that model has none for the case.
    """

    def __init__(
        self,
        report: ImportReport,
        version: DatasetVersion,
        labels: Iterable[str],
        output_sets: Mapping[str, OutputSet] | None = None,
        *,
        needs_outputs: bool = True,
    ) -> None:
        self.report, self.version = report, version
        self.labels, self.output_sets = list(labels), output_sets or {}
        self._needs_outputs = needs_outputs
        self.digests = OutputDigests(report)  # only where nothing is stored

    def take(self, batch: Sequence[KeyedRow]) -> None:
        ids = case_ids(self.version, [row.key for row in batch])
        matched = [row for row in batch if row.key in ids]
        if self._needs_outputs:
            matched = [self._with_all_outputs(row) for row in matched]
        for row in batch:
            if row.key not in ids:
                self.report.add_unmatched(row.key)
        self.report.case_count += len(matched)
        for label in self.labels:
            count = self.report.outputs.get(label, 0)
            self.report.outputs[label] = count + len(matched)
        if not self.output_sets:
            self.digests.take(matched)
        elif self.report.is_storable:
            with transaction.atomic():
                insert_outputs(matched, self.output_sets, ids)

    def find_near_keys(self) -> None:
        """Report which cases the unmatched keys probably meant."""
        if self.report.unmatched:
            known = self.version.cases.order_by("position").values_list("key", flat=True)
            self.report.near_keys = find_near_keys(self.report.unmatched, known.iterator())

    def finish(self) -> None:
        report = self.report
        report.unused_columns = [*report.unused_columns, *report.late_columns]
        self.find_near_keys()
        if report.is_storable and not report.case_count:
            text = (
                f"None of the {report.row_count:,} rows belongs to a case of {self.version}: "
                f"{report.name_unmatched()}. Map the column that holds the cases' ids."
            )
            report.is_readable = False
            report.add(RowProblem(0, "", "no_match", text))

    def _with_all_outputs(self, row: KeyedRow) -> KeyedRow:
        """A row that lacks an output altogether says so in its place."""
        case = row.case
        if len(case.outputs) == len(self.labels):
            return row
        outputs = {label: case.outputs.get(label, _NOT_THERE) for label in self.labels}
        return row._replace(case=case._replace(outputs=outputs))


_NOT_THERE: Final = OutputText(None, "the row has no output", None, None, None, None)


class OutputDigests:
    """Takes rows and digests their outputs, so that sets which hold them are recognised."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        self._digests: dict[str, Any] = {}

    def take(self, batch: Sequence[KeyedRow]) -> None:
        for key, _, case, values in batch:
            for label, output in case.outputs.items():
                line = canonical_output(key, case.trial, *_stored(output, values.get(label)))
                self._digests.setdefault(label, sha256()).update(line)

    def digest_of(self, label: str) -> str:
        return str(self._digests[label].hexdigest())


def insert_outputs(
    batch: Sequence[KeyedRow], output_sets: Mapping[str, OutputSet], ids: Mapping[str, int]
) -> None:
    """Insert the rows' outputs, set by set, inside the caller's transaction."""
    for label, output_set in output_sets.items():
        lock_row(output_set, "state")
        rows = list(_output_rows(batch, label, output_set.pk, ids))
        bulk_insert(Output, OUTPUT_COLUMNS, rows)


def case_ids(version: DatasetVersion | None, keys: Sequence[str]) -> dict[str, int]:
    """The ids of the version's cases that have one of these keys, by key."""
    stored = Case.objects.filter(version=version).order_by()
    ids: dict[str, int] = {}
    for start in range(0, len(keys), _KEYS_PER_QUERY):
        cases = stored.filter(key__in=keys[start : start + _KEYS_PER_QUERY])
        ids.update(cases.values_list("key", "pk"))
    return ids


def _output_rows(
    batch: Sequence[KeyedRow], label: str, set_id: int, ids: Mapping[str, int]
) -> Iterator[OutputRow]:
    for key, _, case, values in batch:
        output = case.outputs.get(label)
        if output is not None:
            yield (set_id, ids[key], case.trial, *_stored(output, values.get(label)))


def _stored(output: OutputText, value: str | None) -> tuple[Any, ...]:
    """Text, `is_json`, error and figures of an output; a value that is no text stays itself."""
    if value is None:
        return output.text, False, *output[1:]
    return value, True, *output[1:]


def _canonical(cases: Sequence[CaseRow], new: Sequence[KeyedRow]) -> bytes:
    """Equal bytes for equal cases: keys of objects sorted, every text ended."""
    parts: list[str] = []
    for columns, (_, _, case, _) in zip(cases, new, strict=True):
        _, _, key, input_json, _, references, metadata, tags = columns
        parts += (
            key,
            input_json if isinstance(case.input, str) else _sorted_json(case.input),
            _sorted_json(case.expected),
            references,
            _sorted_json(case.metadata) if case.metadata else metadata,
            tags,
        )
    return "\0".join([*parts, ""]).encode()


def _sorted_json(value: Json) -> str:
    """The value's JSON with the keys of objects sorted; empty where it is missing."""
    if value is MISSING:
        return ""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:
        return exact_json(value)


def canonical_output(*values: Any) -> bytes:
    """A line that is different for every output: key, trial, and the columns of its row."""
    return orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)


def output_digest(output_set: OutputSet) -> str:
    """The digest that OutputDigests gives for the outputs of this set."""
    columns = ("case__key", *OUTPUT_COLUMNS[2:])
    stored = Output.objects.filter(output_set=output_set).order_by("pk").values_list(*columns)
    digest = sha256()
    for row in stored.iterator(chunk_size=ROWS_PER_TRANSACTION):
        digest.update(canonical_output(*row))
    return digest.hexdigest()
