"""Drift: a dataset's runs in time, and which of a team's series need a look."""

from __future__ import annotations

import uuid

from django.http import HttpResponse

from evalsite import access
from evalsite.pages.datasets import frame
from evalsite.pages.drift_figure import DriftFigure
from evalsite.pages.drift_standings import standing_rows
from evalsite.pages.forms.drift import DriftForm
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import reading
from scoring.engine.drift.asks import lines_for

MOST_CHARTS = 4


@reading
def dataset_drift(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The lines that are asked for, as charts and as tables; at most MOST_CHARTS of them."""
    dataset = access.dataset_for(request.user, uid)
    lines = lines_for(dataset, request.user)
    form = DriftForm(request.GET, lines)
    chosen = form.chosen(lines)
    context = frame(request, dataset, "drift") | {
        "form": form,
        "has_lines": bool(lines),
        "line_count": len(chosen),
        "figures": [DriftFigure(line, dataset.team.slug) for line in chosen[:MOST_CHARTS]],
        "is_measured": all(line.is_measured for line in chosen[:MOST_CHARTS]),
    }
    return show(request, "drift/dataset.html", context)


@reading
def team_drift(request: SignedInRequest, slug: str) -> HttpResponse:
    """A line for each series of each dataset, the worst first."""
    team = access.team_for(request.user, slug)
    return show(request, "drift/team.html", {"team": team, "standings": standing_rows(team)})
