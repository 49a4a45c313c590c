"""Form fields for the settings of judges and embedding scorers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, Final

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from scoring.core.config import FieldSpec
from scoring.core.embeddings.errors import MISSING
from scoring.core.json_text import to_text
from scoring.core.services import ENVIRONMENT, AvailableServices
from scoring.models import Connection, Team

EMPTY_ROWS: Final = 3
MONO: Final = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}

Pairs = list[tuple[str, str]]

#: Of name, id, label, score, whether there is an error, and the row's number.
_ROW: Final = (
    '<div class="pair-row">'
    '<input type="text" name="{0}" value="{2}" id="{1}" maxlength="200" placeholder="label"'
    ' aria-label="Label {5}" aria-invalid="{4}">'
    '<input type="number" step="any" name="{0}-score" value="{3}" placeholder="score"'
    ' aria-label="Score of label {5}" aria-invalid="{4}"></div>'
)


@dataclass(frozen=True)
class ModelOptions:
    """The models that a team can call; `models` are those of its connections."""

    available: AvailableServices
    models: Sequence[str]

    @classmethod
    def for_team(cls, team: Team) -> ModelOptions:
        rows = Connection.objects.filter(team=team).values_list("offered", flat=True)
        models = {str(model["name"]) for offered in rows for model in offered}
        return cls(Connection.objects.available_to(team), sorted(models))

    @property
    def names(self) -> list[str]:
        """The connections' names, that of the site's environment last."""
        return self.available.endpoint_names

    @property
    def default(self) -> str:
        """The connection of a scorer that names none; "" if none is the default."""
        return self.available.default_endpoint or ""


def submitted_values(data: Any, name: str) -> list[str]:
    """All submitted values of a field, from a request or a plain mapping."""
    if hasattr(data, "getlist"):
        return list(data.getlist(name))
    values = data.get(name, [])
    return [values] if isinstance(values, str) else list(values)


def _display_value(value: Any) -> str:
    return value if isinstance(value, str) else to_text(value)


class ScoresInput(forms.Widget):
    """A label and a number in each row, with empty rows for more; no script is needed."""

    use_fieldset = True

    def render(
        self,
        name: str,
        value: Any,
        attrs: Any = None,
        renderer: Any = None,  # noqa: ARG002  Django's signature
    ) -> SafeString:
        pairs = list(value.items()) if isinstance(value, Mapping) else list(value or ())
        invalid = (attrs or {}).get("aria-invalid", "false")
        return format_html_join(
            "",
            _ROW,
            (
                (name, _row_id(attrs, index), label, _display_value(score), invalid, index + 1)
                for index, (label, score) in enumerate([*pairs, *[("", "")] * EMPTY_ROWS])
            ),
        )

    def value_from_datadict(self, data: Any, _: Any, name: str) -> Pairs:
        labels, scores = submitted_values(data, name), submitted_values(data, f"{name}-score")
        pairs = zip(labels, scores, strict=False)
        return [pair for pair in pairs if any(part.strip() for part in pair)]


def _row_id(attrs: Any, index: int) -> str:
    first = str((attrs or {}).get("id", ""))
    return f"{first}-{index + 1}" if index else first


class ScoresField(forms.Field):
    """Labels with their scores; None where no row is filled in."""

    widget = ScoresInput

    def to_python(self, value: Any) -> dict[str, float] | None:
        scores: dict[str, float] = {}
        for label, score in value or ():
            name = label.strip()
            if not name:
                raise forms.ValidationError(f"Name the label that scores {score}.")
            if name in scores:
                raise forms.ValidationError(f"{name} is there twice.")
            scores[name] = _number(score, f"the score of {name}")
        return scores or None


class RangeInput(forms.Widget):
    """Two numbers, from and to."""

    use_fieldset = True

    def render(
        self,
        name: str,
        value: Any,
        attrs: Any = None,
        renderer: Any = None,  # noqa: ARG002  Django's signature
    ) -> SafeString:
        low, high = (*(value or ()), "", "")[:2]
        return format_html(
            '<div class="row"><input class="short" type="number" step="any" name="{0}" value="{2}"'
            ' id="{1}" aria-label="From"> to <input class="short" type="number" step="any"'
            ' name="{0}" value="{3}" aria-label="To"></div>',
            name,
            _row_id(attrs, 0),
            _display_value(low),
            _display_value(high),
        )

    def value_from_datadict(self, data: Any, _: Any, name: str) -> list[str]:
        return submitted_values(data, name)


class RangeField(forms.Field):
    """The two ends of a range; None where neither is filled in."""

    widget = RangeInput

    def to_python(self, value: Any) -> list[float] | None:
        ends = [end.strip() for end in value or ()]
        if not any(ends):
            return None
        if len(ends) != 2 or not all(ends):
            raise forms.ValidationError("Give both ends of the range.")
        return [_number(end, "an end of the range") for end in ends]


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise forms.ValidationError(f"Give {what} as a number.")
    return number


class SuggestionInput(forms.TextInput):
    """A text with suggestions that the browser lists while one types."""

    def __init__(self, suggestions: Sequence[str]) -> None:
        super().__init__(attrs=MONO)
        self.suggestions = suggestions

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        known = f"{name}-known"
        field = super().render(name, value, {**(attrs or {}), "list": known}, renderer)
        options = format_html_join(
            "", '<option value="{}">', ((text,) for text in self.suggestions)
        )
        return format_html('{}<datalist id="{}">{}</datalist>', field, known, options)


def model_field(spec: FieldSpec, offer: ModelOptions) -> forms.Field:
    widget = SuggestionInput(offer.models)
    return forms.CharField(required=spec.required, max_length=200, widget=widget)


def connection_field(offer: ModelOptions, current: str | None) -> forms.Field:
    """The team's connections, and the scorer's current one even if it no longer exists."""
    choices = [("", f"Default ({offer.default or 'none set'})")]
    choices += [(name, _connection_label(name)) for name in offer.names]
    if current and current not in offer.names:
        choices.append((current, f"{current}, which is not there any more"))
    return forms.ChoiceField(choices=choices, required=False)


def _connection_label(name: str) -> str:
    return "environment: the site's own endpoint" if name == ENVIRONMENT else name


def provider_field(spec: FieldSpec, offer: ModelOptions) -> forms.Field:
    """Says which provider an unset one means here, and whether `local` is installed."""
    default = f"openai, through {offer.default}" if offer.default else "local"
    choices = [("", f"Default ({default})"), *((name, name) for name in spec.choices)]
    field = forms.ChoiceField(choices=choices, required=False)
    field.help_text = (
        spec.help if offer.available.has_local_embeddings else f"{spec.help} {_install_hint()}"
    )
    return field


def _install_hint() -> str:
    what, _, command = MISSING.partition(": ")
    return f"Here {what}: `{command}`."
