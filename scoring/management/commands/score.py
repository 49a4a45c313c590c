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
from typing import Any, BinaryIO, Final, cast

from django.core.management.base import BaseCommand, CommandError

from scoring.core import json_text
from scoring.core.bound import BoundScorer, bind, read_threshold
from scoring.core.contract import CaseProblem, ConfigError, Json
from scoring.core.files import FileProblem, RowProblem, Source, detect, read_rows
from scoring.core.standalone import configure
from scoring.engine.lines import Line, LineReader, Report, as_json, as_table, score_lines
from scoring.models.connection import environment_endpoint

BATCH: Final = 1_000
_FORMS: Final[dict[str, Report]] = {"jsonl": as_json, "table": as_table}


class Command(BaseCommand):
    help = "Score the cases of a file or of standard input; one result a line, in order."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="CSV, TSV, JSON, JSONL, XLSX; - is stdin")
        parser.add_argument("--scorer", metavar="TYPE", help="a line's own scorer wins over it")
        parser.add_argument("--config", metavar="JSON", default="{}")
        parser.add_argument("--threshold", metavar="X", type=float)
        parser.add_argument("--format", choices=sorted(_FORMS), default="jsonl")

    def handle(self, **options: Any) -> None:
        _speak_utf8()
        configure(environment_endpoint())
        scorer = _scorer(options["scorer"], options["config"], options["threshold"])
        try:
            with _opened(options["file"]) as (source, waiting):
                output = Answers(self.stdout, scorer, _FORMS[options["format"]])
                waiting.then = output.flush
                output.take_all(_lines(source, has_scorer=scorer is not None))
        except BrokenPipeError:
            _leave_quietly()
        except FileProblem as fault:
            raise CommandError(fault.text, returncode=2) from None
        except OSError as fault:
            text = f"{options['file']} cannot be read: {fault.strerror}."
            raise CommandError(text, returncode=2) from None


class Answers:
    """Scores lines in batches and writes the results in their order."""

    def __init__(self, out: Any, scorer: BoundScorer | None, form: Report) -> None:
        self._out, self._scorer, self._form = out, scorer, form
        self._pending: list[Line] = []
        self._is_first = True

    def take_all(self, lines: Iterator[Line]) -> None:
        """Also when the lines end in a problem, the results of those before it are written."""
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


class Waiting:
    """A stream that cannot be read ahead; calls `then` before a read that may have to wait."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.then: Callable[[], None] = lambda: None

    def seekable(self) -> bool:
        return self._stream.seekable()

    def read1(self, size: int = -1) -> bytes:
        if not self._is_ready():
            self.then()
        read: Callable[[int], bytes] = getattr(self._stream, "read1", self._stream.read)
        return read(size)

    read = read1

    def _is_ready(self) -> bool:
        try:
            return bool(select.select([self._stream], [], [], 0)[0])
        except (OSError, ValueError):  # nothing that the system can wait for
            return True


@contextmanager
def _opened(name: str) -> Iterator[tuple[Source, Waiting]]:
    path = Path(name)
    with nullcontext(sys.stdin.buffer) if name == "-" else path.open("rb") as stream:
        waiting = Waiting(stream)
        yield Source(cast("BinaryIO", waiting), "" if name == "-" else path.name), waiting


def _lines(source: Source, *, has_scorer: bool) -> Iterator[Line]:
    detected = detect(source)
    reader = LineReader(detected)
    for row in read_rows(source, detected):
        if isinstance(row, RowProblem):
            raise FileProblem(row.code, row.message, line=row.line)
        line = reader.line(row)
        if not has_scorer and line.scorer is None:
            text = f"Line {row.line:,} names no scorer. Give one with --scorer TYPE."
            raise FileProblem("missing_scorer", text, line=row.line)
        yield line


def _scorer(type_name: str | None, config: str, threshold: float | None) -> BoundScorer | None:
    """What the options ask for; None when every line has to name its own."""
    try:
        settings = _config(config)
        if threshold is not None:
            read_threshold(threshold)
        return bind(type_name, settings, threshold) if type_name else None
    except ConfigError as fault:
        raise CommandError(str(fault), returncode=2) from None


def _config(text: str) -> dict[str, Json]:
    try:
        config = json_text.parse(text)
    except CaseProblem as fault:
        raise ConfigError({"config": [fault.text]}) from None
    if not isinstance(config, dict):
        raise ConfigError({"config": ["must be a JSON object, like '{\"trim\": true}'"]})
    return config


def _speak_utf8() -> None:
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def _leave_quietly() -> None:
    """The reader has gone: what Python still flushes at exit must not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
