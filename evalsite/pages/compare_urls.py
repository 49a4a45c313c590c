"""The addresses of comparisons and of their cases side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from scoring.models import Run, Team
from scoring.models.case_table import Place

RANGES: Final = ("was", "now", "change")  # of the scores of one scorer
KEPT: Final = ("kind", "scorer", "tag", "q", *RANGES)  # what names a list within two runs


def compare_url(team: Team, baseline: Run, candidates: Sequence[Run], name: str = "compare") -> str:
    """The page that `name` names, with these runs."""
    runs = [("baseline", baseline.uuid), *(("candidate", run.uuid) for run in candidates)]
    return f"{reverse(name, args=[team.slug])}?{urlencode(runs)}"


def case_url(run: Run, place: Place, query: str) -> str:
    """A case in a run, with what else its address says."""
    path = reverse("run_case", args=[run.uuid, place.position])
    parts = [query] if query else []
    if place.trial:
        parts.append(f"trial={place.trial}")
    return f"{path}?{'&'.join(parts)}" if parts else path
