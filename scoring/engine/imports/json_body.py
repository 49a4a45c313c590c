"""Cases and outputs from JSON bodies, by the same rules as files; problems are named by path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from django.db import IntegrityError, transaction

from scoring.core import json_text
from scoring.core.contract import CaseProblem, Json
from scoring.core.files import CaseKeys, Row, RowProblem
from scoring.core.files import Mapping as Columns
from scoring.engine.imports.case_writer import CaseWriter, OutputWriter
from scoring.engine.imports.reader import KeyedRow, RowKeyer
from scoring.engine.imports.report import MAX_LISTED, ImportReport, StoppedError
from scoring.engine.imports.writer import (
    ImportOrigin,
    ImportResult,
    get_or_create_dataset,
    publish_import,
)
from scoring.models import AuditEntry, DatasetVersion, Output, OutputSet, OutputSetState, Team, User

MAX_OBJECTS: Final = 10_000  # objects in one call
Keyer = Callable[[Row], KeyedRow | RowProblem]

_CASE_FIELDS: Final = ("key", "input", "expected", "references", "tags", "metadata")
_OUTPUT_FIELDS: Final = (
    *("key", "output", "trial", "latency_ms", "tokens_in", "tokens_out", "cost_usd", "error"),
)
_LABEL: Final = "output"
_CASES: Final = Columns(
    id="key",
    input="input",
    expected="expected",
    references=("references",),
    tags=("tags",),
    metadata="metadata",
)
_OUTPUTS: Final = Columns(
    id="key",
    output=(_LABEL,),
    trial="trial",
    latency_ms="latency_ms",
    tokens_in="tokens_in",
    tokens_out="tokens_out",
    cost_usd="cost_usd",
    error="error",
)
_WITHOUT_KEY: Final = replace(_CASES, id="")


class BodyProblem(NamedTuple):
    """One fault. `path` leads to it from the body's outermost value: `cases[3].expected`."""

    path: str
    code: str
    message: str


class BodyError(Exception):
    """The objects have problems and nothing of them was stored; the first hundred are listed."""

    def __init__(self, problems: Sequence[BodyProblem], count: int) -> None:
        self.problems, self.count = list(problems), count
        super().__init__(f"{count:,} problems; the first: {problems[0].path}")


class StoredRows(NamedTuple):
    """How many outputs were stored, and the keys no case has: the first hundred, how many, and the
    keys of the cases that were probably meant.
    """

    accepted: int
    unmatched: list[str]
    unmatched_count: int
    near_keys: dict[str, str]


def store_cases(
    team: Team, dataset_name: str, cases: Sequence[Mapping[str, Json]], *, by: User | None = None
) -> ImportResult:
    """A new version of the team's dataset of that name, made if need be, from up to MAX_OBJECTS
    objects.

    A case is {key, input, expected, references, tags, metadata}; without a key its input is
    hashed. The version there was is returned when it has the same cases. Raises BodyError.
    """
    rows, report = _key_rows(cases, "cases", _CASE_FIELDS, _case_keyer())
    with transaction.atomic():
        dataset = get_or_create_dataset(team, dataset_name, by)
        version = DatasetVersion.with_loading.create(dataset=dataset, created_by=by)
        writer = CaseWriter(report, version)
        writer.take(rows)
        writer.finish()
        twin = publish_import(version, {}, report, ImportOrigin(by))
        if twin is None:
            return ImportResult(version, (), report)
        transaction.set_rollback(True)
    return ImportResult(twin, (), report, is_new=False)


def store_outputs(output_set: OutputSet, outputs: Sequence[Mapping[str, Json]]) -> StoredRows:
    """Add up to MAX_OBJECTS objects to an output set that is still loading; all of them or none.

    An output is {key, output, trial, latency_ms, tokens_in, tokens_out, cost_usd, error}. Raises
    BodyError, also for a key and trial that the set has already, and StoppedError when the set is
    closed.
    """
    rows, report = _key_rows(outputs, "outputs", _OUTPUT_FIELDS, RowKeyer(_OUTPUTS).place)
    try:
        with transaction.atomic():
            state = OutputSet.objects.select_for_update().values_list("state", flat=True)
            if state.get(pk=output_set.pk) != OutputSetState.LOADING:
                raise StoppedError
            writer = OutputWriter(report, output_set.version, [_LABEL], {_LABEL: output_set})
            writer.take(rows)
            writer.find_near_keys()
    except IntegrityError:
        raise _repeated(output_set, rows) from None
    counts = report.case_count, report.unmatched, report.unmatched_count
    return StoredRows(*counts, report.near_keys)


