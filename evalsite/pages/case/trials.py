"""The trials of one case side by side: what each answered and how it was scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from django.http import QueryDict
from django.urls import reverse

from evalsite.pages.case.list import Cell, cell_of
from scoring.models import Output, Run, RunScorer
from scoring.models.case_table import CaseRow, CaseTable, Place

MOST: Final = 50  # trials that are listed
SCORERS: Final = 6


class Trial(NamedTuple):
    """One trial: its row in the case table, its scores, and its page's address."""

    row: CaseRow
    cells: Sequence[Cell]
    url: str
    is_here: bool


class Trials(NamedTuple):
    """All trials of a case, in their order, beside the scorers that have a column."""

    scorers: Sequence[RunScorer]
    listed: Sequence[Trial]
    is_unsteady: bool


def trials_of(
    run: Run, output: Output, scorers: Sequence[RunScorer], query: QueryDict
) -> Trials | None:
    """Those of the case of an output from `access.output_for`; None where it has one."""
    if not getattr(output, "has_trials", False):
        return None
    position, shown = output.case.position, scorers[:SCORERS]
    before = Place(position, -1)
    rows = CaseTable(run, shown).page(after=before, size=MOST).rows
    own = [row for row in rows if row.place.position == position]
    listed = [
        _trial(run, row, shown, query, is_here=row.place.trial == output.trial) for row in own
    ]
    return Trials(shown, listed, is_unsteady={"pass", "fail"} <= {row.verdict for row in own})


def _trial(
    run: Run, row: CaseRow, scorers: Sequence[RunScorer], query: QueryDict, *, is_here: bool
) -> Trial:
    kept = query.copy()
    for name in ("trial", "n", "whole", "undo"):
        kept.pop(name, None)
    if row.place.trial:
        kept["trial"] = str(row.place.trial)
    path = reverse("run_case", args=[run.uuid, row.place.position])
    url = f"{path}?{kept.urlencode()}" if kept else path
    pairs = zip(scorers, row.scores, strict=True)
    return Trial(row, [cell_of(scorer, score) for scorer, score in pairs], url, is_here)
