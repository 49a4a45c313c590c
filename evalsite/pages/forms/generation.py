"""The form for a run that makes its outputs by calling a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django import forms

from evalsite.pages.forms.runs import StartForm
from scoring.core.contract import ConfigError
from scoring.engine import recipe
from scoring.engine.generate import Recipe, planned_outputs
from scoring.models import Connection, Dataset, OutputSet, User
from scoring.models.generation import MAX_TRIALS

MONO: Final = {"class": "mono", "spellcheck": "false"}
#: The parts of a recipe that are called otherwise here.
FIELDS: Final = {"parameters": "temperature"}


def _number(field: type[forms.IntegerField], name: str, help_text: str = "") -> forms.Field:
    limits = recipe.PARAMETERS[name]
    step = "1" if limits.is_whole else "any"
    return field(
        required=False,
        min_value=limits.low,  # type: ignore[arg-type]  # a float field's limit may be a float
        max_value=limits.high,  # type: ignore[arg-type]
        widget=forms.NumberInput(attrs={"step": step}),
        help_text=help_text,
    )


def _text(rows: int, **options: Any) -> forms.CharField:
    return forms.CharField(
        strip=False, widget=forms.Textarea(attrs=MONO | {"rows": rows}), **options
    )


class GenerationForm(StartForm):
    """A recipe for outputs of the dataset's latest version, and what to score them with."""

    connection = forms.ModelChoiceField(
        Connection.objects.none(), to_field_name="uuid", empty_label=None
    )
    model = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs=MONO | {"autocomplete": "off", "list": "models"}),
        help_text="By the name its provider gives it.",
    )
    system = _text(2, label="System text", required=False, help_text="Sent as it is.")
    template = _text(
        8,
        label="Prompt",
        help_text="The user's message. Places such as `{{ input }}` are filled from each case.",
    )
    temperature = _number(forms.FloatField, "temperature")
    top_p = _number(forms.FloatField, "top_p")
    max_tokens = _number(forms.IntegerField, "max_tokens")
    seed = _number(forms.IntegerField, "seed")
    trials = forms.IntegerField(
        min_value=1,
        max_value=MAX_TRIALS,
        initial=1,
        help_text="Outputs a case. Several show how steady the model is, and cost as many times.",
    )
    series = forms.CharField(
        max_length=120,
        required=False,
        help_text="Runs of one series make one drift line. Left empty, the model's name.",
    )

    path = "generate"
    field_order = (
        *("connection", "model", "system", "template"),
        *("temperature", "top_p", "max_tokens", "seed", "trials"),
        *("suite", "scorers", "budget_usd", "series", "name"),
    )

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, dataset=dataset, **kwargs)
        self.connections = list(Connection.objects.filter(team=dataset.team_id).for_list())
        self._offer_connections()
        self.fields["top_p"].label = "Top p"
        self.fields["max_tokens"].label = "Most tokens"
        self.fields["name"].help_text = "Left empty, the series."
        self.initial.setdefault("template", "{{ input }}")

    def _offer_connections(self) -> None:
        """The team's; where it has none, the environment's endpoint needs no choice."""
        if not self.connections:
            del self.fields["connection"]
            return
        self.offer("connection", Connection.objects.filter(team=self.dataset.team_id).for_list())
        self.initial["connection"] = self.connections[0].uuid

    def models(self) -> Iterator[tuple[str, str]]:
        """Each model the connections offer, with the connection's name."""
        for connection in self.connections:
            for offered in connection.offered:
                yield offered["name"], connection.name

    def clean_system(self) -> str:
        return _newlines(self.cleaned_data["system"])

    def clean_template(self) -> str:
        return _newlines(self.cleaned_data["template"])

    def clean(self) -> dict[str, Any]:
        chosen = super().clean()
        if found := self.recipe():
            try:
                recipe.check(found)
            except ConfigError as fault:
                for part, texts in fault.errors.items():
                    for text in texts:
                        self.add_error(FIELDS.get(part, part), f"{text[:1].upper()}{text[1:]}.")
        return chosen

    def recipe(self) -> Recipe | None:
        """What the fields say so far; None where the model, prompt or connection is missing."""
        given = self.cleaned_data
        wanted = {"model", "template", "trials", *({"connection"} & set(self.fields))}
        if not all(given.get(name) for name in wanted):
            return None
        named = {name: given.get(name) for name in recipe.PARAMETERS}
        return Recipe(
            model=given["model"],
            template=given["template"],
            system=given.get("system", ""),
            connection=given.get("connection"),
            parameters={name: value for name, value in named.items() if value is not None},
            trials=given["trials"],
        )

    def output_set(self, by: User) -> OutputSet:
        """The set that the run is going to fill."""
        made, version = self.recipe(), self.dataset.latest
        if made is None or version is None:
            raise ValueError("the form is to be valid")
        series = self.cleaned_data["series"]
        described = {"series": series} if series else {}
        return planned_outputs(version, made, by=by, **described)


def _newlines(text: str) -> str:
    """A form sends line ends as CR LF, whatever was typed."""
    return text.replace("\r\n", "\n")
