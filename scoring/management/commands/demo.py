"""`manage.py demo`: load the demo team and score its runs."""

from __future__ import annotations

import sys
from typing import Any, Final

from django.core.management.base import CommandParser
from django.utils import timezone

from scoring.core.embeddings import local as embedding_local
from scoring.engine.demo.load import RUNS, create_demo, score_demo_runs
from scoring.management.console import OperatorCommand, requires_database
from scoring.management.database import check_database
from scoring.models import Team, User

WITHOUT_EMBEDDINGS: Final = (
    "Local embeddings are not installed, so no short question is scored by its meaning; "
    "requirements-embeddings.txt brings them"
)


class Command(OperatorCommand):
    help = "Load a demo team: three datasets with twelve weekly runs each, and regressions."

    def add_arguments(self, parser: CommandParser) -> None:
        text = "leave the runs that embed texts to the worker, as start does"
        parser.add_argument("--queue-embeddings", action="store_true", help=text)

    def handle(self, *_: Any, **options: Any) -> None:
        from tqdm import tqdm

        administrators = User.objects.filter(is_superuser=True, is_active=True)
        no_bar = not sys.stderr.isatty()
        with requires_database(), tqdm(total=RUNS, unit=" runs", disable=no_bar) as bar:
            check_database()
            team = create_demo(timezone.now(), admins=administrators, on_run=bar.update)
            if not options["queue_embeddings"]:
                score_demo_runs(team, bar.update)
        self.stdout.write(_summary(team))
        if not embedding_local.is_installed():
            self.stdout.write(WITHOUT_EMBEDDINGS)


def _summary(team: Team) -> str:
    latest = team.datasets.select_related("latest")
    cases = sum(dataset.latest.case_count for dataset in latest if dataset.latest)
    waiting = team.runs.unfinished().count()
    return (
        f"The demo team has {team.datasets.count()} datasets with {cases} cases "
        f"and {team.runs.count() - waiting} scored runs"
        + (f"; the worker scores {waiting} more" if waiting else "")
    )
