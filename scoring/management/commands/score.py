"""`manage.py score`: cases in, one JSON line per case out, without a database."""

from __future__ import annotations

import os
import select
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from django.core.management.base import BaseCommand

from scoring.core import json_text
from scoring.core.configured import ConfiguredScorer, configure_scorer, read_threshold
from scoring.core.contract import CaseProblem, ConfigError, Json
from scoring.core.files import FileProblem, Notes, RowProblem, Source, detect_format, read_rows
from scoring.core.local_services import configure_local_services
from scoring.engine.tryout.score_file import (
    FormatResults,
    InputLine,
    LineReader,
    as_json_lines,
    as_table,
    score_lines,
)
from scoring.management.console import usage_error
from scoring.management.file_options import add_file_options, file_options
from scoring.models.scorers.connection import environment_endpoint

if TYPE_CHECKING:
    from scoring.engine.imports.reader import FileOptions

BATCH: Final = 1_000
_FORMS: Final[dict[str, FormatResults]] = {"jsonl": as_json_lines, "table": as_table}


class Command(BaseCommand):
    help = "Score the cases of a file or of standard input; one result a line, in order."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="CSV, TSV, JSON, JSONL, XLSX; - is stdin")
        parser.add_argument("--scorer", metavar="TYPE", help="a line's own scorer wins over it")
        parser.add_argument("--config", metavar="JSON", default="{}")
        parser.add_argument("--threshold", metavar="X", type=float)
        parser.add_argument("--format", choices=sorted(_FORMS), default="jsonl")
        add_file_options(parser)

    def handle(self, **options: Any) -> None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")
        configure_local_services(environment_endpoint())
        scorer = _scorer(options["scorer"], options["config"], options["threshold"])
        try:
            with _open_source(options["file"]) as (source, stream):
                output = ResultWriter(self.stdout, scorer, _FORMS[options["format"]])
                stream.before_wait = output.flush
                notes, told = Notes(), list[str]()
                reading = file_options(options)
                output.take_all(_lines(source, notes, reading, told, has_scorer=scorer is not None))
                warned = scorer.warnings if scorer else []
                for text in (*warned, *told, *(note.message for note in notes.listed)):
                    self.stderr.write(text)
        except BrokenPipeError:
            # What Python still flushes at exit must not complain that the reader is gone.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except FileProblem as fault:
            raise usage_error(fault.text) from None
        except OSError as fault:
            raise usage_error(f"{options['file']} cannot be read: {fault.strerror}.") from None


class ResultWriter:
    """Scores lines in batches and writes the results in their order."""

    def __init__(self, out: Any, scorer: ConfiguredScorer | None, form: FormatResults) -> None:
        self._out, self._scorer, self._form = out, scorer, form
        self._pending: list[InputLine] = []
        self._is_first = True

    def take_all(self, lines: Iterator[InputLine]) -> None:
        """If the lines end in an error, the results of those before it are still written."""
        try:
            for line in lines:
                self._pending.append(line)
                if len(self._pending) == BATCH:
                    self.flush()
        finally:
            self.flush()

    def flush(self) -> None:
        lines, self._pending = self._pending, []
        if lines:
            results = score_lines(lines, self._scorer)
            self._out.write(self._form(lines, results, self._is_first))
            self._out.flush()
            self._is_first = False


class LiveStream:
    """A stream whose reads call `before_wait` when they may have to wait for input."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.before_wait: Callable[[], None] = lambda: None

    def seekable(self) -> bool:
        return self._stream.seekable()

    def rewind(self) -> None:
        """Back to the start; there is no `seek`, for readers may not move elsewhere."""
        self._stream.seek(0)

    def read1(self, size: int = -1) -> bytes:
        if not self._is_ready():
            self.before_wait()
        read: Callable[[int], bytes] = getattr(self._stream, "read1", self._stream.read)
        return read(size)

    read = read1

    def _is_ready(self) -> bool:
        try:
            return bool(select.select([self._stream], [], [], 0)[0])
        except (OSError, ValueError):  # not a stream that select can wait for
            return True


@contextmanager
def _open_source(name: str) -> Iterator[tuple[Source, LiveStream]]:
    path = Path(name)
    with nullcontext(sys.stdin.buffer) if name == "-" else path.open("rb") as file:
        stream = LiveStream(file)
        yield Source(cast("BinaryIO", stream), "" if name == "-" else path.name), stream


def _lines(
    source: Source, notes: Notes, options: FileOptions, told: list[str], *, has_scorer: bool
) -> Iterator[InputLine]:
    """The lines; at their end `told` has what to say of how they were read."""
    detected = detect_format(source, **options)
    if problem := detected.problem:
        raise FileProblem(problem.code, problem.message, line=problem.line)
    reader = LineReader(detected)
    for row in read_rows(source, detected, notes):
        if isinstance(row, RowProblem):
            raise FileProblem(row.code, row.message, line=row.line)
        line = reader.line(row)
        if not has_scorer and line.scorer is None:
            text = f"Line {row.line:,} names no scorer. Give one with --scorer TYPE."
            raise FileProblem("missing_scorer", text, line=row.line)
        yield line
    told += reader.sentences


def _scorer(type_name: str | None, config: str, threshold: float | None) -> ConfiguredScorer | None:
    """The scorer of the options; None when every line has to name its own."""
    try:
        settings = _config(config)
        if threshold is not None:
            read_threshold(threshold)
        return configure_scorer(type_name, settings, threshold) if type_name else None
    except ConfigError as fault:
        raise usage_error(str(fault)) from None


def _config(text: str) -> dict[str, Json]:
    try:
        config = json_text.parse(text)
    except CaseProblem as fault:
        raise ConfigError({"config": [fault.text]}) from None
    if not isinstance(config, dict):
        raise ConfigError({"config": ["must be a JSON object, like '{\"trim\": true}'"]})
    return config
