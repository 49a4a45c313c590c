"""Scores the cases of a file without a database: a row in, one result line out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isfinite
from typing import Any, Final, NamedTuple

import orjson

from scoring.core.configured import ConfiguredScorer, configure_scorer
from scoring.core.contract import EMPTY, Case, ConfigError, Json, Result, ServiceError, error
from scoring.core.files import (
    MISSING,
    BlankCells,
    DetectedFormat,
    FileProblem,
    MappedCase,
    PythonCells,
    Row,
    RowProblem,
    guess_mapping,
)
from scoring.core.files import Mapping as Columns
from scoring.core.files.columns.blank_cells import describe_blanks
from scoring.core.files.columns.separators import name_separator
from scoring.core.json_text import to_text

NO_OUTPUT: Final = "the line has no output"
_LINE: Final = "\0line"  # no column is called that
_READ: Final = ("input", "expected", "output", "references", "tags", "metadata", "error")
_SEPARATORS: Final = ("references_separator", "tags_separator")


class InputLine(NamedTuple):
    """One case to score; `scorer` is the one the line itself names, None where it names none."""

    id: Json
    case: Case
    scorer: Json = None


FormatResults = Callable[[Sequence[InputLine], Sequence[Result], bool], str]


class LineReader:
    """Turns rows into lines. Objects have the fields of a case; a table's columns are guessed."""

    def __init__(self, detected: DetectedFormat) -> None:
        self._table = TableLines(detected) if detected.is_table else None
        self.line = self._table.line if self._table else _line_of_object

    @property
    def sentences(self) -> list[str]:
        """How the cells of a table are understood, as far as they were read."""
        return self._table.sentences if self._table else []


class TableLines:
    """Turns the rows of a table into lines."""

    def __init__(self, detected: DetectedFormat) -> None:
        self._id, self._columns = _columns(detected)
        self._blanks, self._literals = BlankCells(self._columns), PythonCells(self._columns)

    @property
    def sentences(self) -> list[str]:
        splits = {
            "References": self._columns.references_separator,
            "Tags": self._columns.tags_separator,
        }
        told = [
            f"{what} are split at {name_separator(separator)}."
            for what, separator in splits.items()
            if separator
        ]
        return [*told, *filter(None, (self._literals.sentence, describe_blanks(self._blanks)))]

    def line(self, row: Row) -> InputLine:
        read = self._literals.take(self._blanks.drop(row))
        if isinstance(read, RowProblem):
            raise FileProblem(read.code, read.message, line=read.line)
        cells = {**read.fields, _LINE: str(row.line)}
        case = self._columns.apply(Row(row.line, cells))
        if not isinstance(case, MappedCase):
            raise FileProblem(case.code, case.message, line=case.line)
        key = self._columns.value(cells, self._id)
        line_id = row.line if key is MISSING or key == "" else key
        (output,) = case.outputs.values()
        return InputLine(
            line_id,
            Case(
                output=output.text,
                expected=None if case.expected is MISSING else case.expected,
                input=None if case.input is MISSING else case.input,
                id=str(line_id),
                references=case.references,
                metadata=case.metadata,
                tags=case.tags,
                failure="" if output.text is not None else output.error,
            ),
        )


def _columns(detected: DetectedFormat) -> tuple[str, Columns]:
    """The column of ids, and a mapping under which every row has an id: its line."""
    guess = guess_mapping(detected.columns, detected.sample)
    chosen = {name: getattr(guess, name) for name in (*_READ, *_SEPARATORS)}
    columns = replace(Columns(**chosen), id=_LINE, drop=(guess.id,) if guess.id else ())
    if len(guess.output) != 1:
        fault = "Several columns hold outputs" if guess.output else "No column holds outputs"
        names = ", ".join(guess.output or detected.columns)
        text = f"{fault}. Found: {names}. Call the one to score “output”."
        raise FileProblem("missing_column", text, column="output")
    return guess.id, columns


