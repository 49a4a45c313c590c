"""The form for a run that makes its outputs by calling a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django import forms

from evalsite.pages.runs.forms import StartForm
from evalsite.pages.web.fields import NameField
from scoring.core.contract import ConfigError
from scoring.core.llm.prompt_template import PromptTemplate
from scoring.engine.outputs import output_recipe
from scoring.engine.outputs.generation import OutputRecipe, create_output_set
from scoring.models import Connection, Dataset, OutputSet, User
from scoring.models.runs.generation import MAX_TRIALS

MONO: Final = {"class": "mono", "spellcheck": "false"}
#: The fields of parts of a recipe that have another name here.
FIELDS: Final = {"parameters": "temperature"}


def _number(field: type[forms.IntegerField], name: str, help_text: str = "") -> forms.Field:
    limits = output_recipe.PARAMETERS[name]
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
    model = NameField(
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
    series = NameField(
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
        if self.connections:
            self.offer("connection", Connection.objects.filter(team=dataset.team_id).for_list())
            self.initial["connection"] = self.connections[0].uuid
        else:  # the environment's endpoint needs no choice
            del self.fields["connection"]
        self.fields["top_p"].label = "Top p"
        self.fields["max_tokens"].label = "Most tokens"
        self.fields["name"].help_text = "Left empty, the series."
        self.initial.setdefault("template", "{{ input }}")

    def models(self) -> Iterator[tuple[str, str]]:
        """Each model the connections offer, with the connection's name."""
        for connection in self.connections:
            for offered in connection.offered:
                yield offered["name"], connection.name

    def clean_system(self) -> str:
        return _newlines(self.cleaned_data["system"])

    def clean_template(self) -> str:
        """Checked here too, since there is no recipe to check before a model is chosen."""
        template = _newlines(self.cleaned_data["template"])
        if problem := PromptTemplate(template).problem():
            raise forms.ValidationError(f"{problem[:1].upper()}{problem[1:]}.")
        return template

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if recipe := self.recipe():
            try:
                output_recipe.check_recipe(recipe)
            except ConfigError as error:
                for name, texts in error.errors.items():
                    for text in texts:
                        self.add_error(FIELDS.get(name, name), f"{text[:1].upper()}{text[1:]}.")
        return cleaned

    def recipe(self) -> OutputRecipe | None:
        """What the fields say so far; None where the model, prompt or connection is missing."""
        cleaned = self.cleaned_data
        required = {"model", "template", "trials", *({"connection"} & set(self.fields))}
        if not all(cleaned.get(name) for name in required):
            return None
        parameters = {name: cleaned.get(name) for name in output_recipe.PARAMETERS}
        return OutputRecipe(
            model=cleaned["model"],
            template=cleaned["template"],
            system=cleaned.get("system", ""),
            connection=cleaned.get("connection"),
            parameters={name: value for name, value in parameters.items() if value is not None},
            trials=cleaned["trials"],
        )

    def output_set(self, by: User) -> OutputSet:
        """The set that the run is going to fill."""
        recipe, version = self.recipe(), self.dataset.latest
        if recipe is None or version is None:
            raise ValueError("the form must be valid")
        series = {"series": self.cleaned_data["series"]} if self.cleaned_data["series"] else {}
        return create_output_set(version, recipe, by=by, **series)


def _newlines(text: str) -> str:
    """The text with LF line ends; a form sends CR LF."""
    return text.replace("\r\n", "\n")
