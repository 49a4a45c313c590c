"""Forms for connections: an endpoint, its key, its limits, and the models it offers."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from evalsite.pages.web.fields import MONO, HostForm, NameField
from scoring.models import Connection, Team, User
from scoring.models.scorers.connection import MAX_MODELS, MAX_PRICE, PRICES

EMPTY_ROWS = 3
MODELS = "models"


def _price_field(label: str) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "any", "aria-label": label})
    return forms.FloatField(
        label=label, required=False, min_value=0, max_value=MAX_PRICE, widget=widget
    )


class ModelForm(forms.Form):
    """One model of the connection; without a name it is removed."""

    use_required_attribute = False

    name = NameField(
        label="Model",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs=MONO | {"aria-label": "Model"}),
    )
    usd_per_million_in = _price_field("US$ per million tokens in")
    usd_per_million_out = _price_field("US$ per million tokens out")

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        has_price = any(cleaned.get(price) is not None for price in PRICES)
        if has_price and not cleaned.get("name") and not self.initial:
            self.add_error("name", "Name the model this price is of.")
        return cleaned


ModelFormSet = forms.formset_factory(
    ModelForm, extra=EMPTY_ROWS, max_num=MAX_MODELS, validate_max=True
)


class ConnectionForm(HostForm):
    """A connection, new or changed. A key that was typed is never shown again."""

    hosts_setting = "EVALSITE_MODEL_HOSTS"

    name = NameField(
        max_length=100, help_text="Scorers name the connection by it, so it cannot change later."
    )
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        widget=forms.TextInput(attrs=MONO | {"inputmode": "url"}),
        help_text="Where an OpenAI-compatible API begins, mostly with `/v1` at its end.",
    )
    key = forms.CharField(
        label="API key",
        required=False,
        max_length=2000,
        widget=forms.PasswordInput(attrs=MONO | {"autocomplete": "new-password"}),
    )
    forget_key = forms.BooleanField(label="Remove the stored key", required=False)
    timeout_seconds = forms.IntegerField(
        label="Time limit, in seconds",
        initial=60,
        min_value=1,
        max_value=600,
        help_text="A call that takes longer is given up.",
    )
    concurrency = forms.IntegerField(
        label="Calls at once",
        initial=8,
        min_value=1,
        max_value=256,
        help_text="Fewer are made when the endpoint asks for it.",
    )

    def __init__(
        self, data: Any = None, *, team: Team, connection: Connection | None = None
    ) -> None:
        self.team, self.connection = team, connection
        names = ("base_url", "timeout_seconds", "concurrency") if connection else ()
        super().__init__(data, initial={name: getattr(connection, name) for name in names})
        rows = connection.offered if connection else []
        self.models = ModelFormSet(data, prefix=MODELS, initial=rows)
        self.fields["key"].help_text = _key_help(connection)
        if connection:
            del self.fields["name"]
        if not (connection and connection.encrypted_key):
            del self.fields["forget_key"]

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        self.check_host(url.rstrip("/"))
        return url

    def clean(self) -> dict[str, Any]:
        if not self.models.is_valid():
            self.add_error(None, "One of the models cannot be saved; it says why below.")
        return self.cleaned_data

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Connection.objects.filter(team=self.team, name=name).exists():
            raise forms.ValidationError(f"The team has one called {name} already.")
        return name

    def save(self, by: User) -> Connection | None:
        """Save the connection; None, with the reason among the errors, if it cannot be saved."""
        try:
            with transaction.atomic():
                return self._save(by)
        except ValidationError as error:
            for field, texts in error.message_dict.items():
                self.add_error(field if field in self.fields else None, texts)
        except IntegrityError:
            self.add_error("name", "The team has just got a connection of that name.")
        return None

    def _save(self, by: User) -> Connection:
        cleaned = self.cleaned_data
        names = ("base_url", "timeout_seconds", "concurrency")
        values = {name: cleaned[name] for name in names}
        models = (form.cleaned_data for form in self.models)
        values["offered"] = [model for model in models if model.get("name")]
        if self.connection is None:
            name, key = cleaned["name"], cleaned["key"]
            return Connection.objects.define(self.team, name, key=key, by=by, **values)
        # None keeps the stored key, an empty text removes it.
        key = cleaned["key"] or ("" if cleaned.get("forget_key") else None)
        self.connection.change(key=key, by=by, **values)
        return self.connection


def _key_help(connection: Connection | None) -> str:
    if connection is None:
        return "Stored encrypted and never shown again. A server of your own may need none."
    if not connection.encrypted_key:
        return "None is stored. It is stored encrypted and never shown again."
    return f"Stored: {connection.key_shown}. Left empty, it stays; a new base URL needs it again."
