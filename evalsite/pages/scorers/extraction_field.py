"""The form field of how an answer is found inside a text: what to look for, and its argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evalsite.pages.scorers.model_fields import submitted_values
from scoring.core.contract import ConfigError
from scoring.core.scorers.extraction import WITH_ARGUMENT, read_extraction

KINDS: Final[Mapping[str, str]] = {
    "": "None (all of it)",
    "last_number": "Last number",
    "after": "Text after a marker",
    "pattern": "Capture group of a pattern",
    "json": "JSON in prose or a fenced block",
    "path": "Value at a path",
}
#: The argument that goes without a kind: a person who types one has forgotten to say what it is.
_UNKNOWN: Final = "Select whether this is a marker, a pattern or a path."


class ExtractionInput(forms.Widget):
    """A choice, with a text for the choices that need one."""

    use_fieldset = True

    def render(
        self,
        name: str,
        value: Any,
        attrs: Any = None,
        renderer: Any = None,  # noqa: ARG002  Django's signature
    ) -> SafeString:
        kind, argument = (*(value or ()), "", "")[:2]
        options = format_html_join(
            "",
            '<option value="{}"{}>{}</option>',
            ((key, " selected" if key == kind else "", label) for key, label in KINDS.items()),
        )
        return format_html(
            '<div class="row extraction"><select name="{0}" id="{1}" aria-label="Look for">'
            '{2}</select><input type="text" class="mono" name="{0}-text" id="{1}-text"'
            ' value="{3}" spellcheck="false" autocomplete="off" placeholder=" "'
            ' aria-label="What to find it by"></div>',
            name,
            str((attrs or {}).get("id", "")),
            options,
            argument,
        )

    def value_from_datadict(self, data: Any, _: Any, name: str) -> list[str]:
        kind, argument = (
            (*submitted_values(data, field), "")[0] for field in (name, f"{name}-text")
        )
        return [kind, argument]


class ExtractionField(forms.Field):
    """A setting such as `"last_number"` or `{"after": "A:"}`; None for all of the text."""

    widget = ExtractionInput

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return next(iter(value.items()), ("", ""))
        return [value, ""] if isinstance(value, str) else value

    def to_python(self, value: Any) -> Any:
        kind, argument = value or ("", "")
        if not kind:
            if argument.strip():
                raise forms.ValidationError(_UNKNOWN)
            return None
        setting = {kind: argument} if kind in WITH_ARGUMENT else kind
        try:
            read_extraction("extract", setting)
        except ConfigError as refused:
            texts = refused.errors["extract"]
            raise forms.ValidationError([text[0].upper() + text[1:] for text in texts]) from None
        return setting
