"""The mapping of columns to the fields of a case, and its application to rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final, NamedTuple, Self

from scoring.core.contract import CaseProblem, Json
from scoring.core.files.case_keys import case_key
from scoring.core.files.columns.separators import split_text
from scoring.core.files.json.chat_messages import Steps, drop_chat, split_steps
from scoring.core.files.numeric_fields import read_amount, read_count
from scoring.core.files.rows import MISSING, CellProblem, FileProblem, Missing, Row, RowProblem
from scoring.core.json_text import parse, to_text

MAX_ID: Final = 200  # characters
_ALIKE: Final = 0.7  # of a misspelt name; below that, “zip” would suggest “input”
_Numbers = tuple[float | None, int | None, int | None, float | None]
_NO_NUMBERS: Final[_Numbers] = (None, None, None, None)

BLANKS: Final = ("blank_text", "blank_missing")  # settings of columns, whatever these hold
OUTPUT_WORDS: Final = (
    "output",
    "completion",
    "response",
    "prediction",
    "answer",
    "solution",
    "generation",
    *("antwort", "ausgabe", "réponse", "reponse", "sortie"),
    *("respuesta", "salida"),
)

_WORD: Final = rf"(?:{'|'.join(OUTPUT_WORDS)})"
_WORD_FIRST: Final = re.compile(rf"(?i){_WORD}[ _.:-]+(?P<label>.+)", re.DOTALL)
_WORD_LAST: Final = re.compile(rf"(?i)(?P<label>.+?)[ _.:-]+{_WORD}", re.DOTALL)


class OutputText(NamedTuple):
    """One output of one model. `text` is None when none was produced; `error` then says why."""

    text: str | None
    error: str
    latency_ms: float | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None


class MappedCase(NamedTuple):
    """A row as a case and its outputs.

    `key` is the id, or a hash of the input where no id is mapped (`has_id` False). `input` and
    `expected` are MISSING, null or any other JSON value. `outputs` maps a label to the output.
    """

    line: int
    key: str
    has_id: bool
    trial: int
    input: Json | Missing
    expected: Json | Missing
    references: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: dict[str, Json]
    outputs: dict[str, OutputText]


@dataclass(frozen=True)
class Mapping:
    """Field → column ("" or () = unmapped). A column is a key, else a path: `model.solution`.

    Several `output` columns are several runs, labelled by where their names differ. Columns that
    are neither mapped nor in `drop` become metadata. A text of references or tags is split at
    its separator ("" = one item, `TIGHT_COMMA` spares ", "). `blank_text` and `blank_missing` are
    columns of a table whose empty cells are empty texts and no value, where that is not usual (see
    `BlankCells`).
    """

    id: str = ""
    input: str = ""
    expected: str = ""
    output: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: str = ""
    trial: str = ""
    latency_ms: str = ""
    latency_s: str = ""
    tokens_in: str = ""
    tokens_out: str = ""
    cost_usd: str = ""
    error: str = ""
    drop: tuple[str, ...] = ()
    references_separator: str = ""
    tags_separator: str = ""
    blank_text: tuple[str, ...] = ()
    blank_missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, choices: dict[str, Sequence[str]]) -> Self:
        """A mapping of field names to columns; raises FileProblem `unknown_field`."""
        known = {field.name: field.default for field in fields(cls)}
        values: dict[str, Any] = {}
        for name, columns in choices.items():
            if name not in known:
                text = f"“{name}” is no field. The fields are: {', '.join(known)}."
                raise FileProblem("unknown_field", text)
            chosen = tuple(column for column in columns if column)
            if isinstance(known[name], tuple):
                values[name] = chosen
            elif len(chosen) > 1:
                text = f"The field {name} takes one column, not {len(chosen)}: {', '.join(chosen)}."
                raise FileProblem("unknown_field", text)
            else:
                values[name] = chosen[0] if chosen else ""
        return cls(**values)

    def choices(self) -> dict[str, list[str]]:
        """The choices from which `of` makes this mapping; unmapped fields are left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else [value]
            for name, value in values.items()
            if value
        }

    def check(
        self,
        columns: Sequence[str],
        sample: Sequence[Row] = (),
        *,
        needed: Iterable[str] = (),
        is_open: bool = False,
    ) -> None:
        """Raise FileProblem `missing_column` for a mapped column that the file does not have.

        A path is there when a row of the sample has it. `needed` are fields that must be mapped;
        "id|input" means either of the two. `is_open`: rows behind the sample may have further
        columns, so only `needed` is checked.
        """
        for field, column in () if is_open else self._mapped:
            values = (self.value(row.fields, column) for row in sample)
            if column not in columns and all(value is MISSING for value in values):
                raise _missing_column(f"“{column}” (for {field})", column, columns)
        for field in BLANKS if not is_open else ():
            for column in getattr(self, field):
                if column not in columns:
                    raise _missing_column(f"“{column}” (for {field})", column, columns)
        for field in needed:
            names = field.split("|")
            if not any(getattr(self, name) for name in names):
                raise _missing_column(f"one for {' or '.join(names)}", names[-1], columns)

    def unused(self, columns: Iterable[str]) -> list[str]:
        """The columns that hold no field, neither as a whole nor by a path inside."""
        mapped = self._mapped_columns
        inside = tuple(f"{column}." for column in mapped)
        return [
            column
            for column in columns
            if column not in mapped
            and not column.startswith(inside)
            and not any(name.startswith((f"{column}.", f"{column}[")) for name in mapped)
        ]

    @cached_property
    def labels(self) -> dict[str, str]:
        """Output column → label of its run."""
        short = {column: _label(column) for column in self.output}
        are_distinct = len(set(short.values())) == len(short)
        return short if are_distinct else {column: column for column in self.output}

    def apply(self, row: Row) -> MappedCase | RowProblem:
        """The row as a case, or the first problem that keeps it from being one."""
        try:
            return self._case(row)
        except CellProblem as fault:
            where = f"Line {row.line:,}" + (f", column {fault.column}" if fault.column else "")
            return RowProblem(row.line, fault.column, fault.code, f"{where}: {fault.text}")

    def _case(self, row: Row) -> MappedCase:
        cells = row.fields
        input_value = self.value(cells, self.input)
        return MappedCase(  # by position, which takes half the time
            row.line,
            self._key(cells, input_value),
            bool(self.id),
            self._trial(cells) if self.trial else 0,
            input_value,
            self.value(cells, self.expected),
            self._references(cells) if self.references else (),
            self._tags(cells) if self.tags else (),
            self._metadata(cells),
            self._outputs(cells) if self.output else {},
        )

    def value(self, cells: dict[str, Json], column: str) -> Json | Missing:
        """The value of a mapped column, by its name or else by its path."""
        value = cells.get(column, MISSING) if column else MISSING
        if value is MISSING and column in self._paths:
            return _value_at(cells, self._paths[column])
        return value

    def _key(self, cells: dict[str, Json], input_value: Json | Missing) -> str:
        if not self.id:
            if input_value is MISSING:
                raise CellProblem("missing_input", self.input, "the case has no input. Add it.")
            return case_key(input_value)
        value = self.value(cells, self.id)
        key = "" if value is MISSING else to_text(value)
        if not key.strip():
            raise CellProblem("missing_id", self.id, "the id is empty. Fill it.")
        if len(key) > MAX_ID:
            text = f"the id has {len(key):,} characters; {MAX_ID} are possible. Shorten it."
            raise CellProblem("id_too_long", self.id, text)
        return key

    def _trial(self, cells: dict[str, Json]) -> int:
        return read_count(self.value(cells, self.trial), self.trial) or 0

    def _references(self, cells: dict[str, Json]) -> tuple[str, ...]:
        return tuple(self._items(cells, self.references, self.references_separator))

    def _tags(self, cells: dict[str, Json]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._items(cells, self.tags, self.tags_separator)))

    def _items(
        self, cells: dict[str, Json], columns: tuple[str, ...], separator: str
    ) -> Iterator[str]:
        for column in columns:
            yield from _split_items(self.value(cells, column), separator)

    def _metadata(self, cells: dict[str, Json]) -> dict[str, Json]:
        mapped = self._mapped_columns
        rest = {name: value for name, value in cells.items() if name not in mapped}
        if not self.metadata and not self._paths:
            return rest
        rest = drop_chat(rest, tuple(self._paths.values()))
        for path in self._paths.values():
            rest = _without(rest, path)
        own = self.value(cells, self.metadata)
        if isinstance(own, str) and own.startswith("{"):
            own = _parse_or_text(own)
        if isinstance(own, dict) and not own.keys() & rest.keys():
            return {**own, **rest}
        return rest if own is MISSING else {self.metadata: own, **rest}

    def _outputs(self, cells: dict[str, Json]) -> dict[str, OutputText]:
        failure = self.value(cells, self.error) if self.error else MISSING
        error = "" if failure is MISSING else to_text(failure)
        numbers = self._numbers(cells) if self._has_numbers else _NO_NUMBERS
        outputs: dict[str, OutputText] = {}
        for column, label in self.labels.items():
            value = self.value(cells, column)
            if error and (value is MISSING or value is None or value == ""):
                outputs[label] = OutputText(None, error, *numbers)
            elif value is None:
                outputs[label] = OutputText(None, "the output is null", *numbers)
            elif value is not MISSING:
                outputs[label] = OutputText(to_text(value), error, *numbers)
        return outputs

    @cached_property
    def _has_numbers(self) -> bool:
        columns = (self.latency_ms, self.latency_s, self.tokens_in, self.tokens_out, self.cost_usd)
        return any(columns)

    def _numbers(self, cells: dict[str, Json]) -> _Numbers:
        latency = read_amount(self.value(cells, self.latency_ms), self.latency_ms)
        if latency is None and self.latency_s:
            seconds = read_amount(self.value(cells, self.latency_s), self.latency_s)
            latency = None if seconds is None else seconds * 1000
        return (
            latency,
            read_count(self.value(cells, self.tokens_in), self.tokens_in),
            read_count(self.value(cells, self.tokens_out), self.tokens_out),
            read_amount(self.value(cells, self.cost_usd), self.cost_usd),
        )

    @cached_property
    def _mapped(self) -> tuple[tuple[str, str], ...]:
        """Every field with every column it takes."""
        return tuple(
            (field, column)
            for field, columns in self.choices().items()
            if not (field.endswith("_separator") or field in BLANKS)
            for column in columns
        )

    @cached_property
    def _mapped_columns(self) -> frozenset[str]:
        return frozenset(column for _, column in self._mapped)

    @cached_property
    def _paths(self) -> dict[str, Steps]:
        """The mapped columns that can also be read as a path into inner objects."""
        paths: dict[str, Steps] = {}
        for column in self._mapped_columns:
            with suppress(ValueError):  # then it is a name
                paths[column] = split_steps(column)
        return {column: path for column, path in paths.items() if len(path) > 1}


