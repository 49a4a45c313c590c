"""`manage.py alerts`: what alert rules have found, as the team's page of alerts shows it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand

from scoring.engine.alerts.messages import alert_payload, alert_sentence
from scoring.engine.reports.run_summary import one_line
from scoring.management.console import find_team, requires_database
from scoring.management.database import check_database
from scoring.models import Alert, Team
from scoring.models.alerts.alert import STATES

MAX_RESOLVED: Final = 50  # of those that are over


class Command(BaseCommand):
    help = "Print a team's alerts: those that are not over, or those of one state."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--team", metavar="SLUG", help="needed where there are several teams")
        parser.add_argument("--state", choices=STATES, help="firing and undecided unless given")
        parser.add_argument("--json", action="store_true", help="print JSON instead of lines")

    def handle(self, **options: Any) -> None:
        with requires_database():
            check_database()
            alerts = _alerts(find_team(options["team"]), options["state"])
            if options["json"]:
                described = [alert_payload(alert.rule, alert) for alert in alerts]
                self.stdout.write(json.dumps(described, ensure_ascii=False, indent=2))
            else:
                self.stdout.write("\n".join(map(_line, alerts)) or "There is no such alert.")


def _alerts(team: Team, state: str | None) -> list[Alert]:
    living = Alert.objects.of_living().filter(rule__team=team)
    chosen = living.in_state(state) if state else living.unresolved()
    return list(chosen.for_list().select_related("baseline")[:MAX_RESOLVED])


def _line(alert: Alert) -> str:
    person = alert.acknowledged_by
    by = f" (acknowledged by {person})" if person else ""
    sentence = one_line(alert_sentence(alert))
    return f"{alert.standing:<9}  {alert.opened_at:%Y-%m-%d %H:%M}  {sentence}{by}"
