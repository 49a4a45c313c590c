"""`manage.py import`: a file's rows as a new version of a dataset."""
# ruff: noqa: N999  the file is called as the command is

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from scoring.core.files import FileProblem, displaced, map_options
from scoring.engine import loading
from scoring.engine.loading import Loaded, Reading, RefusedError
from scoring.engine.loading.reading import Options
from scoring.management.console import (
    checked_name,
    counted,
    database_needed,
    table,
    the_team_or_a_first,
)
from scoring.models import Team

_DELIMITERS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


class Command(BaseCommand):
    help = (
        "Import a CSV, TSV, JSON or JSONL file as a new version of a dataset, whole or not at all."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--dataset", metavar="NAME", required=True)
        parser.add_argument("--team", metavar="SLUG", help="needed where there are several")
        parser.add_argument(
            "--map",
            metavar="FIELD=COLUMN",
            action="append",
            default=[],
            help="what a column holds; may come several times, an empty column unmaps the field",
        )
        parser.add_argument("--encoding", default="", help="such as cp1252, where it is not UTF-8")
        parser.add_argument("--delimiter", default="", help="a sign, or tab")

    def handle(self, **options: Any) -> None:
        name = checked_name("--dataset", options["dataset"])
        if not name:
            raise CommandError("--dataset needs a name.", returncode=2)
        with database_needed():
            team, is_new = the_team_or_a_first(options["team"])
        if is_new:
            self.stdout.write(f"made the team {team.slug}, as there was none")
        try:
            loaded = self._load(team, options["file"], name, options)
        except RefusedError as refused:
            self._tell_problems(refused)
            text = f"{options['file']}: nothing was imported."
            raise CommandError(text, returncode=2) from None
        except FileProblem as fault:
            raise CommandError(f"{fault.code}: {fault.text}", returncode=2) from None
        except OSError as fault:
            text = f"{options['file']} cannot be read: {fault.strerror}."
            raise CommandError(text, returncode=2) from None
        except KeyboardInterrupt:
            raise CommandError("stopped; nothing was imported", returncode=130) from None
        self._tell(loaded)

    def _load(self, team: Team, path: Path, name: str, options: dict[str, Any]) -> Loaded:
        delimiter = options["delimiter"]
        read_as: Options = {
            "encoding": options["encoding"],
            "delimiter": _DELIMITERS.get(delimiter, delimiter),
        }
        loading.sweep()
        choices = map_options(options["map"])
        try:
            return loading.load_file(
                team,
                path,
                name,
                choices,
                options=read_as,
                on_reading=lambda reading: self._tell_reading(reading, choices),
                on_progress=self._tell_progress,
            )
        finally:
            self._end_progress()

    def _tell_reading(self, reading: Reading, choices: dict[str, Sequence[str]]) -> None:
        found = reading.detected
        how = (
            f", divided by {found.delimiter!r}, quoted by {found.quote}" if found.delimiter else ""
        )
        self.stdout.write(f"Detected: {found.format}, {found.encoding}{how}")
        for field, columns in reading.columns.choices().items():
            is_late = columns == ["error"] and "error" not in found.columns
            note = " (none seen so far)" if is_late else ""
            self.stdout.write(f"  {field:<20} = {', '.join(map(_shown, columns))}{note}")
        for field, column, chosen in displaced(found.columns, choices, reading.columns):
            self.stdout.write(f"  {field:<20} = nothing, as {_shown(column)} is mapped to {chosen}")

    def _tell_progress(self, row_count: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{row_count:,} rows", ending="")

    def _end_progress(self) -> None:
        if sys.stderr.isatty():
            self.stderr.write("\r\033[K", ending="")

    def _tell(self, loaded: Loaded) -> None:
        version, report = loaded.version, loaded.report
        if loaded.is_new:
            kind = "new dataset" if version.number == 1 else "new version of the dataset"
            self.stdout.write(f"{version}: {kind}, {counted(version.case_count, 'case')}")
        else:
            self.stdout.write(f"Identical to version {version.number} of {version.dataset}.")
        if report.duplicate_inputs:
            self.stdout.write(f"  {counted(report.duplicate_inputs, 'repeated input')}")
        for output_set in loaded.output_sets:
            count = counted(output_set.output_count, "output")
            self.stdout.write(f"  output set {output_set}: {count}")

    def _tell_problems(self, refused: RefusedError) -> None:
        report = refused.report
        for row in table(
            ("line", "column", "code", "message"),
            [(p.line or "", p.column, p.code, p.message) for p in report.problems],
        ):
            self.stderr.write(row)
        unlisted = report.problem_count - len(report.problems)
        if unlisted:
            self.stderr.write(f"… and {unlisted:,} more")


def _shown(column: str) -> str:
    return column if column.isprintable() else repr(column)
