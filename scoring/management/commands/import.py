"""`manage.py import`: a file's rows as a new version of a dataset."""
# ruff: noqa: N999  the file is called as the command is

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scoring.core.files import Detected, FileProblem, displaced, map_options
from scoring.engine import loading
from scoring.engine.loading import Loaded, Reading, RefusedError, Report, Watch
from scoring.management.console import (
    checked_name,
    counted,
    database_needed,
    table,
    the_team_or_a_first,
)
from scoring.management.reading import add_reading_options, reading_options
from scoring.models import Team


class Command(BaseCommand):
    help = (
        "Import a CSV, TSV, JSON, JSONL or XLSX file, also packed (.gz), as a new version of a "
        "dataset, whole or not at all."
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
        add_reading_options(parser)
        parser.add_argument("--skip-bad-rows", action="store_true", help="leave them out, counted")
        parser.add_argument(
            "--dry-run", action="store_true", help="store nothing, say what is found"
        )

    def handle(self, **options: Any) -> None:
        name = checked_name("--dataset", options["dataset"])
        if not name:
            raise CommandError("--dataset needs a name.", returncode=2)
        with database_needed():
            team, is_new = the_team_or_a_first(options["team"])
        if is_new:
            self.stdout.write(f"made the team {team.slug}, as there was none")
        try:
            if options["dry_run"]:
                self._tell_findings(self._look(team, options["file"], name, options))
                return
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
        loading.sweep()
        choices = map_options(options["map"])
        try:
            return loading.load_file(
                team,
                path,
                name,
                choices,
                options=reading_options(options),
                skips_bad_rows=options["skip_bad_rows"],
                watch=self._watch(choices),
            )
        finally:
            self._end_progress()

    def _look(self, team: Team, path: Path, name: str, options: dict[str, Any]) -> Report:
        """The dry run; raises RefusedError when an import would be refused."""
        choices = map_options(options["map"])
        try:
            report = loading.look(
                team, path, name, choices, reading_options(options), self._watch(choices)
            )
        finally:
            self._end_progress()
        if not report.is_readable or (report.problem_count and not options["skip_bad_rows"]):
            raise RefusedError(report)
        return report

    def _watch(self, choices: dict[str, Sequence[str]]) -> Watch:
        return Watch(lambda reading: self._tell_reading(reading, choices), self._tell_progress)

    def _tell_reading(self, reading: Reading, choices: dict[str, Sequence[str]]) -> None:
        found = reading.detected
        self.stdout.write(f"Detected: {', '.join(_how(found))}")
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
        self._tell_counts(report)
        for output_set in loaded.output_sets:
            count = counted(output_set.output_count, "output")
            self.stdout.write(f"  output set {output_set}: {count}")

    def _tell_findings(self, report: Report) -> None:
        count = counted(report.case_count, "case")
        self.stdout.write(f"{counted(report.row_count, 'row')}, {count}; nothing was stored.")
        if report.identical_to:
            self.stdout.write(f"Identical to version {report.identical_to}.")
        self._tell_counts(report)
        for label, number in report.outputs.items():
            self.stdout.write(f"  {label}: {counted(number, 'output')}")

    def _tell_counts(self, report: Report) -> None:
        for number, name in (
            (report.duplicate_inputs, "repeated input"),
            (report.near_count, "near duplicate"),
            (report.problem_count, "skipped row"),
        ):
            if number:
                self.stdout.write(f"  {counted(number, name)}")

    def _tell_problems(self, refused: RefusedError) -> None:
        report = refused.report
        for row in table(
            ("line", "column", "code", "message"),
            [(p.line or "", p.column, p.code, p.said) for p in report.problems],
        ):
            self.stderr.write(row)
        unlisted = report.problem_count - len(report.problems)
        if unlisted:
            self.stderr.write(f"… and {unlisted:,} more")


def _how(found: Detected) -> Iterator[str]:
    """How the file is read, in words."""
    yield found.format
    if found.encoding:
        yield found.encoding
    if found.delimiter:
        yield f"divided by {found.delimiter!r}, quoted by {found.quote}"
    if found.sheet:
        more = len(found.sheets) - 1
        yield f"sheet {found.sheet!r}" + (f" ({more:,} more)" if more else "")
    if found.doubts_header:
        yield "no header, as the first row looks like values (--header if it holds names)"
    elif not found.has_header:
        yield "no header"


def _shown(column: str) -> str:
    return column if column.isprintable() else repr(column)
