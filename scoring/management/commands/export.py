"""`manage.py export`: a run's cases with all their scores, or a dataset's cases, as a file."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

from scoring.engine.export import FILE_FORMATS, Sheet, run_sheet, version_sheet
from scoring.engine.handout.run import run_report
from scoring.management import glance
from scoring.management.console import database_needed, misuse, the_team
from scoring.management.named import chosen_cases, named_dataset, named_run, named_version
from scoring.models import DatasetVersion, Verdict
from scoring.models.case_changes import KINDS
from scoring.models.case_filters import NO_FILTERS
from scoring.models.case_table import DATASET_ORDER, CaseTable


@dataclass(frozen=True)
class Chosen:
    """What is exported: cases of a run, or a dataset's version; `is_verbatim` is for CSV."""

    source: CaseTable | DatasetVersion
    is_verbatim: bool = False

    @property
    def sheet(self) -> Sheet:
        source = self.source
        return run_sheet(source) if isinstance(source, CaseTable) else version_sheet(source)


def _file(file_format: str) -> Callable[[Chosen], Iterator[bytes]]:
    return lambda chosen: chosen.sheet.stream(file_format, is_verbatim=chosen.is_verbatim)


def _table(chosen: Chosen) -> Iterator[bytes]:
    yield glance.as_table(chosen.source).encode()


def _markdown(chosen: Chosen) -> Iterator[bytes]:
    yield glance.as_markdown(chosen.source).encode()


def _html(chosen: Chosen) -> Iterator[bytes]:
    """The report of a whole run, which chooses its cases itself."""
    table = chosen.source
    if not isinstance(table, CaseTable):
        raise misuse("--format html: a report is of a run, so name a RUN")
    if table.filters != NO_FILTERS or table.order != DATASET_ORDER:
        text = "a report shows the worst cases of the whole run: leave filters and --sort out"
        raise misuse(f"--format html: {text}")
    yield run_report(table.run, compares=True).encode()


#: What `--format` may name → the file in chunks, each of whole lines.
FORMATS: Final[Mapping[str, Callable[[Chosen], Iterable[bytes]]]] = {
    "table": _table,
    "markdown": _markdown,
    **{name: _file(name) for name in FILE_FORMATS},
    "html": _html,
}


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
        add("--changed", choices=[kind.value for kind in KINDS], help="since --against")
        add("--against", metavar="RUN", default="auto", help="its baseline unless given")
        add("--reviewed", choices=["yes", "no"], help="by anybody")
        add("--sort", metavar="NAME", help="by this scorer's score, unscored cases last")
        add("--descending", action="store_true", help="turn the order round")

    def handle(self, **options: Any) -> None:
        with database_needed():
            chosen = Chosen(_source(options), options["verbatim"])
            if options["markdown"]:
                _write_file(options["markdown"], FORMATS["markdown"](chosen))
            chunks = FORMATS[options["format"]](chosen)
            if options["output"]:
                _write_file(options["output"], chunks)
            else:
                self._print(chunks)

    def _print(self, chunks: Iterable[bytes]) -> None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        try:
            for chunk in chunks:
                self.stdout.write(chunk.decode(), ending="")
            self.stdout.flush()
        except BrokenPipeError:  # what Python still flushes at exit must not complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _source(options: dict[str, Any]) -> CaseTable | DatasetVersion:
    team = the_team(options["team"])
    dataset = named_dataset(team, options["dataset"]) if options["dataset"] else None
    if options["run"] and options["version"] is None:
        return chosen_cases(named_run(team, dataset, options["run"]), options)
    if options["run"]:
        raise misuse("--version is that of a dataset: leave it or RUN out")
    if dataset is None:
        raise misuse("name a RUN, or a dataset with --dataset")
    return named_version(dataset, options["version"])


def _write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Written beside the file and then put in its place, so that nobody finds half of one."""
    whole = path.resolve()
    if whole.exists() and not whole.is_file():
        raise misuse(f"{path} is no file, so it cannot be replaced")
    part = whole.with_name(f".{whole.name[:100]}.{os.getpid()}.part")
    try:
        with part.open("xb") as out:
            out.writelines(chunks)
        part.replace(whole)
    except OSError as fault:
        raise misuse(f"{path} cannot be written: {fault.strerror}") from None
    finally:
        with suppress(OSError):
            part.unlink()
