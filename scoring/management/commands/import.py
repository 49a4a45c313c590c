"""`manage.py import`: a file's rows as a new version of a dataset."""
# ruff: noqa: N999  the file is called as the command is

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from scoring.core.files import DetectedFormat, FileProblem, displaced_fields, map_options
from scoring.engine import imports
from scoring.engine.imports import (
    ImportObserver,
    ImportReport,
    ImportResult,
    OpenFile,
    RefusedError,
)
from scoring.management.console import (
    OperatorCommand,
    checked_name,
    count_text,
    find_or_create_team,
    requires_database,
    text_table,
    usage_error,
)
from scoring.management.database import set_up_database
from scoring.management.file_options import add_file_options, file_options, shown_column
from scoring.models import Team


class Command(OperatorCommand):
    requires_system_checks = []  # they load every page
    help = (
        "Import a CSV, TSV, JSON, JSONL or XLSX file, also packed (.gz), as a new version of a "
        "dataset, whole or not at all."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("file", metavar="FILE", type=Path)
        add("--dataset", metavar="NAME", required=True)
        add("--team", metavar="SLUG", help="needed where there are several")
        add("--map", metavar="FIELD=COLUMN", action="append", default=[],
            help="what a column holds; may come several times, an empty column unmaps the field",
        )  # fmt: skip
        add_file_options(parser)
        add("--skip-bad-rows", action="store_true", help="leave them out, counted")
        add("--dry-run", action="store_true", help="store nothing, say what is found")

    def handle(self, **options: Any) -> None:
        name = checked_name("--dataset", options["dataset"])
        if not name:
            raise usage_error("--dataset needs a name.")
        with requires_database():
            set_up_database(self.stderr)
            team, is_new = find_or_create_team(options["team"])
        if is_new:
            self.stdout.write(f"made the team {team.slug}, as there was none")
        try:
            if options["dry_run"]:
                self._write_findings(self._inspect(team, options["file"], name, options))
                return
            loaded = self._load(team, options["file"], name, options)
        except RefusedError as fault:
            self._write_problems(fault.report)
            raise usage_error(f"{options['file']}: nothing was imported.") from None
        except FileProblem as fault:
            raise usage_error(f"{fault.code}: {fault.text}") from None
        except OSError as fault:
            raise usage_error(f"{options['file']} cannot be read: {fault.strerror}.") from None
        except KeyboardInterrupt:
            raise CommandError("stopped; nothing was imported", returncode=130) from None
        self._write_loaded(loaded)

    def _load(self, team: Team, path: Path, name: str, options: dict[str, Any]) -> ImportResult:
        imports.remove_abandoned()
        choices = map_options(options["map"])
        try:
            return imports.import_file(
                team,
                path,
                name,
                choices,
                options=file_options(options),
                skips_bad_rows=options["skip_bad_rows"],
                watch=self._watch(choices),
            )
        finally:
            self._end_progress()

    def _inspect(self, team: Team, path: Path, name: str, options: dict[str, Any]) -> ImportReport:
        """The dry run; raises RefusedError when an import would be refused."""
        choices = map_options(options["map"])
        try:
            report = imports.inspect_upload(
                team, path, name, choices, file_options(options), self._watch(choices)
            )
        finally:
            self._end_progress()
        if not report.is_readable or (report.problem_count and not options["skip_bad_rows"]):
            raise RefusedError(report)
        return report

    def _watch(self, choices: dict[str, Sequence[str]]) -> ImportObserver:
        return ImportObserver(
            lambda reading: self._write_reading(reading, choices), self._write_progress
        )

    def _write_reading(self, reading: OpenFile, choices: dict[str, Sequence[str]]) -> None:
        detected = reading.detected
        self.stdout.write(f"Detected: {', '.join(_describe_format(detected))}")
        for field, columns in reading.columns.choices().items():
            is_there = columns[0] in detected.columns or field in choices
            if field != "error" or is_there:  # else only in case a later row has one
                self.stdout.write(f"  {field:<20} = {', '.join(map(shown_column, columns))}")
        for field, column, chosen in displaced_fields(detected.columns, choices, reading.columns):
            self.stdout.write(
                f"  {field:<20} = nothing, as {shown_column(column)} is mapped to {chosen}"
            )

    def _write_progress(self, row_count: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{row_count:,} rows", ending="")

    def _end_progress(self) -> None:
        if sys.stderr.isatty():
            self.stderr.write("\r\033[K", ending="")

    def _write_loaded(self, loaded: ImportResult) -> None:
        version, report = loaded.version, loaded.report
        if loaded.is_new:
            kind = "new dataset" if version.number == 1 else "new version of the dataset"
            self.stdout.write(f"{version}: {kind}, {count_text(version.case_count, 'case')}")
        else:
            self.stdout.write(f"Identical to version {version.number} of {version.dataset}.")
        self._write_counts(report)
        for output_set in loaded.output_sets:
            count = count_text(output_set.output_count, "output")
            self.stdout.write(f"  output set {output_set}: {count}")

    def _write_findings(self, report: ImportReport) -> None:
        count = count_text(report.case_count, "case")
        self.stdout.write(f"{count_text(report.row_count, 'row')}, {count}; nothing was stored.")
        if report.identical_to:
            self.stdout.write(f"Identical to version {report.identical_to}.")
        self._write_counts(report)
        for label, number in report.outputs.items():
            self.stdout.write(f"  {label}: {count_text(number, 'output')}")

    def _write_counts(self, report: ImportReport) -> None:
        for text in report.sentences:
            self.stdout.write(f"  {text}")
        for number, name in (
            (report.duplicate_inputs, "repeated input"),
            (report.near_count, "near duplicate"),
            (report.problem_count, "skipped row"),
        ):
            if number:
                self.stdout.write(f"  {count_text(number, name)}")
        for note in report.notes.listed:
            self.stdout.write(f"  {note.message}")

    def _write_problems(self, report: ImportReport) -> None:
        rows = [(p.line or "", p.column, p.code, p.short_message) for p in report.problems]
        for line in text_table(("line", "column", "code", "message"), rows):
            self.stderr.write(line)
        if unlisted := report.problem_count - len(report.problems):
            self.stderr.write(f"… and {unlisted:,} more")


def _describe_format(detected: DetectedFormat) -> Iterator[str]:
    """How the file is read, in words."""
    yield detected.format
    if detected.encoding:
        yield detected.encoding
    if detected.delimiter:
        yield f"divided by {detected.delimiter!r}, quoted by {detected.quote}"
    if detected.sheet:
        more = len(detected.sheets) - 1
        yield f"sheet {detected.sheet!r}" + (f" ({more:,} more)" if more else "")
    if detected.doubts_header:
        yield "no header, as the first row looks like values (--header if it holds names)"
    elif not detected.has_header:
        yield "no header"
    if detected.skip_lines:
        yield f"the first {count_text(detected.skip_lines, 'line')} skipped"
