"""`manage.py drift`: a dataset's runs in time, as the drift page shows them."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from scoring.engine.drift import Line, lines_of, measure, report
from scoring.management.console import database_needed, the_team
from scoring.models import Dataset


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
        with database_needed():
            lines = _lines(options)
            self._write(lines, options)

    def _write(self, lines: list[Line], options: dict[str, Any]) -> None:
        if options["json"]:
            told = [report.as_json(line) for line in lines]
            text = json.dumps(told, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)
            self.stdout.write(text)
        else:
            self.stdout.write("\n".join(report.table(line) for line in lines))
        path: Path | None = options["markdown"]
        if path:
            try:
                path.write_text("\n".join(map(report.markdown, lines)), encoding="utf-8")
            except OSError as fault:
                raise _misuse(f"{path} cannot be written: {fault.strerror}") from None


def _lines(options: dict[str, Any]) -> list[Line]:
    """The lines that are asked for, measured; there is at least one."""
    team = the_team(options["team"])
    dataset = team.datasets.filter(name=options["dataset"]).first()
    if dataset is None:
        raise _misuse(f"the team {team.slug} has no dataset {options['dataset']!r}")
    lines = lines_of(dataset)
    if not lines:
        raise _misuse(f"the dataset {dataset} has no finished run")
    chosen = {name: options[name] for name in ("scorer", "series")}
    for name, value in chosen.items():
        _check(name, value, lines, dataset)
    for series in {line.series for line in lines if options["series"] in ("", line.series)}:
        measure(dataset, series)
    found = lines_of(dataset, **chosen)
    if not found:
        text = f"the series {chosen['series']!r} was never scored by {chosen['scorer']!r}"
        raise _misuse(text)
    return found


def _check(name: str, value: str, lines: list[Line], dataset: Dataset) -> None:
    known = sorted({getattr(line, name) for line in lines})
    if value and value not in known:
        raise _misuse(f"{dataset} has no {name} {value!r}; it has: {', '.join(known)}")


def _misuse(text: str) -> CommandError:
    return CommandError(text, returncode=2)