def close_outputs(output_set: OutputSet, by: User | None) -> None:
    """Make the set ready to be scored; it takes no more outputs. Closing it again does nothing."""
    with transaction.atomic():
        count = Output.objects.filter(output_set=output_set).count()
        loading = OutputSet.objects.filter(pk=output_set.pk, state=OutputSetState.LOADING)
        is_closed = loading.update(state=OutputSetState.READY, output_count=count)
        output_set.refresh_from_db(fields=["state", "output_count"])
        if is_closed:
            team = output_set.version.dataset.team
            new = {"outputs": count}
            AuditEntry.objects.record(team, by, "output_set.created", output_set, new=new)


def _key_rows(
    objects: Sequence[Mapping[str, Json]], name: str, fields: Sequence[str], keyer: Keyer
) -> tuple[list[KeyedRow], ImportReport]:
    """The objects as rows with their keys. Raises BodyError for any problem."""
    if len(objects) > MAX_OBJECTS:
        text = f"These are {len(objects):,}; {MAX_OBJECTS:,} are possible in one call."
        raise BodyError([BodyProblem(name, "too_many_rows", text)], 1)
    rows: list[KeyedRow] = []
    problems: list[BodyProblem] = []
    for index, values in enumerate(objects):
        row = _problem(index, values, fields) or keyer(Row(index + 1, dict(values)))
        if isinstance(row, KeyedRow):
            rows.append(row)
        else:
            problems.append(_name_problem(f"{name}[{index}]", row))
    if problems:
        raise BodyError(problems[:MAX_LISTED], len(problems))
    return rows, ImportReport(row_count=len(rows))


def _problem(index: int, values: Json, fields: Sequence[str]) -> RowProblem | None:
    """What makes the object unusable whatever the others are."""
    if not isinstance(values, Mapping):
        return RowProblem(index + 1, "", "wrong_shape", "This is not an object.")
    unknown = next((name for name in values if name not in fields), None)
    if unknown is not None:
        text = f"Known are {', '.join(fields)}."
        return RowProblem(index + 1, unknown, "unknown_field", text)
    try:
        json_text.check_value(values, refuse_nul=True)
    except CaseProblem as fault:
        return RowProblem(index + 1, fault.where, fault.code, fault.text)
    return None


def _case_keyer() -> Keyer:
    """Keys cases by their key or else by their input, each key once."""
    keys = CaseKeys()
    keyed, hashed = RowKeyer(_CASES, keys), RowKeyer(_WITHOUT_KEY, keys)

    def place(row: Row) -> KeyedRow | RowProblem:
        if row.fields.get("key") is not None:
            return keyed.place(row)
        row.fields.pop("key", None)
        return hashed.place(row)

    return place


def _name_problem(path: str, problem: RowProblem) -> BodyProblem:
    if problem.code == "duplicate_case":
        text = "This key came before. Give each its own."
        return BodyProblem(f"{path}.key", problem.code, text)
    inner = problem.column.removeprefix("$")
    inner_path = f"{path}.{inner}" if inner and not inner.startswith("[") else path + inner
    return BodyProblem(inner_path, problem.code, problem.short_message)


def _repeated(output_set: OutputSet, rows: Sequence[KeyedRow]) -> BodyError:
    stored = set(
        Output.objects.filter(output_set=output_set).values_list("case__key", "trial").iterator()
    )
    problems = [
        BodyProblem(f"outputs[{index}].key", "duplicate_case", "This output is stored already.")
        for index, row in enumerate(rows)
        if (row.key, row.case.trial) in stored
    ]
    return BodyError(problems[:MAX_LISTED], len(problems))
