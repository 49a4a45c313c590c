"""Form fields of scorer configs: the field depends on the kind of setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django import forms

from evalsite.pages.scorers.extraction_field import ExtractionField
from evalsite.pages.scorers.model_fields import (
    ModelOptions,
    RangeField,
    ScoresField,
    connection_field,
    model_field,
    provider_field,
)
from evalsite.pages.web.fields import LongTextField, code_area
from scoring.core.config import FieldSpec, config_fields
from scoring.core.contract import CaseProblem
from scoring.core.json_text import parse
from scoring.core.registry import ScorerType

CONFIG = "config-"  # before a config field's name, so that it cannot meet `name` or `threshold`


def _number(field: type[forms.IntegerField], spec: FieldSpec, step: str) -> forms.Field:
    return field(
        required=spec.required,
        min_value=spec.minimum,  # type: ignore[arg-type]  # a float field's limit may be a float
        max_value=spec.maximum,  # type: ignore[arg-type]
        widget=forms.NumberInput(attrs={"step": step}),
    )


def _choices(spec: FieldSpec) -> list[tuple[str, str]]:
    """The choices, with an empty one for a nullable setting, which its help text explains."""
    return [("", "not set")] * spec.nullable + [(choice, choice) for choice in spec.choices]


class JsonTextField(forms.CharField):
    """JSON in a text area. Other text is an error, or with `or_text` taken as it is."""

    def __init__(self, *, or_text: bool = False, rows: int = 6, **options: Any) -> None:
        one_line = forms.TextInput(attrs={"class": "mono", "spellcheck": "false"})
        super().__init__(strip=False, widget=code_area(rows) if rows > 1 else one_line, **options)
        self.or_text = or_text

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, indent=2)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        if not text.strip():
            return None
        try:
            return parse(text, refuse_nul=True)
        except CaseProblem as fault:
            if self.or_text and fault.code == "invalid_json":
                return text
            raise forms.ValidationError(f"This is not usable JSON: {fault.text}.") from None

    def as_typed(self, value: Any) -> Any:
        """The initial value; a text that looks like JSON is quoted so that it stays a text."""
        if isinstance(value, str) and self.or_text and self.to_python(value) != value:
            return json.dumps(value, ensure_ascii=False)
        return value


class LinesField(forms.CharField):
    """A list of texts, one a line, or a JSON list where a text has several lines.

    Blank lines are dropped; a list has at least one text.
    """

    def __init__(self, *, rows: int = 4, **options: Any) -> None:
        super().__init__(strip=False, widget=code_area(rows), **options)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        lines = "\n".join(value)
        is_lossless = self.to_python(lines) == (list(value) or None)
        return lines if is_lossless else json.dumps(list(value), ensure_ascii=False)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        lines = [line for line in text.splitlines() if line.strip()]
        return _parse_list(text) or lines or None


def _parse_list(text: str) -> list[str] | None:
    """The texts of a JSON list; None for anything else. A NUL is an error."""
    try:
        value = parse(text, refuse_nul=True) if text.lstrip()[:1] == "[" else None
    except CaseProblem as fault:
        if fault.code == "nul_character":
            raise forms.ValidationError(f"This is not usable: {fault.text}.") from None
        return None
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value if is_list else None


#: The field of each kind of setting. The scorers of a combination are a tree instead.
FIELDS: Mapping[str, Callable[[FieldSpec], forms.Field]] = {
    "text": lambda spec: forms.CharField(required=spec.required, strip=False),
    "long text": lambda spec: LongTextField(required=spec.required),
    "number": lambda spec: _number(forms.FloatField, spec, "any"),
    "integer": lambda spec: _number(forms.IntegerField, spec, "1"),
    "boolean": lambda _: forms.BooleanField(required=False),
    "choice": lambda spec: forms.ChoiceField(choices=_choices(spec), required=not spec.nullable),
    "list of text": lambda spec: LinesField(required=spec.required),
    "keys": lambda spec: JsonTextField(or_text=True, rows=1, required=spec.required),
    "value": lambda spec: JsonTextField(or_text=True, rows=1, required=spec.required),
    "extraction": lambda _: ExtractionField(required=False),
    "json": lambda spec: JsonTextField(required=spec.required),
    "scores": lambda spec: ScoresField(required=spec.required),
    "range": lambda spec: RangeField(required=spec.required),
}


class ConfigForm(forms.Form):
    """The settings of one scorer type."""

    kind: ScorerType
    offer: Callable[[], ModelOptions]  # called only where a setting depends on it

    def add_settings(self, config: Mapping[str, Any] | None) -> None:
        """A field for each setting, the required ones first, holding this config or defaults."""
        for spec in self.specs():
            field = self._field(spec, initial := (config or {}).get(spec.name, spec.default))
            field.label, field.help_text = spec.label, field.help_text or spec.help
            typed = isinstance(field, JsonTextField)
            field.initial = field.as_typed(initial) if typed else initial  # type: ignore[attr-defined]
            self.fields[CONFIG + spec.name] = field

    def specs(self) -> list[FieldSpec]:
        specs = (spec for spec in config_fields(self.kind.config) if spec.kind != "scorers")
        return sorted(specs, key=lambda spec: not spec.required)

    def _field(self, spec: FieldSpec, initial: Any) -> forms.Field:
        """The field of its kind; some kinds depend on the connections of the team."""
        if spec.kind == "connection":
            return connection_field(self.offer(), initial)
        if spec.kind == "model":
            return model_field(spec, self.offer())
        if spec.kind == "provider":
            return provider_field(spec, self.offer())
        if spec.kind == "text" and "\n" in (initial or ""):
            return FIELDS["long text"](spec)  # one line would lose the others
        return FIELDS[spec.kind](spec)

    def settings(self) -> dict[str, Any]:
        """The submitted settings. An empty field is None if nullable, else it is left out."""
        none = {spec.name: None for spec in self.specs() if spec.nullable}
        return none | {
            name.removeprefix(CONFIG): value
            for name, value in self.cleaned_data.items()
            if name.startswith(CONFIG) and self._is_filled(name, value)
        }

    def _is_filled(self, name: str, value: Any) -> bool:
        """Whether it has a value; an empty text has one only if it was written as JSON."""
        is_json = isinstance(self.fields[name], JsonTextField)
        return value is not None and (is_json or value != "")

    def forget_errors(self) -> None:
        """Show what was submitted without validating it."""
        self.cleaned_data = {}
        self._errors = forms.utils.ErrorDict()

    def show_setting_errors(self, errors: Mapping[str, list[str]]) -> None:
        """Add each error of the config to its field, or to the form."""
        for name, texts in errors.items():
            field = CONFIG + name.partition("[")[0].partition(".")[0]
            where = f"{name}: " if CONFIG + name != field else ""
            known = field if field in self.fields else None
            self.add_error(known, [where + text for text in texts])
