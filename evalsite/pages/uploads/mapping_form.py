"""The form that says what each column of an uploaded file holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from django import forms

from scoring.core.contract import Json
from scoring.core.files import MISSING, FileProblem, Mapping
from scoring.core.files.columns.column_types import column_type
from scoring.core.files.columns.separators import TIGHT_COMMA
from scoring.core.files.columns.slots import Slot, case_slots, output_slots
from scoring.engine import imports
from scoring.engine.imports import Preview
from scoring.engine.imports.reader import FileOptions
from scoring.engine.imports.report import types_that_compare
from scoring.models import Upload, UploadKind

_OUTPUT_FIELDS: Final = {
    "output": "output",
    "trial": "trial number",
    "error": "error of the model",
    "latency_ms": "latency in milliseconds",
    "latency_s": "latency in seconds",
    "tokens_in": "tokens in",
    "tokens_out": "tokens out",
    "cost_usd": "cost in US dollars",
}
_FIELDS: Final = {
    UploadKind.DATASET: {
        "": "metadata",
        "drop": "leave out",
        "id": "id",
        "input": "input",
        "expected": "expected",
        "references": "references (other right answers)",
        "tags": "tags",
        "metadata": "metadata as one JSON object",
        **_OUTPUT_FIELDS,
    },
    UploadKind.OUTPUTS: {"": "not used", "id": "id", "input": "input", **_OUTPUT_FIELDS},
}
_SEVERAL: Final = ("", "drop", "references", "tags", "output")
_SPLIT: Final = ("references_separator", "tags_separator")
_SEPARATORS: Final = [
    ("", "not split"),
    (",", "split at commas"),
    (TIGHT_COMMA, "split at commas that no space follows"),
    (";", "split at semicolons"),
    ("|", "split at vertical bars"),
    ("lines", "split at line ends"),
]
_BLANKS: Final = {
    "": "as usual",
    "blank_missing": "no value",
    "blank_text": "an empty text",
}
_LINES: Final = {"lines": "\n"}  # a form would send a bare line end as two characters
_EXAMPLES: Final = 3


class ColumnRow(NamedTuple):
    """The choices for a column, `blanks` of a table alone, with its kind of values and examples."""

    field: forms.BoundField
    blanks: forms.BoundField | None
    kind: str
    values: list[Json]


class MappingForm(forms.Form):
    """What each column holds, and where lists in one cell are split."""

    references_separator = forms.ChoiceField(
        label="Several references in one cell", choices=_SEPARATORS, required=False
    )
    tags_separator = forms.ChoiceField(
        label="Several tags in one cell", choices=_SEPARATORS, required=False
    )

    def __init__(
        self,
        *args: Any,
        upload: Upload,
        preview: Preview,
        options: FileOptions,
        paths: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.upload, self.options = upload, options
        self.kind, self.detected = UploadKind(upload.kind), preview.detected
        initial = preview.mapping
        held = {column: field for field, names in initial.choices().items() for column in names}
        self.columns = self._columns(paths, held)
        for place, column in enumerate(self.columns):
            self.fields[_name(place)] = forms.ChoiceField(
                label=column,
                choices=list(_FIELDS[self.kind].items()),
                initial=held.get(column, ""),
                required=False,
            )
            if self.detected.is_table:
                own = (name for name in _BLANKS if name and column in getattr(initial, name))
                label = f"Empty cells of {column}"
                self.fields[_blank_name(place)] = forms.ChoiceField(
                    label=label,
                    widget=forms.Select(attrs={"aria-label": label}),
                    choices=list(_BLANKS.items()),
                    initial=next(own, ""),
                    required=False,
                )
        for name in _SPLIT:
            mark = getattr(initial, name)
            self.fields[name].initial = "lines" if mark == "\n" else mark

    @property
    def is_table(self) -> bool:
        return self.detected.is_table

    def _columns(self, paths: Sequence[str], held: Iterable[str]) -> list[str]:
        """The file's columns, the mapped paths that have values, and those that are asked for."""
        if self.detected.is_table:
            return [*self.detected.columns]
        mapped = (path for path in held if self._values(path))
        return list(dict.fromkeys([*self.detected.columns, *mapped, *paths]))

    def _chosen(self) -> dict[str, str]:
        """What each column holds, as chosen now."""
        return {c: self[_name(place)].value() for place, c in enumerate(self.columns)}

    def _values(self, column: str) -> list[Json]:
        """The values of the column in the sample."""
        reader = Mapping(input=column)
        values = (reader.value(row.fields, column) for row in self.detected.sample)
        return [value for value in values if value is not MISSING]

    def rows(self) -> Iterator[ColumnRow]:
        for place, column in enumerate(self.columns):
            values = self._values(column)
            blanks = self[_blank_name(place)] if self.detected.is_table else None
            yield ColumnRow(self[_name(place)], blanks, column_type(values), values[:_EXAMPLES])

    @property
    def several_outputs(self) -> list[str]:
        """The names of the runs that several columns of outputs would make; [] for one or none."""
        outputs = [column for column, field in self._chosen().items() if field == "output"]
        return list(Mapping(output=tuple(outputs)).labels.values()) if len(outputs) > 1 else []

    @property
    def unused_columns(self) -> list[str]:
        """The columns of a file of outputs that are not used, as chosen now."""
        if self.kind != UploadKind.OUTPUTS:
            return []
        used = (column for column, field in self._chosen().items() if field)
        return Mapping(drop=tuple(used)).unused(self.columns)

    @property
    def slots(self) -> list[Slot]:
        """What each part of a case gets, as chosen now."""
        fields: dict[str, list[str]] = {}
        for column, field in self._chosen().items():
            fields.setdefault(field, []).append(column)
        choices: dict[str, Sequence[str]] = {
            name: fields.get(name, [])[:1] for name in ("id", "input", "expected")
        }
        choices |= {name: fields.get(name, []) for name in ("references", "output")}
        mapping = Mapping.of(choices)
        is_dataset = self.kind == UploadKind.DATASET
        return case_slots(mapping) if is_dataset else output_slots(mapping)

    @property
    def consequence(self) -> str:
        """What follows where no column holds what is expected."""
        lacks_expected = any(slot.name == "expected" and not slot.columns for slot in self.slots)
        if not lacks_expected:
            return ""
        return f"No column holds an expected output: {types_that_compare()} cannot score."

    @property
    def splits_chats(self) -> bool:
        """Whether the input, as chosen now, is a chat without its last message."""
        inputs = (column for column, field in self._chosen().items() if field == "input")
        return any(column.endswith("[:-1]") for column in inputs)

    def clean(self) -> dict[str, Any]:
        self.choices = self._choices()
        return self.cleaned_data

    def is_as_checked(self) -> bool:
        """Whether the last check was of these choices, with which the file can be read."""
        try:
            return imports.is_as_checked(self.upload, self.choices, **self.options)
        except FileProblem:  # which `save` shows
            return False

    def save(self) -> bool:
        """Ask the worker to check the file; False, with an error, if columns are missing."""
        try:
            imports.request_check(self.upload, self.choices, **self.options)
        except FileProblem as problem:
            self.add_error(None, f"{problem.text} ({problem.code})")
        return not self.errors

    def _choices(self) -> dict[str, Sequence[str]]:
        """Field → columns, every field named, so that nothing is guessed any more."""
        choices: dict[str, Sequence[str]] = {field: [] for field in _FIELDS[self.kind] if field}
        for place, column in enumerate(self.columns):
            field = self.cleaned_data.get(_name(place))
            if not field:
                continue
            if choices[field] and field not in _SEVERAL:
                label, other = _FIELDS[self.kind][field], choices[field][0]
                self.add_error(_name(place), f"“{other}” is the {label} already. Choose one.")
            choices[field] = [*choices[field], column]
        if self.detected.is_open and "error" not in self.columns:
            choices["error"] = choices["error"] or ["error"]  # which few rows may have
        for name in filter(None, _BLANKS):
            choices[name] = [
                column
                for place, column in enumerate(self.columns)
                if self.cleaned_data.get(_blank_name(place)) == name
            ]
        marks = {name: self.cleaned_data.get(name, "") for name in _SPLIT}
        return choices | {name: [_LINES.get(mark, mark)] for name, mark in marks.items()}


def _name(place: int) -> str:
    return f"column-{place}"


def _blank_name(place: int) -> str:
    return f"blank-{place}"
