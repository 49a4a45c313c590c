"""Forms for scorers and suites; a scorer's fields come from its type's config."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.db import IntegrityError, models, transaction

from evalsite.pages.forms.model_fields import (
    Offer,
    RangeField,
    ScoresField,
    connection_field,
    model_field,
    provider_field,
)
from scoring.core.config import FieldSpec, config_fields
from scoring.core.contract import CaseProblem, ConfigError
from scoring.core.json_text import parse
from scoring.core.registry import ScorerType
from scoring.models import Scorer, Suite, Team, User
from scoring.models.scorer import UNIT

CONFIG = "config-"  # before a config field's name, so that it cannot meet `name` or `threshold`
PARTS = """[
  {"type": "exact_match", "name": "same text", "config": {}},
  {"type": "levenshtein", "name": "close enough", "config": {"decimals": 3}}
]"""  # what the scorers of a combination look like, shown in the empty field


def _code(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})


def _number(field: type[forms.IntegerField], spec: FieldSpec, step: str) -> forms.Field:
    return field(
        required=spec.required,
        min_value=spec.minimum,  # type: ignore[arg-type]  # a float field's limit may be a float
        max_value=spec.maximum,  # type: ignore[arg-type]
        widget=forms.NumberInput(attrs={"step": step}),
    )


def _choices(spec: FieldSpec) -> list[tuple[str, str]]:
    """A setting that may stay open has an empty choice, which its help text explains."""
    return [("", "not set")] * spec.nullable + [(choice, choice) for choice in spec.choices]


def _free_name(name: str, others: models.QuerySet[Any], own: models.Model | None) -> str:
    """The name, unless another of the team's rows has it."""
    taken = others.filter(name=name)
    if (taken.exclude(pk=own.pk) if own else taken).exists():
        raise forms.ValidationError(f"The team has one called {name} already.")
    return name


class JsonTextField(forms.CharField):
    """JSON in a text area. A text that is no JSON is an error, or with `or_text` means itself."""

    def __init__(self, *, or_text: bool = False, rows: int = 6, **options: Any) -> None:
        one_line = forms.TextInput(attrs={"class": "mono", "spellcheck": "false"})
        super().__init__(strip=False, widget=_code(rows) if rows > 1 else one_line, **options)
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
            return parse(text)
        except CaseProblem as fault:
            if self.or_text and fault.code == "invalid_json":
                return text
            raise forms.ValidationError(f"This is not usable JSON: {fault.text}.") from None


