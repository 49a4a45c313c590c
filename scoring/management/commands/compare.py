"""`manage.py compare`: what changed from one run to others, as the compare page shows it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from scoring.engine import compare_report
from scoring.engine.compare import NotComparableError, compared
from scoring.engine.compare_report import Told
from scoring.engine.figures import Figures
from scoring.management.console import checked_name, database_needed, the_team
from scoring.models import Dataset, Run, Team

MOST: Final = 10  # candidates
LISTED: Final = 5  # runs of one name that an error tells apart


def misuse(text: str) -> CommandError:
    """The error that ends the command with 2."""
    return CommandError(text, returncode=2)


class Command(BaseCommand):
    help = "Compare runs of one dataset with a baseline: what broke, and whether it is chance."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("baseline", metavar="BASELINE", help="a run's name or id")
        add("candidates", metavar="CANDIDATE", nargs="+", help=f"the same; at most {MOST}")
        add("--team", metavar="SLUG", help="needed where there are several teams")
        add("--dataset", metavar="NAME", help="whose runs, where several datasets have such names")
        add("--json", action="store_true", help="print JSON instead of tables")
        add("--markdown", type=Path, metavar="FILE")

    def handle(self, **options: Any) -> None:
        if len(options["candidates"]) > MOST:
            raise misuse(f"{len(options['candidates'])} candidates are too many: name up to {MOST}")
        _check_writable(options["markdown"])
        with database_needed():
            found = _told(options)
            self._write(found, options)

    def _write(self, found: list[Told], options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(found), ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(map(compare_report.table, found)))
        if options["markdown"]:
            text = "\n".join(map(compare_report.markdown, found))
            options["markdown"].write_text(text, encoding="utf-8")


def _told(options: dict[str, Any]) -> list[Told]:
    team = the_team(options["team"])
    dataset = _dataset(team, options["dataset"])
    baseline = _run(team, dataset, options["baseline"])
    dataset = dataset or baseline.output_set.version.dataset
    candidates = [_run(team, dataset, name) for name in options["candidates"]]
    try:
        return [
            Told(baseline, each, Figures.read(compared(baseline, each).figures))
            for each in candidates
        ]
    except NotComparableError as fault:
        raise misuse(fault.text) from None


def _as_json(found: list[Told]) -> dict[str, Any]:
    return {
        "baseline": compare_report.named(found[0].baseline),
        "comparisons": [
            {
                "candidate": compare_report.named(each.candidate),
                **compare_report.as_json(each.figures),
            }
            for each in found
        ],
    }


def _dataset(team: Team, name: str | None) -> Dataset | None:
    if name is None:
        return None
    found = team.datasets.filter(name=checked_name("--dataset", name)).first()
    if found is None:
        raise misuse(f"the team {team.slug} has no dataset {name!r}")
    return found


def _run(team: Team, dataset: Dataset | None, name: str) -> Run:
    """The run of this id, else the newest of this name that has ended."""
    known = Run.objects.filter(team=team).select_related("output_set__version__dataset")
    if uid := _uuid(name):
        run = known.filter(uuid=uid).first()
        if run is None:
            raise misuse(f"the team {team.slug} has no run {name}")
        return run
    runs = known.ended().filter(name=checked_name("RUN", name)).order_by("-pk")
    found = list(runs.of_dataset(dataset) if dataset else runs)
    if not found:
        where = f"dataset {dataset}" if dataset else f"team {team.slug}"
        raise misuse(f"the {where} has no run {name!r} that has ended")
    datasets = {run.output_set.version.dataset.name: run for run in reversed(found)}
    if len(datasets) > 1:
        listed = ", ".join(sorted(datasets)[:LISTED])
        raise misuse(f"several datasets have a run {name!r}: name one with --dataset: {listed}")
    return found[0]


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _check_writable(path: Path | None) -> None:
    """Refuse a file that could not be written, before there is anything to write."""
    if path is None:
        return
    try:
        path.open("a").close()
    except OSError as fault:
        raise misuse(f"{path} cannot be written: {fault.strerror}") from None
