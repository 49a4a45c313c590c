"""The form that proposes another expected value of a case, folded on the pages of its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms

from evalsite.pages.drafts.forms import (
    JSON,
    KINDS,
    NOTHING,
    TEXT,
    expected_kind,
    is_alike_text,
    parse_json,
)
from scoring.core.files import MISSING
from scoring.core.textdiff.text_layout import display_text
from scoring.models import Case
from scoring.models.reviews.correction import MAX_REASON

MAX_FOLDED: Final = 20_000  # characters of an expected value that pages carry in a folded form


class CorrectionForm(forms.Form):
    """Another expected value of a case, typed as in the form of a draft."""

    expected = forms.CharField(
        label="New expected value",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    kind = forms.ChoiceField(choices=list(KINDS.items()), label="It is")
    why = forms.CharField(
        label="Reason",
        max_length=MAX_REASON,
        required=False,
        widget=forms.Textarea(attrs={"rows": 1}),
    )

    def __init__(self, sent: Mapping[str, Any] | None = None, *, case: Case) -> None:
        kind = expected_kind(case)
        text = display_text(case.expected) if case.has_expected else ""
        initial = {"expected": text, "kind": TEXT if kind == NOTHING else kind}
        super().__init__(sent, initial=initial, auto_id="correction-%s")

    def clean(self) -> dict[str, Any]:
        """`value` is the typed value, or MISSING; a browser changes line ends, which is no
        correction.
        """
        cleaned = super().clean() or self.cleaned_data
        sent = str(cleaned.get("expected", "")).replace("\r\n", "\n")
        initial = str(self.initial["expected"])
        text = initial if is_alike_text(initial, sent) else sent
        if cleaned.get("kind") == NOTHING:
            if text not in ("", initial):
                text = "Something is written here. Say whether a text or JSON."
                self.add_error("expected", text)
            cleaned["value"] = MISSING
            return cleaned
        try:
            cleaned["value"] = parse_json(text) if cleaned.get("kind") == JSON else text
        except forms.ValidationError as fault:
            self.add_error("expected", fault)
        return cleaned


def folded_form(case: Case) -> CorrectionForm | None:
    """The form for a page that shows more than it; None for an expected value that is too long."""
    is_long = len(case.expected_json or "") > MAX_FOLDED
    return None if is_long else CorrectionForm(case=case)
