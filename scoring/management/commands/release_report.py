"""`manage.py release_report`: the release report of a run, which `verify_report` verifies."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from scoring.engine.compare.comparison import NotComparableError
from scoring.engine.reports.release_report import build_release_report, report_file
from scoring.engine.runs.neighbours import run_baseline
from scoring.management.console import find_team, requires_database, usage_error
from scoring.management.database import check_database
from scoring.management.files import print_file, write_file
from scoring.management.lookups import get_dataset, get_run
from scoring.models import Review, Run, RunState


class Command(BaseCommand):
    help = "Write the release report of a run: what changed since its baseline, and who accepts it."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("run", metavar="RUN", help="a finished run's name or id")
        add("--baseline", metavar="RUN|auto", default="auto",
            help="auto, unless given: the pinned run, else the series' previous")  # fmt: skip
        add("--dataset", metavar="NAME", help="whose run, where several datasets have one so named")
        add("--team", metavar="SLUG", help="needed where there are several teams")
        add("--format", choices=["html", "json"], default="html")
        add("--output", type=Path, metavar="FILE", help="instead of printing; whole or not at all")

    def handle(self, **options: Any) -> None:
        with requires_database():
            check_database()
            run, baseline = _runs(options)
            try:
                report = build_release_report(run, baseline, Review.objects.of_run(run))
            except NotComparableError as fault:
                raise usage_error(fault.text) from None
            content = report_file(run, report, options["format"]).content
            if options["output"]:
                write_file(options["output"], [content])
            else:
                print_file(self.stdout, [content])


def _runs(options: dict[str, Any]) -> tuple[Run, Run]:
    """The run and its baseline. Raises an error of usage where there is no report of it."""
    team = find_team(options["team"])
    dataset = get_dataset(team, options["dataset"]) if options["dataset"] else None
    run = get_run(team, dataset, options["run"])
    if run.state != RunState.FINISHED:
        raise usage_error(f"the run {run} is {run.state}: a release report needs a finished run")
    name = options["baseline"]
    if name == "auto":
        baseline = run_baseline(run)
    else:
        baseline = get_run(team, run.output_set.version.dataset, name)
    if baseline is None:
        raise usage_error(f"the run {run} has no baseline: name one with --baseline")
    if baseline == run:
        raise usage_error(f"--baseline: {name!r} is the run itself, name another one")
    return run, baseline