def _line_of_object(row: Row) -> InputLine:
    """A missing output is a failure; null is a value."""
    fields = row.fields
    line_id = row.line if fields.get("id") is None else fields["id"]
    metadata = fields.get("metadata")
    case = Case(
        output=fields.get("output"),
        expected=fields.get("expected"),
        input=fields.get("input"),
        id=to_text(line_id),
        references=_texts(fields.get("references")),
        metadata=metadata if isinstance(metadata, dict) else EMPTY,
        tags=_texts(fields.get("tags")),
        failure="" if "output" in fields else to_text(fields.get("error")) or NO_OUTPUT,
    )
    return InputLine(line_id, case, fields.get("scorer"))


def _texts(value: Json) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(to_text, value)) if isinstance(value, list) else (to_text(value),)


def score_lines(lines: Sequence[InputLine], scorer: ConfiguredScorer | None) -> list[Result]:
    """One result per line, in order; lines with the same scorer are scored together."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        own = "" if line.scorer is None else json.dumps(line.scorer, sort_keys=True)
        groups[own].append(index)
    results: dict[int, Result] = {}
    for own, indices in groups.items():
        cases = [lines[index].case for index in indices]
        scored = _score_cases(_own_scorer(own) if own else scorer, cases)
        results.update(zip(indices, scored, strict=True))
    return [results[index] for index in range(len(lines))]


@lru_cache(maxsize=1_000)
def _own_scorer(text: str) -> ConfiguredScorer | Result:
    fields = json.loads(text)
    try:
        if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
            raise ConfigError({"scorer": ["must be an object with type, config and threshold"]})
        if unknown := fields.keys() - {"type", "config", "threshold"}:
            raise ConfigError({f"scorer.{name}": ["is not known"] for name in sorted(unknown)})
        config = {} if fields.get("config") is None else fields["config"]
        return configure_scorer(fields["type"], config, fields.get("threshold"))
    except ConfigError as fault:
        return error("config_error", str(fault))


def _score_cases(scorer: ConfiguredScorer | Result | None, cases: Sequence[Case]) -> list[Result]:
    if not isinstance(scorer, ConfiguredScorer):
        return [scorer or error("config_error", "no scorer is named")] * len(cases)
    try:
        return scorer.score(cases)
    except ServiceError as fault:
        return [error("service_failed", fault.text)] * len(cases)


def as_json_lines(lines: Sequence[InputLine], results: Sequence[Result], _: bool) -> str:
    """One JSON object a line, also for readers that end lines at U+2028 and its like."""
    pairs = zip(lines, results, strict=True)
    text = "".join(_json({"id": line.id, **result._asdict()}) + "\n" for line, result in pairs)
    return text if text.isascii() else text.translate(_LINE_ENDS)


def as_table(lines: Sequence[InputLine], results: Sequence[Result], is_first: bool) -> str:
    """Aligned columns, with a header when these are the first lines."""
    rows = [_TABLE.format("id", "status", "score", "verdict", "reason")] if is_first else []
    for line, result in zip(lines, results, strict=True):
        score = "-" if result.score is None else to_text(result.score)
        name = _short(to_text(line.id), 24)
        verdict = result.verdict or "-"
        rows.append(_TABLE.format(name, result.status, score, verdict, _short(result.reason, 100)))
    return "".join(row.rstrip() + "\n" for row in rows)


_LINE_ENDS: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
_TABLE: Final = "{:<24}  {:<7}  {:>11}  {:<7}  {}"


def _short(text: str, length: int) -> str:
    text = "".join(sign if sign.isprintable() else " " for sign in text[: length + 1])
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _json(value: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(value).decode()  # writes a number that is not finite as null
    except TypeError:  # an integer beyond 64 bits, half a character, or a scorer's own object
        return json.dumps(_finite(value), default=str, separators=(",", ":"))


def _finite(value: Any) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