class LinesField(forms.CharField):
    """A list of texts, one a line. Blank lines are dropped; a list has at least one text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, widget=_code(4), **options)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        lines = [line for line in (super().to_python(value) or "").splitlines() if line.strip()]
        return lines or None


def _parts(spec: FieldSpec) -> forms.Field:
    field = JsonTextField(rows=12, required=spec.required)
    field.widget.attrs["placeholder"] = PARTS
    return field


#: How a kind of setting is drawn.
FIELDS: Mapping[str, Callable[[FieldSpec], forms.Field]] = {
    "text": lambda spec: forms.CharField(required=spec.required, strip=False),
    "long text": lambda spec: forms.CharField(required=spec.required, strip=False, widget=_code(8)),
    "number": lambda spec: _number(forms.FloatField, spec, "any"),
    "integer": lambda spec: _number(forms.IntegerField, spec, "1"),
    "boolean": lambda _: forms.BooleanField(required=False),
    "choice": lambda spec: forms.ChoiceField(choices=_choices(spec), required=not spec.nullable),
    "list of text": lambda spec: LinesField(required=spec.required),
    "keys": lambda spec: JsonTextField(or_text=True, rows=1, required=spec.required),
    "value": lambda spec: JsonTextField(or_text=True, rows=1, required=spec.required),
    "json": lambda spec: JsonTextField(required=spec.required),
    "scores": lambda spec: ScoresField(required=spec.required),
    "range": lambda spec: RangeField(required=spec.required),
    "scorers": _parts,
}


class ScorerForm(forms.Form):
    """Name, threshold and config of one scorer of one type."""

    name = forms.CharField(max_length=120)
    threshold = forms.FloatField(
        label="Default threshold",
        min_value=0,
        max_value=1,
        validators=UNIT,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="A score of at least this passes. A suite may set its own.",
    )

    def __init__(
        self, *args: Any, team: Team, kind: ScorerType, scorer: Scorer | None = None, **kwargs: Any
    ) -> None:
        self.team, self.kind, self.scorer = team, kind, scorer
        super().__init__(*args, **kwargs)
        if scorer:  # its threshold changes with a reason, not in passing
            del self.fields["threshold"]
        for spec in sorted(config_fields(kind.config), key=lambda spec: not spec.required):
            self._add_config_field(spec)

    @cached_property
    def offer(self) -> Offer:
        return Offer.to(self.team)

    def _add_config_field(self, spec: FieldSpec) -> None:
        current = self.scorer.current if self.scorer else None
        initial = current.config.get(spec.name) if current else spec.default
        field = self._field(spec, initial)
        field.label, field.help_text = spec.label, field.help_text or spec.help
        field.initial = initial
        self.fields[CONFIG + spec.name] = field

    def _field(self, spec: FieldSpec, initial: Any) -> forms.Field:
        """Drawn by its kind; some kinds depend on what the team can ask models with."""
        if spec.kind == "connection":
            return connection_field(self.offer, initial)
        if spec.kind == "model":
            return model_field(spec, self.offer)
        if spec.kind == "provider":
            return provider_field(spec, self.offer)
        return FIELDS[spec.kind](spec)

    def clean_name(self) -> str:
        others = Scorer.objects.filter(team=self.team)
        return _free_name(self.cleaned_data["name"], others, self.scorer)

    def config(self) -> dict[str, Any]:
        """The config as filled in; an empty field is none where it may be, else the default."""
        none = {spec.name: None for spec in config_fields(self.kind.config) if spec.nullable}
        filled = {
            name.removeprefix(CONFIG): value
            for name, value in self.cleaned_data.items()
            if name.startswith(CONFIG)
        }
        return none | {name: value for name, value in filled.items() if value not in (None, "")}

    def effective_threshold(self) -> float:
        """The one to judge by: of a new scorer as filled in, else the scorer's own."""
        return self.scorer.threshold if self.scorer else float(self.cleaned_data["threshold"])

    def save(self, by: User) -> Scorer | None:
        """The scorer, new or with a new version; None where the config's errors are now shown."""
        try:
            with transaction.atomic():
                return self._saved(by)
        except ConfigError as problem:
            self.show_errors(problem)
        except IntegrityError:
            self.add_error("name", "The team has just got a scorer of that name.")
        return None

    def show_errors(self, problem: ConfigError) -> None:
        """Set each error of the config beside its field, one of a part with the part's place."""
        for name, texts in problem.errors.items():
            field = CONFIG + name.partition("[")[0].partition(".")[0]
            where = f"{name}: " if CONFIG + name != field else ""
            known = field if field in self.fields else None
            self.add_error(known, [where + text for text in texts])

    def _saved(self, by: User) -> Scorer:
        name = self.cleaned_data["name"]
        if self.scorer is None:
            threshold = self.cleaned_data["threshold"]
            define = Scorer.objects.define
            return define(self.team, name, self.kind.name, self.config(), threshold, by)
        self.scorer.revise(self.config(), by=by)
        self.scorer.rename(name, by=by)
        return self.scorer


class SuiteForm(forms.Form):
    """A suite's name and which of the team's scorers are in it."""

    name = forms.CharField(max_length=120)
    scorers = forms.ModelMultipleChoiceField(
        Scorer.objects.none(), to_field_name="uuid", widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, team: Team, suite: Suite | None = None, **kwargs: Any) -> None:
        self.team, self.suite = team, suite
        super().__init__(*args, **kwargs)
        self.fields["scorers"].queryset = Scorer.objects.filter(team=team).order_by("name")  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        others = Suite.objects.filter(team=self.team)
        return _free_name(self.cleaned_data["name"], others, self.suite)

    def save(self, by: User) -> Suite | None:
        """The suite, new or changed; scorers that stay keep their thresholds.

        None where somebody else took the name a moment ago, which is now shown.
        """
        try:
            with transaction.atomic():
                return self._saved(by)
        except IntegrityError:
            self.add_error("name", "The team has just got a suite of that name.")
        return None

    def _saved(self, by: User) -> Suite:
        name = self.cleaned_data["name"]
        entries = [(scorer, None) for scorer in self.cleaned_data["scorers"]]
        if self.suite is None:
            return Suite.objects.define(self.team, name, entries, by)
        self.suite.rename(name, by=by)
        self.suite.replace_entries(entries, by=by)
        return self.suite
