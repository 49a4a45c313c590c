"""`manage.py compare`: what changed from one run to others, as the compare page shows it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand

from scoring.engine import compare_report
from scoring.engine.compare import NotComparableError, compared
from scoring.engine.compare_report import Told
from scoring.engine.figures import Figures
from scoring.engine.handout.comparison import comparison_report
from scoring.management.console import check_writable, database_needed, misuse, the_team
from scoring.management.named import named_dataset, named_run

MOST: Final = 10  # candidates


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
        add("--html", type=Path, metavar="FILE", help="a report in one file, to hand out")

    def handle(self, **options: Any) -> None:
        if len(options["candidates"]) > MOST:
            raise misuse(f"{len(options['candidates'])} candidates are too many: name up to {MOST}")
        for name in ("markdown", "html"):
            if options[name]:
                check_writable(options[name])
        with database_needed():
            found = _told(options)
            self._write(found, options)

    def _write(self, found: list[Told], options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(found), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(compare_report.tables(found))
        if options["markdown"]:
            options["markdown"].write_text(compare_report.markdowns(found), encoding="utf-8")
        if options["html"]:
            told = [(each.candidate, each.figures) for each in found]
            text = comparison_report(found[0].baseline, told)
            options["html"].write_text(text, encoding="utf-8")


def _told(options: dict[str, Any]) -> list[Told]:
    team = the_team(options["team"])
    name = options["dataset"]
    dataset = None if name is None else named_dataset(team, name)
    baseline = named_run(team, dataset, options["baseline"])
    dataset = dataset or baseline.output_set.version.dataset
    named = [named_run(team, dataset, each) for each in options["candidates"]]
    if baseline in named:
        raise misuse(f"{baseline.name} is the baseline: name another run to compare with it")
    candidates = dict.fromkeys(named)  # each one once
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
