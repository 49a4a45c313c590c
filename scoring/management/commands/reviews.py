"""`manage.py reviews`: reviews of a run's outputs, from a file and into one."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from scoring.engine.export import FILE_FORMATS
from scoring.engine.review.review_export import review_sheet
from scoring.engine.review.review_import import (
    NamedReview,
    ReviewReport,
    ReviewsRefusedError,
    import_review_file,
)
from scoring.management.console import (
    OperatorCommand,
    checked_name,
    count_text,
    find_team,
    requires_database,
    text_table,
    usage_error,
)
from scoring.management.database import check_database
from scoring.management.files import print_file, write_file
from scoring.management.lookups import get_dataset, get_run
from scoring.models import Review, Run
from scoring.models.reviews.review import MAX_REVIEWER


class Command(OperatorCommand):
    help = "Import people's reviews of a run's outputs from a file, or export them."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="import|export")
        reading = actions.add_parser("import", help="a file's reviews, all of them or none")
        reading.add_argument("file", metavar="FILE", type=Path)
        reading.add_argument("--run", metavar="RUN", required=True, help="a run's name or id")
        writing = actions.add_parser("export", help="the reviews of a run's outputs")
        writing.add_argument("run", metavar="RUN", help="a run's name or id")
        for action in (reading, writing):
            action.add_argument("--dataset", metavar="NAME", help="whose run is meant")
            action.add_argument("--team", metavar="SLUG", help="needed where there are several")
        add = reading.add_argument
        add("--reviewer", metavar="NAME", default="", help="of rows that name nobody")
        add("--dry-run", action="store_true", help="store nothing, say what is found")
        add("--json", action="store_true", help="print JSON")
        add = writing.add_argument
        add("--format", choices=list(FILE_FORMATS), default="jsonl")
        add("--output", type=Path, metavar="FILE", help="instead of printing; whole or not at all")
        add("--verbatim", action="store_true", help="leave formulas in CSV as they are")

    def handle(self, **options: Any) -> None:
        with requires_database():
            check_database()
            run = _named_run(options)
            if options["action"] == "import":
                self._import(run, options)
            else:
                self._export(run, options)

    def _import(self, run: Run, options: dict[str, Any]) -> None:
        path: Path = options["file"]
        reviewer = checked_name("--reviewer", options["reviewer"], MAX_REVIEWER)
        try:
            with path.open("rb") as stream:
                report = import_review_file(
                    run,
                    stream,
                    path.name,
                    by=None,
                    reviewer=reviewer,
                    is_dry_run=options["dry_run"],
                )
        except ReviewsRefusedError as fault:
            self._write_problems(fault.report)
            raise usage_error(f"{path}: nothing was imported.") from None
        except OSError as fault:
            raise usage_error(f"{path} cannot be read: {fault.strerror}.") from None
        except KeyboardInterrupt:
            raise CommandError("stopped; nothing was imported", returncode=130) from None
        lines = [_json(report)] if options["json"] else _lines(report, options["dry_run"])
        self.stdout.write("\n".join(lines))

    def _export(self, run: Run, options: dict[str, Any]) -> None:
        sheet = review_sheet(run, Review.objects.of_run(run))
        chunks = sheet.stream(options["format"], is_verbatim=options["verbatim"])
        if options["output"]:
            write_file(options["output"], chunks)
        else:
            print_file(self.stdout, chunks)

    def _write_problems(self, report: ReviewReport) -> None:
        rows = [(p.line or "", p.column, p.code, p.short_message) for p in report.problems]
        for line in text_table(("line", "column", "code", "message"), rows):
            self.stderr.write(line)
        if unlisted := report.problem_count - len(report.problems):
            self.stderr.write(f"… and {unlisted:,} more")


def _named_run(options: dict[str, Any]) -> Run:
    team = find_team(options["team"])
    dataset = get_dataset(team, options["dataset"]) if options["dataset"] else None
    return get_run(team, dataset, options["run"])


def _lines(report: ReviewReport, is_dry_run: bool) -> list[str]:
    counts = f"{report.created:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged"
    end = "; nothing was stored." if is_dry_run else "."
    lines = [f"{count_text(report.row_count, 'review')}: {counts}{end}"]
    for count, named, text in (
        (report.kept_count, report.kept, "kept, as a member gave another one here"),
        (report.unmatched_count, report.unmatched, "unmatched: the run has no such output"),
    ):
        if count:
            rows = [(each.line, each.key, each.trial, each.reviewer) for each in named]
            lines += ["", f"{count_text(count, 'review')} {text}"]
            lines += text_table(("line", "key", "trial", "reviewer"), rows)
        if count > len(named):
            lines.append(f"… and {count - len(named):,} more")
    return lines + [note.message for note in report.notes.listed]


def _json(report: ReviewReport) -> str:
    def listed(reviews: list[NamedReview]) -> list[dict[str, Any]]:
        return [review._asdict() for review in reviews]

    described = {
        **report.counts,
        "kept_reviews": listed(report.kept),
        "unmatched_reviews": listed(report.unmatched),
    }
    return json.dumps(described, ensure_ascii=False, indent=2)
