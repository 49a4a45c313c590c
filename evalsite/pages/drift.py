"""Drift: a dataset's runs in time, and which of a team's series need a look."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.http import HttpResponse

from evalsite import access
from evalsite.pages.alert_rows import on_lines, open_alerts
from evalsite.pages.datasets import frame
from evalsite.pages.drift_figure import DriftFigure
from evalsite.pages.drift_measuring import AGAIN, measuring
from evalsite.pages.drift_standings import standing_rows
from evalsite.pages.forms.drift import DriftForm
from evalsite.pages.fragments import SignedInRequest, show, show_whole
from evalsite.pages.methods import reading
from scoring.engine.drift import Line
from scoring.engine.drift.asks import lines_for
from scoring.engine.drift.names import LineName, line_names
from scoring.models import Dataset

MOST_CHARTS = 4
MOST_ROWS = 60  # of tables beside several charts; beyond, each line has a page with its own


@reading
def dataset_drift(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The lines that are asked for, as charts and as tables; at most MOST_CHARTS of them."""
    dataset = access.dataset_for(request.user, uid)
    form = DriftForm(request.GET, line_names(dataset))
    chosen = form.chosen
    lines = _lines(request, dataset, chosen[:MOST_CHARTS])
    waiting = measuring(request, lines)
    is_looking = request.headers.get("HX-Target") == "measuring"
    if is_looking and waiting:
        return show(request, "drift/_measuring.html", {"measuring": waiting})
    row_count = sum(len(line.points) for line in lines)
    alerts = on_lines(open_alerts(dataset), [LineName(line.series, line.scorer) for line in lines])
    context = frame(request, dataset, "drift") | {
        "form": form,
        "line_count": len(chosen),
        "figures": [
            DriftFigure(line, dataset.team.slug, found)
            for line, found in zip(lines, alerts, strict=True)
        ],
        "has_tables": len(lines) == 1 or row_count <= MOST_ROWS,
        "measuring": waiting,
    }
    page = show(request, "drift/dataset.html", context)
    return show_whole(page) if is_looking else page


@reading
def team_drift(request: SignedInRequest, slug: str) -> HttpResponse:
    """A line for each series of each dataset, the worst first."""
    team = access.team_for(request.user, slug)
    return show(request, "drift/team.html", {"team": team, "standings": standing_rows(team)})


def _lines(request: SignedInRequest, dataset: Dataset, names: Sequence[LineName]) -> list[Line]:
    """The named lines in this order; no more is read than one series or one scorer needs."""
    if not names:
        return []
    scorers, series = ({name[part] for name in names} for part in (1, 0))
    only = {"scorer": scorers, "series": series}
    narrow = {key: next(iter(found)) for key, found in only.items() if len(found) == 1}
    asked = lines_for(dataset, request.user, is_again=AGAIN in request.GET, **narrow)
    found = {LineName(line.series, line.scorer): line for line in asked}
    return [found[name] for name in names if name in found]
