"""`manage.py export`: a run's cases with all their scores, or a dataset's cases, as a file."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

from scoring.engine.export import FILE_FORMATS, run_table, version_table
from scoring.engine.reports.run_report import run_report
from scoring.management import export_summary
from scoring.management.console import find_team, requires_database, usage_error
from scoring.management.database import check_database
from scoring.management.files import print_file, write_file
from scoring.management.lookups import get_dataset, get_run, get_version, select_cases
from scoring.models import DatasetVersion, Verdict
from scoring.models.case_list.change_filter import CHANGE_KINDS
from scoring.models.case_list.filters import NO_FILTERS
from scoring.models.case_list.table import DATASET_ORDER, CaseTable

#: What is exported: the cases of a run, or a dataset's version.
Source = CaseTable | DatasetVersion


def _html(source: Source) -> str:
    """The report of a whole run, which chooses its cases itself."""
    if not isinstance(source, CaseTable):
        raise usage_error("--format html: a report is of a run, so name a RUN")
    if source.filters != NO_FILTERS or source.order != DATASET_ORDER:
        text = "a report shows the worst cases of the whole run: leave filters and --sort out"
        raise usage_error(f"--format html: {text}")
    return run_report(source.run, compares=True)


#: The formats that are one text; the others are streamed.
TEXTS: Final[Mapping[str, Callable[[Source], str]]] = {
    "table": export_summary.as_table,
    "markdown": export_summary.as_markdown,
    "html": _html,
}
FORMATS: Final = ("table", "markdown", *FILE_FORMATS, "html")


def _chunks(source: Source, file_format: str, *, is_verbatim: bool) -> Iterable[bytes]:
    """The file in chunks, each of whole lines."""
    if file_format in TEXTS:
        return [TEXTS[file_format](source).encode()]
    sheet = run_table(source) if isinstance(source, CaseTable) else version_table(source)
    return sheet.stream(file_format, is_verbatim=is_verbatim)


class Command(BaseCommand):
    help = (
        "Export the cases of a run with what every scorer said, or the cases of a dataset. CSV "
        "marks cells that a spreadsheet would run as formulas, and cannot tell null from an empty "
        "text; JSON and JSONL keep everything."
    )
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """With `--version` free for the dataset's: Django's own is that of `manage.py`."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("run", metavar="RUN", nargs="?", help="a run's name or id")
        add("--dataset", metavar="NAME", help="its cases; beside RUN, whose run is meant")
        add("--version", metavar="N", type=int, help="of the dataset; the latest unless given")
        add("--team", metavar="SLUG", help="needed where there are several teams")
        add("--format", choices=list(FORMATS), default="table")
        add("--json", action="store_const", const="json", dest="format", help="--format json")
        add("--markdown", type=Path, metavar="FILE", help="write the table to FILE, too")
        add("--output", type=Path, metavar="FILE", help="instead of printing; whole or not at all")
        add("--verbatim", action="store_true", help="leave formulas in CSV as they are")
        self._add_filters(parser)

    def _add_filters(self, parser: ArgumentParser) -> None:
        add = parser.add_argument_group("cases of a run").add_argument
        add("--verdict", choices=[verdict.label for verdict in Verdict])
        add("--scorer", metavar="NAME", help="whose verdict and score are meant")
        add("--min", type=float, metavar="X", help="the lowest score")
        add("--max", type=float, metavar="X", help="the highest score")
        add("--code", default="", help="of an error")
        add("--tag", default="")
        add("--search", metavar="TEXT", default="", help="in output, key, input or expected")
        add("--unsteady", action="store_true", help="some trials pass and others fail")
        add("--changed", choices=[kind.value for kind in CHANGE_KINDS], help="since --against")
        add("--against", metavar="RUN", default="auto", help="its baseline unless given")
        add("--reviewed", choices=["yes", "no"], help="by anybody")
        add("--sort", metavar="NAME", help="by this scorer's score, unscored cases last")
        add("--descending", action="store_true", help="turn the order round")

    def handle(self, **options: Any) -> None:
        with requires_database():
            check_database()
            source = _source(options)
            if options["markdown"]:
                write_file(options["markdown"], _chunks(source, "markdown", is_verbatim=False))
            chunks = _chunks(source, options["format"], is_verbatim=options["verbatim"])
            if options["output"]:
                write_file(options["output"], chunks)
            else:
                print_file(self.stdout, chunks)


def _source(options: dict[str, Any]) -> Source:
    team = find_team(options["team"])
    dataset = get_dataset(team, options["dataset"]) if options["dataset"] else None
    if options["run"] and options["version"] is None:
        return select_cases(get_run(team, dataset, options["run"]), options)
    if options["run"]:
        raise usage_error("--version is that of a dataset: leave it or RUN out")
    if dataset is None:
        raise usage_error("name a RUN, or a dataset with --dataset")
    return get_version(dataset, options["version"])
