"""Queries that lists of cases and lists of pairs share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from scoring.models.data.dataset import Case
from scoring.models.runs.run import Run
from scoring.models.runs.score import CaseVerdict


def first_positions(queries: Iterable[QuerySet[Any, int]], limit: int) -> list[int]:
    """The positions that the queries give, one query after the other until there are `limit`."""
    positions: list[int] = []
    for query in queries:
        positions += query.order_by()[: limit - len(positions)]
    return positions


def partner_verdict(
    run: Run, against: Run, *, position: str = "position", key: str = "output__case__key"
) -> QuerySet[CaseVerdict]:
    """The row with the verdict of the same case in the run `against`, of which there is at most
    one; the verdict is in the column `case_verdict_of(against)`.

    `position` and `key` lead to those of the case from the rows this is put on. Where neither run
    has several trials a case, these need a `trial`.
    """
    rows = CaseVerdict.objects.filter(run=against)
    if against.has_trials:
        rows = rows.exclude(of_case=None)
    else:
        rows = rows.filter(trial=0 if run.has_trials else OuterRef("trial"))
    version = against.output_set.version_id
    if version == run.output_set.version_id:
        return rows.filter(position=OuterRef(position))
    same_case = Case.objects.filter(version=version, key=OuterRef(OuterRef(key))).order_by()
    return rows.filter(position=Subquery(same_case.values("position")))


def case_verdict_of(run: Run) -> str:
    """The column of CaseVerdict that has the verdict of a case; None on rows of further trials."""
    return "of_case" if run.has_trials else "verdict"
