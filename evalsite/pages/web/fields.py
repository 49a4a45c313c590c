"""Form fields that several pages share."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.conf import settings

from scoring.core.llm.ssrf_guard import RefusedError, check_url
from scoring.models.base import validate_name
from scoring.models.case_paging import CasePosition

MONO: Final = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}


def whole_number(text: str, max_digits: int = 9) -> int | None:
    """The number that a text of digits holds; None for any other text, or one that is longer."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= max_digits
    return int(text) if is_number else None


def code_area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})


class NameField(forms.CharField):
    """What people call an object: one line."""

    default_validators = [validate_name]


class LongTextField(forms.CharField):
    """A text of several lines, as it was typed: a form sends line ends as CR LF."""

    def __init__(self, **options: Any) -> None:
        super().__init__(strip=False, widget=code_area(8), **options)

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


class HostForm(forms.Form):
    """A form with a URL that the site will call, which must not lie inside its own network.

    The hosts of its network that may be called are listed in the setting named `hosts_setting`;
    `host_to_list` is the entry there that would allow the URL just refused, "" without one.
    """

    hosts_setting: str
    host_to_list = ""

    @property
    def has_listed_hosts(self) -> bool:
        return bool(getattr(settings, self.hosts_setting))

    def check_host(self, url: str, *, is_base: bool = True) -> None:
        """Raise ValidationError if the site must not call the URL."""
        try:
            check_url(url, getattr(settings, self.hosts_setting), is_base=is_base)
        except RefusedError as refused:
            self.host_to_list = refused.allow
            raise forms.ValidationError(refused.text) from None


class PositionField(forms.Field):
    """The position of a case as addresses write it: `173`, or `173.2` for a later trial."""

    def to_python(self, value: Any) -> CasePosition | None:
        parts = str(value or "").split(".")
        if parts == [""]:
            return None
        numbers = [number for part in parts if (number := whole_number(part)) is not None]
        if len(parts) > 2 or len(numbers) < len(parts):
            raise forms.ValidationError("This is no place in the table.")
        return CasePosition(*numbers)
