"""Forms for connections: an endpoint, its key, its limits, and the models it offers."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from scoring.core.judge.guard import RefusedError, check_url
from scoring.models import Connection, Team, User
from scoring.models.connection import MAX_MODELS, MAX_PRICE, PRICES

EMPTY_ROWS = 3
MODELS = "models"

MONO = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}


def _price(label: str) -> forms.FloatField:
    attrs = {"step": "any", "aria-label": label}
    widget = forms.NumberInput(attrs=attrs)
    return forms.FloatField(
        label=label, required=False, min_value=0, max_value=MAX_PRICE, widget=widget
    )


class ModelRow(forms.Form):
    """One model. A row whose name is emptied is left out."""

    use_required_attribute = False

    name = forms.CharField(
        label="Model",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs=MONO | {"aria-label": "Model"}),
    )
    usd_per_million_in = _price("US$ per million tokens in")
    usd_per_million_out = _price("US$ per million tokens out")

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        has_price = any(given.get(price) is not None for price in PRICES)
        if has_price and not given.get("name") and not self.initial:
            self.add_error("name", "Name the model this price is of.")
        return given


ModelRows = forms.formset_factory(ModelRow, extra=EMPTY_ROWS, max_num=MAX_MODELS, validate_max=True)


class ConnectionForm(forms.Form):
    """A connection, new or changed. What is typed as a key is never shown again.

    `host_to_list` is the entry of EVALSITE_MODEL_HOSTS that would let a refused URL through.
    """

    name = forms.CharField(
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
        self.team, self.connection, self.host_to_list = team, connection, ""
        super().__init__(data, initial=_values(connection) if connection else None)
        rows = connection.offered if connection else []
        self.models = ModelRows(data, prefix=MODELS, initial=rows)
        self.fields["key"].help_text = _key_help(connection)
        if connection:
            del self.fields["name"]
        if not (connection and connection.sealed_key):
            del self.fields["forget_key"]

    @property
    def has_listed_hosts(self) -> bool:
        return bool(settings.EVALSITE_MODEL_HOSTS)

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        try:
            check_url(url.rstrip("/"), settings.EVALSITE_MODEL_HOSTS)
        except RefusedError as refused:
            self.host_to_list = refused.allow
            raise forms.ValidationError(refused.text) from None
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
        """The connection; None where it could not be saved, for a reason that is now shown."""
        try:
            with transaction.atomic():
                return self._saved(by)
        except ValidationError as fault:
            for field, texts in fault.message_dict.items():
                self.add_error(field if field in self.fields else None, texts)
        except IntegrityError:
            self.add_error("name", "The team has just got a connection of that name.")
        return None

    def _saved(self, by: User) -> Connection:
        given = {name: self.cleaned_data[name] for name in ("timeout_seconds", "concurrency")}
        given["base_url"] = self.cleaned_data["base_url"]
        given["offered"] = [row.cleaned_data for row in self.models if _name_of(row)]
        if self.connection is None:
            name, key = self.cleaned_data["name"], self.cleaned_data["key"]
            return Connection.objects.define(self.team, name, key=key, by=by, **given)
        self.connection.change(key=self._new_key(), by=by, **given)
        return self.connection

    def _new_key(self) -> str | None:
        """None keeps the stored key, an empty text drops it."""
        return self.cleaned_data["key"] or ("" if self.cleaned_data.get("forget_key") else None)


def _name_of(row: forms.Form) -> str:
    return str(row.cleaned_data.get("name") or "")


def _values(connection: Connection) -> dict[str, Any]:
    names = ("base_url", "timeout_seconds", "concurrency")
    return {name: getattr(connection, name) for name in names}


def _key_help(connection: Connection | None) -> str:
    if connection is None:
        return "Stored encrypted and never shown again. A server of your own may need none."
    if not connection.sealed_key:
        return "None is stored. It is stored encrypted and never shown again."
    return f"Stored: {connection.key_shown}. Left empty, it stays; a new base URL needs it again."
