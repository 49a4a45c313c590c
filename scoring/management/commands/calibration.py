"""`manage.py calibration`: the scorers of a run against people's reviews, as on its page."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from scoring.engine.calibration.report import calibration_report, calibration_table
from scoring.management.console import find_team, requires_database
from scoring.management.database import check_database
from scoring.management.lookups import get_dataset, get_run


class Command(BaseCommand):
    help = "Print how far the scorers of a run agree with people's reviews of its outputs."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", help="name or id")
        parser.add_argument("--team", metavar="SLUG", help="needed where there are several teams")
        parser.add_argument(
            "--dataset", metavar="NAME", help="needed where several have such a run"
        )
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def handle(self, **options: Any) -> None:
        with requires_database():
            check_database()
            team = find_team(options["team"])
            named = options["dataset"]
            dataset = get_dataset(team, named) if named else None
            report = calibration_report(get_run(team, dataset, options["run"]))
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(calibration_table(report), ending="")
