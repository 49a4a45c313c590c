"""`manage.py drift`: a dataset's runs in time, as the drift page shows them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.core.serializers.json import DjangoJSONEncoder

from scoring.engine.drift import DriftLine, drift_lines, measure_series, report
from scoring.management.console import find_team, requires_database, usage_error
from scoring.management.database import check_database


class Command(BaseCommand):
    help = "Print a dataset's runs in time: means, flips between neighbours, what changed and when."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET")
        parser.add_argument("--team", metavar="SLUG", help="needed where there are several teams")
        parser.add_argument("--scorer", metavar="NAME", default="", help="all scorers unless given")
        parser.add_argument("--series", metavar="S", default="", help="all series unless given")
        parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
        parser.add_argument("--markdown", type=Path, metavar="FILE")

    def handle(self, **options: Any) -> None:
        with requires_database():
            check_database()
            lines = _lines(options)
            self._write(lines, options)

    def _write(self, lines: list[DriftLine], options: dict[str, Any]) -> None:
        if options["json"]:
            relabels = report.read_relabels(lines)
            described = [report.as_json(line, relabels) for line in lines]
            text = json.dumps(described, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)
            self.stdout.write(text)
        else:
            self.stdout.write("\n".join(report.as_table(line) for line in lines))
        path: Path | None = options["markdown"]
        if path:
            try:
                path.write_text("\n".join(map(report.as_markdown, lines)), encoding="utf-8")
            except OSError as fault:
                raise usage_error(f"{path} cannot be written: {fault.strerror}") from None


def _lines(options: dict[str, Any]) -> list[DriftLine]:
    """The chosen lines, measured; there is at least one."""
    team = find_team(options["team"])
    dataset = team.datasets.filter(name=options["dataset"]).first()
    if dataset is None:
        raise usage_error(f"the team {team.slug} has no dataset {options['dataset']!r}")
    lines = drift_lines(dataset)
    if not lines:
        raise usage_error(f"the dataset {dataset} has no finished run")
    chosen = {name: options[name] for name in ("scorer", "series")}
    for name, value in chosen.items():
        known = sorted({getattr(line, name) for line in lines})
        if value and value not in known:
            raise usage_error(f"{dataset} has no {name} {value!r}; it has: {', '.join(known)}")
    for series in {line.series for line in lines if options["series"] in ("", line.series)}:
        measure_series(dataset, series)
    named = {name: [value] for name, value in chosen.items() if value}
    lines = drift_lines(dataset, scorers=named.get("scorer", ()), series=named.get("series", ()))
    if not lines:
        text = f"the series {chosen['series']!r} was never scored by {chosen['scorer']!r}"
        raise usage_error(text)
    return lines
