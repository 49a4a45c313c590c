"""Cases of a file scored without a database: a row in, one result line out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isfinite
from typing import Any, Final, NamedTuple

import orjson

from scoring.core.bound import BoundScorer, bind
from scoring.core.contract import EMPTY, Case, ConfigError, Json, Result, ServiceError, error
from scoring.core.files import MISSING, Detected, FileProblem, MappedCase, Row, guess_mapping
from scoring.core.files import Mapping as Columns
from scoring.core.json_text import text_of

NO_OUTPUT: Final = "the line has no output"
_LINE: Final = "\0line"  # no column is called that
_READ: Final = ("input", "expected", "output", "references", "tags", "metadata", "error")
_SEPARATORS: Final = ("references_separator", "tags_separator")


class Line(NamedTuple):
    """One case to score. `scorer` is what the line itself asks for, None when it does not."""

    id: Json
    case: Case
    scorer: Json = None


Report = Callable[[Sequence[Line], Sequence[Result], bool], str]


class LineReader:
    """Rows as lines. Objects have the fields of a case; a table's columns are guessed."""

    def __init__(self, detected: Detected) -> None:
        self.line = _line_of_object
        if detected.is_table:
            self._id, self._columns = _columns(detected)
            self.line = self._line_of_cells

    def _line_of_cells(self, row: Row) -> Line:
        cells = {**row.fields, _LINE: str(row.line)}
        case = self._columns.apply(Row(row.line, cells))
        if not isinstance(case, MappedCase):
            raise FileProblem(case.code, case.message, line=case.line)
        key = self._columns.value(cells, self._id)
        given = row.line if key is MISSING or key == "" else key
        (output,) = case.outputs.values()
        return Line(
            given,
            Case(
                output=output.text,
                expected=None if case.expected is MISSING else case.expected,
                input=None if case.input is MISSING else case.input,
                id=str(given),
                references=case.references,
                metadata=case.metadata,
                tags=case.tags,
                failure="" if output.text is not None else output.error,
            ),
        )


def _columns(detected: Detected) -> tuple[str, Columns]:
    """The column of ids, and a mapping under which every row has an id: its line."""
    guess = guess_mapping(detected.columns, detected.sample)
    chosen = {name: getattr(guess, name) for name in (*_READ, *_SEPARATORS)}
    columns = replace(Columns(**chosen), id=_LINE, drop=(guess.id,) if guess.id else ())
    if len(guess.output) != 1:
        fault = "Several columns hold outputs" if guess.output else "No column holds outputs"
        found = ", ".join(guess.output or detected.columns)
        text = f"{fault}. Found: {found}. Call the one to score “output”."
        raise FileProblem("missing_column", text, column="output")
    return guess.id, columns


def _line_of_object(row: Row) -> Line:
    """A missing output could not be produced; null is a value."""
    fields = row.fields
    given = fields.get("id")
    given = row.line if given is None else given
    failure = ""
    if "output" not in fields:
        failure = text_of(fields.get("error")) or NO_OUTPUT
    metadata = fields.get("metadata")
    case = Case(
        output=fields.get("output"),
        expected=fields.get("expected"),
        input=fields.get("input"),
        id=text_of(given),
        references=_texts(fields.get("references")),
        metadata=metadata if isinstance(metadata, dict) else EMPTY,
        tags=_texts(fields.get("tags")),
        failure=failure,
    )
    return Line(given, case, fields.get("scorer"))


def _texts(value: Json) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(text_of, value)) if isinstance(value, list) else (text_of(value),)


def score_lines(lines: Sequence[Line], scorer: BoundScorer | None) -> list[Result]:
    """One result per line, in order; lines with the same scorer are scored together."""
    results: list[Result] = [error("config_error", "no scorer is named")] * len(lines)
    for places, asked in _grouped(lines):
        cases = [lines[place].case for place in places]
        chosen = _own_scorer(asked) if asked else scorer
        for place, result in zip(places, _results(chosen, cases), strict=True):
            results[place] = result
    return results


def _grouped(lines: Sequence[Line]) -> list[tuple[list[int], str]]:
    """The places of the lines that ask for the same scorer, with the JSON of what they ask."""
    places: dict[str, list[int]] = {}
    for place, line in enumerate(lines):
        asked = "" if line.scorer is None else json.dumps(line.scorer, sort_keys=True)
        places.setdefault(asked, []).append(place)
    return [(group, asked) for asked, group in places.items()]


@lru_cache(maxsize=1_000)
def _own_scorer(asked: str) -> BoundScorer | Result:
    wanted = json.loads(asked)
    try:
        if not isinstance(wanted, dict) or not isinstance(wanted.get("type"), str):
            raise ConfigError({"scorer": ["must be an object with type, config and threshold"]})
        if unknown := wanted.keys() - {"type", "config", "threshold"}:
            raise ConfigError({f"scorer.{name}": ["is not known"] for name in sorted(unknown)})
        config = wanted.get("config")
        return bind(wanted["type"], {} if config is None else config, wanted.get("threshold"))
    except ConfigError as fault:
        return error("config_error", str(fault))


def _results(scorer: BoundScorer | Result | None, cases: Sequence[Case]) -> list[Result]:
    if not isinstance(scorer, BoundScorer):
        return [scorer or error("config_error", "no scorer is named")] * len(cases)
    try:
        return scorer.score(cases)
    except ServiceError as fault:
        return [error("service_failed", fault.text)] * len(cases)


def as_json(lines: Sequence[Line], results: Sequence[Result], _: bool) -> str:
    """One JSON object a line, also for readers that end lines at U+2028 and its like."""
    pairs = zip(lines, results, strict=True)
    text = "".join(_json({"id": line.id, **result._asdict()}) + "\n" for line, result in pairs)
    return text if text.isascii() else text.translate(_LINE_ENDS)


def as_table(lines: Sequence[Line], results: Sequence[Result], is_first: bool) -> str:
    """Columns for people, under a head when these are the first lines."""
    rows = [_TABLE.format("id", "status", "score", "verdict", "reason")] if is_first else []
    for line, result in zip(lines, results, strict=True):
        score = "-" if result.score is None else text_of(result.score)
        name = _short(text_of(line.id), 24)
        verdict = result.verdict or "-"
        rows.append(_TABLE.format(name, result.status, score, verdict, _short(result.reason, 100)))
    return "".join(row.rstrip() + "\n" for row in rows)


_LINE_ENDS: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
_TABLE: Final = "{:<24}  {:<7}  {:>11}  {:<7}  {}"


def _short(text: str, length: int) -> str:
    shown = "".join(sign if sign.isprintable() else " " for sign in text[: length + 1])
    return shown if len(shown) <= length else f"{shown[: length - 1]}…"


def _json(value: Mapping[str, Any]) -> str:
    try:
        return orjson.dumps(value).decode()  # writes a number that is not finite as null
    except TypeError:  # an integer beyond 64 bits, half a character, or a scorer's own object
        return json.dumps(_finite(value), default=str, separators=(",", ":"))


def _finite(value: Any) -> Json:
    if isinstance(value, Mapping):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value
