"""Drift: a dataset's runs in time, and a list of a team's series."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.http import HttpResponse

from evalsite import access
from evalsite.pages.alerts.rows import group_by_line, list_open_alerts
from evalsite.pages.drift.figure import DriftFigure
from evalsite.pages.drift.forms import DriftForm
from evalsite.pages.drift.later_rates import read_later_rates
from evalsite.pages.drift.progress import RETRY, get_drift_progress
from evalsite.pages.drift.series_list import list_series
from evalsite.pages.web.dataset_frame import dataset_frame
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page, retarget_page
from scoring.engine.drift import DriftLine
from scoring.engine.drift.jobs import lines_or_enqueue
from scoring.engine.drift.line import LineWindow
from scoring.engine.drift.line_runs import LineName, line_names
from scoring.engine.drift.series_status import MAX_RUNS_PER_SERIES
from scoring.models import Dataset, Run

MAX_CHARTS = 4
MAX_RUNS = 52  # of a line on one page: a year of weeks, and as many marks as can be told apart
MAX_ROWS = 60  # of all tables; beyond, several lines are shown without tables


@get_page
def dataset_drift(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The chosen lines as charts and tables, at most MAX_CHARTS of them."""
    dataset = access.dataset_for(request.user, uid)
    form = DriftForm(request.GET, line_names(dataset))
    chosen = form.chosen
    lines = _lines(request, dataset, chosen[:MAX_CHARTS], form.until)
    progress = get_drift_progress(request, lines)
    is_polling = request.headers.get("HX-Target") == "measuring"
    if is_polling and progress:
        return render_page(request, "drift/_measuring.html", {"measuring": progress})
    row_count = sum(len(line.points) for line in lines)
    names = [LineName(line.series, line.scorer) for line in lines]
    later_rates = read_later_rates(lines)
    alerts = group_by_line(list_open_alerts(dataset), names)
    context = dataset_frame(request, dataset, "drift") | {
        "form": form,
        "line_count": len(chosen),
        "figures": [
            DriftFigure(line, dataset.team.slug, line_alerts, later_rates)
            for line, line_alerts in zip(lines, alerts, strict=True)
        ],
        "has_tables": len(lines) == 1 or row_count <= MAX_ROWS,
        "measuring": progress,
    }
    page = render_page(request, "drift/dataset.html", context)
    return retarget_page(page) if is_polling else page


@get_page
def team_drift(request: SignedInRequest, slug: str) -> HttpResponse:
    """A line for each series of each dataset, the worst first."""
    team = access.team_for(request.user, slug)
    rows = list_series(team)
    is_cut = any(row.standing.is_cut for row in rows)
    context = {"team": team, "standings": rows, "charted": MAX_RUNS_PER_SERIES if is_cut else None}
    return render_page(request, "drift/team.html", context)


def _lines(
    request: SignedInRequest, dataset: Dataset, names: Sequence[LineName], until: uuid.UUID | None
) -> list[DriftLine]:
    """The named lines in this order, with their newest runs or those up to this one."""
    if not names:
        return []
    last = Run.objects.of_dataset(dataset).filter(uuid=until).first() if until else None
    lines = lines_or_enqueue(
        dataset,
        request.user,
        scorers={name.scorer for name in names},
        series={name.series for name in names},
        part=LineWindow(MAX_RUNS, last.pk if last else None),
        is_again=RETRY in request.GET,
    )
    by_name = {LineName(line.series, line.scorer): line for line in lines}
    return [by_name[name] for name in names if name in by_name]
