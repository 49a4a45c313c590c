"""What of a team's runs needs a look: alerts, series that drift, and runs that broke cases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from evalsite.pages.alert_rows import AlertRow, open_alerts
from evalsite.pages.drift_standings import drift_url
from scoring.engine.drift.overview import Standing, standings
from scoring.engine.drift.regressions import Regression, regressions
from scoring.models import Team

LISTED = 8  # of each kind


class Drifting(NamedTuple):
    standing: Standing
    url: str


class Broken(NamedTuple):
    regression: Regression
    url: str  # of the comparison


@dataclass
class Needs:
    """Read from the database when it is shown."""

    team: Team

    @cached_property
    def alerts(self) -> list[AlertRow]:
        return open_alerts(self.team, LISTED)

    @cached_property
    def drifting(self) -> list[Drifting]:
        found = [standing for standing in self._standings if standing.is_drifting]
        return [Drifting(standing, drift_url(standing)) for standing in found[:LISTED]]

    @cached_property
    def broken(self) -> list[Broken]:
        """Runs whose series drifts are named too: the cases that broke say why."""
        return [Broken(each, self._url(each)) for each in regressions(self._standings)[:LISTED]]

    @cached_property
    def _standings(self) -> list[Standing]:
        return standings(self.team)

    def _url(self, regression: Regression) -> str:
        runs = {"baseline": regression.baseline, "candidate": regression.standing.latest.run}
        return f"{reverse('compare', args=[self.team.slug])}?{urlencode(runs)}"