def _value_at(value: Any, path: Steps) -> Json | Missing:
    for step in path:
        if isinstance(value, str):  # a position would take a character out of it
            return MISSING
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return value


def _without(value: dict[str, Json], path: Steps) -> dict[str, Json]:
    """A copy without the member at the end of the path, nor the objects that this empties.

    List items stay, they have no name.
    """
    inner = value.get(str(path[0]))
    rest = {name: part for name, part in value.items() if name != path[0]}
    if len(path) == 1:
        return rest
    if not isinstance(inner, dict) or not inner:
        return value
    remainder = _without(inner, path[1:])
    return {**value, str(path[0]): remainder} if remainder else rest


def _split_items(value: Json | Missing, separator: str) -> list[str]:
    if value is MISSING or value is None or value == "":
        return []
    if isinstance(value, str) and value.startswith("["):
        value = _parse_or_text(value)
    if isinstance(value, list):
        return [to_text(item) for item in value if item is not None]
    if isinstance(value, str) and separator:
        return split_text(value, separator)
    return [to_text(value)]


def _parse_or_text(text: str) -> Json:
    """The JSON value of the text, or the text itself where it is no JSON."""
    try:
        return parse(text, refuse_nul=True)
    except CaseProblem:
        return text


def _label(column: str) -> str:
    """The part of an output column's name that differs: "gpt-4" of "gpt-4 output"."""
    head, _, leaf = column.rpartition(".")
    if head and leaf.lower() in OUTPUT_WORDS:
        return head
    for pattern in (_WORD_FIRST, _WORD_LAST):
        if match := pattern.fullmatch(column):
            return match["label"]
    return column


def _missing_column(needed: str, name: str, columns: Sequence[str]) -> FileProblem:
    similar = get_close_matches(name, columns, n=3, cutoff=_ALIKE)
    advice = f"Did you mean {' or '.join(similar)}?" if similar else "Map another column."
    known = ", ".join(columns[:20]) + (", …" if len(columns) > 20 else "")
    text = f"Needed column: {needed}. Found: {known or 'none'}. {advice}"
    return FileProblem("missing_column", text, column=name)
