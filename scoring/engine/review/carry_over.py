"""Outputs of one dataset version as outputs of another, so that a run can be scored again there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from django.db import transaction

from scoring.engine.imports.cleanup import remove_output_set
from scoring.engine.jobs.progress import ReportShare, ignore_share
from scoring.models import (
    AuditEntry,
    Case,
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunState,
    User,
)
from scoring.models.bulk import MANY_ROWS, bulk_insert, gather_statistics
from scoring.models.locks import lock_row

TEXTS_REMOVED: Final = "The texts of these outputs were removed."
_PER_QUERY: Final = 900  # SQLite may be built for no more than 999 parameters
_COPIED: Final = (
    *("trial", "text", "is_json", "error", "latency_ms", "tokens_in", "tokens_out", "cost_usd"),
)


class CarryOverError(Exception):
    """The outputs cannot be carried over; the text says why."""


class _CarriedByAnotherError(Exception):
    """Somebody else carried the same outputs over meanwhile, as `output_set`."""

    def __init__(self, output_set: OutputSet) -> None:
        self.output_set = output_set


class AffectedRun(NamedTuple):
    """A run over an older version, and the runs of the same outputs over the latest one."""

    run: Run
    rescored: Sequence[Run]


def affected_runs(dataset: Dataset, most: int) -> list[AffectedRun]:
    """The newest finished runs over older versions, which approved corrections may change."""
    runs = Run.objects.of_dataset(dataset).unarchived().filter(state=RunState.FINISHED)
    older = runs.exclude(output_set__version=dataset.latest_id).for_list()[:most]
    again: dict[int, list[Run]] = {}
    copies = Run.objects.filter(
        output_set__version=dataset.latest_id,
        output_set__copied_from__in=[run.output_set_id for run in older],
    )
    for run in copies.select_related("output_set").order_by("-pk"):
        assert run.output_set.copied_from_id  # noqa: S101  filtered by it
        again.setdefault(run.output_set.copied_from_id, []).append(run)
    return [AffectedRun(run, again.get(run.output_set_id, [])) for run in older]


def find_carried(outputs: OutputSet, version: DatasetVersion) -> OutputSet | None:
    """These outputs over another version, if they are there: itself, or what was carried over."""
    if outputs.version_id == version.pk:
        return outputs
    return OutputSet.objects.ready().filter(copied_from=outputs, version=version).first()


def carry_over(
    outputs: OutputSet, version: DatasetVersion, by: User, report: ReportShare = ignore_share
) -> OutputSet:
    """The same outputs over another version of the dataset, by the keys of its cases.

    An output goes along where its case has the same input there. A set that was carried over
    before is returned as it is. `report` takes the share that is done. Raises CarryOverError.
    """
    if made := find_carried(outputs, version):
        return made
    if outputs.state == OutputSetState.EMPTIED:
        raise CarryOverError(TEXTS_REMOVED)
    copied = ("name", "series", "dated", "labels", "source_name")
    fields = {name: getattr(outputs, name) for name in copied}
    fields |= {"copied_from": outputs, "original_id": outputs.identity}
    made = OutputSet.objects.create(version=version, created_by=by, **fields)
    try:
        _copy_outputs(outputs, made, report)
        with transaction.atomic():
            lock_row(outputs, "state")
            if outputs.state == OutputSetState.EMPTIED:
                raise CarryOverError(TEXTS_REMOVED)  # meanwhile: some copies may lack theirs
            if other := find_carried(outputs, version):
                raise _CarriedByAnotherError(other)
            made.output_count = Output.objects.filter(output_set=made).count()
            if not made.output_count:
                raise CarryOverError(f"No case of version {version.number} has the same input.")
            made.state = OutputSetState.READY
            made.save(update_fields=["state", "output_count"])
            new = {"outputs": made.output_count, "copied_from": str(outputs.uuid)}
            team = version.dataset.team
            AuditEntry.objects.record(team, by, "output_set.created", made, new=new)
    except _CarriedByAnotherError as meanwhile:
        remove_output_set(made)
        return meanwhile.output_set
    except BaseException:
        remove_output_set(made)
        raise
    return made


def remove_unfinished(outputs: OutputSet, version: DatasetVersion) -> None:
    """Remove what a worker that was killed left of a copy of these outputs."""
    left = OutputSet.objects.filter(copied_from=outputs, version=version)
    for copy in left.filter(state=OutputSetState.LOADING):
        remove_output_set(copy)


def _copy_outputs(outputs: OutputSet, made: OutputSet, report: ReportShare) -> None:
    columns = ("output_set_id", "case_id", *_COPIED)
    done, total = 0, max(1, made.version.case_count)
    for cases in _matching_cases(outputs.version_id, made.version_id):
        rows = Output.objects.filter(output_set=outputs, case__in=list(cases)).order_by("pk")
        values: list[tuple[Any, ...]] = [
            (made.pk, cases[case], *rest) for case, *rest in rows.values_list("case", *_COPIED)
        ]
        with transaction.atomic():  # a short one, so that others write between two
            lock_row(made, "state")
            bulk_insert(Output, columns, values)
        done += _PER_QUERY
        report(min(1.0, done / total))
    if done >= MANY_ROWS:
        gather_statistics(Output)


def _matching_cases(old: int, new: int) -> Iterator[dict[int, int]]:
    """By the ids of cases in the old version those with key and input the same in the new one."""
    rows = Case.objects.filter(version=new).order_by("position")
    last = 0
    while chunk := list(
        rows.filter(position__gt=last).values_list("position", "key", "pk", "input_json")[
            :_PER_QUERY
        ]
    ):
        last = chunk[-1][0]
        wanted = {key: (pk, text) for _, key, pk, text in chunk}
        before = Case.objects.filter(version=old, key__in=list(wanted)).order_by()
        yield {
            pk: wanted[key][0]
            for key, pk, text in before.values_list("key", "pk", "input_json")
            if wanted[key][1] == text
        }
