"""The trials of one case side by side: what each answered and how it was scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse

from evalsite.access import OutputAccess
from evalsite.pages.cases.labels import CaseLabel, RunLabels
from evalsite.pages.cases.table.case_table import ScoreCell, score_cell
from evalsite.pages.compare.links import change_query
from scoring.models import Output, RunScorer
from scoring.models.case_list.table import CaseRow, CaseTable
from scoring.models.case_paging import CasePosition
from scoring.models.prepared_query import prepared_query

MAX_TRIALS: Final = 50  # trials that are listed
SCORERS: Final = 6


class Trial(NamedTuple):
    """One trial: its row in the case table, its verdict, its scores, and its page's address."""

    row: CaseRow
    label: CaseLabel
    cells: Sequence[ScoreCell]
    url: str
    is_here: bool


class Trials(NamedTuple):
    """All trials of a case in order, with the scorers that have a column."""

    scorers: Sequence[RunScorer]
    listed: Sequence[Trial]
    is_unsteady: bool


def list_trials(
    opened: OutputAccess,
    scorers: Sequence[RunScorer],
    query: QueryDict,
    labels: RunLabels | None = None,
) -> Trials | None:
    """Those of the case that the person may see scored; None where it has one.

    Verdicts are shown by the later `labels` of the run, if these are.
    """
    run, output = opened.run, opened.output
    if not _other_trials(output.output_set_id, output.case_id, output.trial):
        return None
    position, shown = output.case.position, scorers[:SCORERS]
    read = scorers if labels else shown  # the later verdict of a case needs all of them
    table = CaseTable(run, read, hidden=opened.blind_outputs, masks=False)
    page = table.page(after=CasePosition(position, -1), size=MAX_TRIALS)
    rows = [row for row in page.rows if row.place.position == position]
    path = reverse("run_case", args=[run.uuid, position])
    trials = []
    for row in rows:
        trial = str(row.place.trial or "")
        url = f"{path}{change_query(query, 'n', 'whole', 'undo', trial=trial)}".rstrip("?")
        cells = [
            score_cell(scorer, score, labels)
            for scorer, score in zip(shown, row.scores, strict=False)
        ]
        label = labels.label_case(row) if labels else CaseLabel(row.verdict, "")
        trials.append(Trial(row, label, cells, url, is_here=row.place.trial == output.trial))
    return Trials(shown, trials, is_unsteady={"pass", "fail"} <= {row.verdict for row in rows})


@prepared_query
def _other_trials(output_set: int, case: int, trial: int) -> QuerySet[Output, int]:
    """The id of one, if there is any."""
    others = Output.objects.filter(output_set=output_set, case=case).exclude(trial=trial)
    return others.order_by().values_list("pk", flat=True)[:1]
