"""Cases and outputs out of JSON bodies: the same rules as for files, problems named by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from django.db import IntegrityError, transaction

from scoring.core import json_text
from scoring.core.contract import CaseProblem, Json
from scoring.core.files import CaseKeys, Row, RowProblem
from scoring.core.files import Mapping as Columns
from scoring.engine.loading.intake import CaseIntake, OutputIntake
from scoring.engine.loading.reading import Placed, Placer
from scoring.engine.loading.report import LISTED, Report, StoppedError
from scoring.engine.loading.storing import Loaded, Origin, named_dataset, publish
from scoring.models import (
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Team,
    User,
)

MOST: Final = 10_000  # objects in one call

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


class Stored(NamedTuple):
    """How many outputs were stored, and the keys no case has: the first hundred, and how many."""

    accepted: int
    unmatched: list[str]
    unmatched_count: int


def store_cases(
    team: Team, dataset_name: str, cases: Sequence[Mapping[str, Json]], *, by: User | None = None
) -> Loaded:
    """A new version of the team's dataset of that name, made if need be, from up to MOST objects.

    A case is {key, input, expected, references, tags, metadata}; without a key its input is
    hashed. The version there was is returned when it has the same cases. Raises BodyError.
    """
    placed, report = _placed(cases, "cases", _CASE_FIELDS, _place_case())
    origin = Origin(by, _unwatched, _untold)
    with transaction.atomic():
        dataset = named_dataset(team, dataset_name, by)
        version = DatasetVersion.with_loading.create(dataset=dataset, created_by=by)
        intake = CaseIntake(report, version)
        intake.take(placed)
        intake.finish()
        twin = publish(version, {}, report, origin)
        if twin is None:
            return Loaded(version, (), report)
        transaction.set_rollback(True)
    return Loaded(twin, (), report, is_new=False)


def store_outputs(output_set: OutputSet, outputs: Sequence[Mapping[str, Json]]) -> Stored:
    """Add up to MOST objects to an output set that is still loading; all of them or none.

    An output is {key, output, trial, latency_ms, tokens_in, tokens_out, cost_usd, error}. Raises
    BodyError, also for a key and trial that the set has already, and StoppedError when the set is
    closed.
    """
    placed, report = _placed(outputs, "outputs", _OUTPUT_FIELDS, Placer(_OUTPUTS).place)
    intake = OutputIntake(report, output_set.version, [_LABEL], {_LABEL: output_set})
    try:
        with transaction.atomic():
            _refuse_closed(output_set)
            intake.take(placed)
    except IntegrityError:
        raise _repeated(output_set, placed) from None
    return Stored(report.case_count, report.unmatched, report.unmatched_count)


def close_outputs(output_set: OutputSet) -> None:
    """The set is whole: it may be scored, and takes no more outputs."""
    count = Output.objects.filter(output_set=output_set).count()
    OutputSet.objects.filter(pk=output_set.pk).update(
        state=OutputSetState.READY, output_count=count
    )
    output_set.refresh_from_db(fields=["state", "output_count"])


Place = Callable[[Row], Placed | RowProblem]


def _placed(
    objects: Sequence[Mapping[str, Json]], name: str, fields: Sequence[str], place: Place
) -> tuple[list[Placed], Report]:
    if len(objects) > MOST:
        text = f"These are {len(objects):,}; {MOST:,} are possible in one call."
        raise BodyError([BodyProblem(name, "too_many_rows", text)], 1)
    rows: list[Placed] = []
    problems: list[BodyProblem] = []
    for index, fault_or_row in enumerate(_each(objects, fields, place)):
        if isinstance(fault_or_row, Placed):
            rows.append(fault_or_row)
        else:
            problems.append(_told(f"{name}[{index}]", fault_or_row))
    if problems:
        raise BodyError(problems[:LISTED], len(problems))
    return rows, Report(row_count=len(rows))


def _each(
    objects: Sequence[Mapping[str, Json]], fields: Sequence[str], place: Place
) -> Iterator[Placed | RowProblem]:
    for line, given in enumerate(objects, start=1):
        fault = _fault(given, fields)
        yield RowProblem(line, *fault) if fault else place(Row(line, dict(given)))


def _fault(given: Json, fields: Sequence[str]) -> tuple[str, str, str] | None:
    """Path, code and text of what makes the object unusable by itself."""
    if not isinstance(given, Mapping):
        return "", "wrong_shape", "This is not an object."
    unknown = next((name for name in given if name not in fields), None)
    if unknown is not None:
        return unknown, "unknown_field", f"Known are {', '.join(fields)}."
    try:
        json_text.check(given, refuse_nul=True)
    except CaseProblem as fault:
        return fault.where, fault.code, fault.text
    return None


def _place_case() -> Place:
    """Keyed cases and those without a key, counted together."""
    keys = CaseKeys()
    keyed, hashed = Placer(_CASES, keys), Placer(_WITHOUT_KEY, keys)

    def place(row: Row) -> Placed | RowProblem:
        if row.fields.get("key") is not None:
            return keyed.place(row)
        row.fields.pop("key", None)
        return hashed.place(row)

    return place


def _told(path: str, problem: RowProblem) -> BodyProblem:
    inner = problem.column.removeprefix("$")
    where = f"{path}.{inner}" if inner and not inner.startswith("[") else path + inner
    if problem.code == "duplicate_case":
        where = f"{path}.key"
        return BodyProblem(where, problem.code, "This key came before. Give each its own.")
    return BodyProblem(where, problem.code, problem.said)


def _refuse_closed(output_set: OutputSet) -> None:
    state = OutputSet.objects.select_for_update().values_list("state", flat=True)
    if state.get(pk=output_set.pk) != OutputSetState.LOADING:
        raise StoppedError


def _repeated(output_set: OutputSet, placed: Sequence[Placed]) -> BodyError:
    there = set(
        Output.objects.filter(output_set=output_set).values_list("case__key", "trial").iterator()
    )
    problems = [
        BodyProblem(f"outputs[{index}].key", "duplicate_case", "This output is stored already.")
        for index, row in enumerate(placed)
        if (row.key, row.case.trial) in there
    ]
    return BodyError(problems[:LISTED], len(problems))


def _unwatched(_: int, __: float) -> None:
    """Nobody waits long enough to be told."""


def _untold(_: DatasetVersion, __: Report) -> None:
    """No upload stands for these rows."""
