"""What needs attention in a team: failed runs, alerts, drifting series, runs that broke cases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from django.urls import reverse

from evalsite.pages.alerts.rows import AlertRow, list_open_alerts
from evalsite.pages.drift.series_list import drift_url
from scoring.engine.drift.broken_cases import Regression, latest_regressions
from scoring.engine.drift.series_status import SeriesStatus, series_statuses
from scoring.engine.runs.run_errors import RunErrors, find_failed_runs
from scoring.engine.signoff.evidence import count_unsigned
from scoring.models import Team

MAX_LISTED = 8  # of each kind


class DriftingSeries(NamedTuple):
    standing: SeriesStatus
    url: str


class BrokenRun(NamedTuple):
    """A run with broken cases, of which so many are not signed off."""

    regression: Regression
    unsigned: int
    url: str  # of the comparison


@dataclass
class AttentionList:
    """Queried when a template shows it."""

    team: Team

    @cached_property
    def failed(self) -> list[RunErrors]:
        """Runs of which every case has an error: what they would have said is not known."""
        return find_failed_runs(self.team, MAX_LISTED)

    @cached_property
    def alerts(self) -> list[AlertRow]:
        return list_open_alerts(self.team, MAX_LISTED)

    @cached_property
    def drifting(self) -> list[DriftingSeries]:
        drifting = [standing for standing in self._standings if standing.is_drifting]
        return [DriftingSeries(standing, drift_url(standing)) for standing in drifting[:MAX_LISTED]]

    @cached_property
    def broken(self) -> list[BrokenRun]:
        """Runs with broken cases that are not signed off, those of drifting series too: the cases
        show the reason.
        """
        path = reverse("compare", args=[self.team.slug])
        found = latest_regressions(self._standings)
        unsigned_runs = (
            BrokenRun(broken, unsigned, f"{path}?baseline={broken.baseline}&candidate={broken.run}")
            for broken, unsigned in zip(found, count_unsigned(found), strict=True)
            if unsigned
        )
        return list(islice(unsigned_runs, MAX_LISTED))

    @cached_property
    def _standings(self) -> list[SeriesStatus]:
        return series_statuses(self.team)
