"""The cases of a run's dataset version that have no output in any trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet

from scoring.models.case_paging import PAGE_SIZE, CasePosition
from scoring.models.data.dataset import Case
from scoring.models.runs.run import Output, Run

MAX_NAMED: Final = 5  # cases that are named where no list is shown


class MissingCase(NamedTuple):
    position: int
    key: str

    @property
    def place(self) -> CasePosition:
        return CasePosition(self.position)


class MissingPage(NamedTuple):
    """Some of the cases in the version's order."""

    rows: Sequence[MissingCase]
    has_previous: bool
    has_next: bool


def count_missing_outputs(run: Run, outputs: int, trials: int) -> int:
    """How many cases lack an output of those that the run has; `trials` is how many a case has
    at most. Where that is one, every output is of another case.
    """
    cases = run.output_set.outputs.values("case").distinct()
    return run.output_set.version.case_count - (cases.count() if trials > 1 else outputs)


def missing_page(
    run: Run,
    *,
    after: CasePosition | None = None,
    before: CasePosition | None = None,
    size: int = PAGE_SIZE,
) -> MissingPage:
    """Those after or before a place; the first ones unless given."""
    cases = missing_cases(run)
    if before:
        rows = _read(cases.filter(position__lt=before.position).order_by("-position"), size + 1)
        return MissingPage(rows[:size][::-1], len(rows) > size, has_next=True)
    start = after.position if after else 0
    rows = _read(cases.filter(position__gt=start), size + 1)
    return MissingPage(rows[:size], after is not None, len(rows) > size)


def missing_keys(run: Run, most: int = MAX_NAMED) -> list[str]:
    """The keys of the first such cases; no query where the run is known to have none."""
    if not run.missing_output_count:
        return []
    return [row.key for row in missing_page(run, size=most).rows]


def missing_cases(run: Run) -> QuerySet[Case]:
    """In the version's order."""
    outputs = Output.objects.filter(output_set=run.output_set_id, case=OuterRef("pk"))
    cases = Case.objects.filter(version=run.output_set.version_id)
    return cases.exclude(Exists(outputs)).order_by("position")


def _read(cases: QuerySet[Case], most: int) -> list[MissingCase]:
    return [MissingCase(*row) for row in cases.values_list("position", "key")[:most]]
