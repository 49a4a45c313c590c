"""The addresses of comparisons and of their cases side by side, and changed query strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from scoring.models import Run, Team
from scoring.models.case_paging import CasePosition

RANGES: Final = ("was", "now", "change")  # of the scores of one scorer
LIST_PARAMS: Final = (
    "kind",
    "scorer",
    "tag",
    "q",
    "state",
    *RANGES,
)  # what names a list within two runs


def compare_url(team: Team, baseline: Run, candidates: Sequence[Run], name: str = "compare") -> str:
    """The page that `name` names, with these runs."""
    runs = [("baseline", baseline.uuid), *(("candidate", run.uuid) for run in candidates)]
    return f"{reverse(name, args=[team.slug])}?{urlencode(runs)}"


def case_url(run: Run, position: CasePosition, query: str) -> str:
    """A case in a run, with what else its address says."""
    path = reverse("run_case", args=[run.uuid, position.position])
    trial = f"trial={position.trial}" if position.trial else ""
    return f"{path}?{'&'.join(filter(None, (query, trial)))}".rstrip("?")


def change_query(query: QueryDict, /, *dropped: str, **changes: str | None) -> str:
    """The query string, from its "?" on, with parameters dropped, and set unless None or empty."""
    replaced = {*dropped, *changes}
    kept = [(name, values) for name, values in query.lists() if name not in replaced]
    new = [(name, value) for name, value in changes.items() if value]
    return f"?{urlencode([*kept, *new], doseq=True)}"
