"""`manage.py demo`: load the demo team and score its runs."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from scoring.engine.demo.load import RUNS, load
from scoring.management.console import database_needed
from scoring.models import User


class Command(BaseCommand):
    help = "Load a demo team: three datasets, twelve weekly runs each, a regression and its repair."

    def handle(self, *_: Any, **__: Any) -> None:
        from tqdm import tqdm

        administrators = User.objects.filter(is_superuser=True, is_active=True)
        no_bar = not sys.stderr.isatty()
        with database_needed(), tqdm(total=RUNS, unit=" runs", disable=no_bar) as bar:
            team = load(timezone.now(), admins=administrators, on_run=bar.update)
        cases = sum(d.latest.case_count for d in team.datasets.select_related("latest") if d.latest)
        self.stdout.write(
            f"The demo team has {team.datasets.count()} datasets with {cases} cases "
            f"and {team.runs.count()} scored runs"
        )
