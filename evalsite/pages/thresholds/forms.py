"""The forms of a threshold: what to preview, and the change itself."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from scoring.core.json_text import to_text
from scoring.engine.thresholds.flips import FlipCursor
from scoring.models import Scorer, SuiteEntry, ThresholdChange, User
from scoring.models.scorers.threshold_change import REASON_NEEDED, UNIT, StaleThresholdError

STALE: Final = "Another user changed the threshold to {} in the meantime. The preview is updated."


class CursorField(forms.Field):
    """A place in a list of flips; None for a text that is none."""

    def to_python(self, value: Any) -> FlipCursor | None:
        return FlipCursor.parse(str(value)) if value else None


class PreviewForm(forms.Form):
    """A new threshold, the run whose flips are listed, and the page of the list."""

    threshold = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        validators=UNIT,
        label="New threshold",
        widget=forms.NumberInput(attrs={"step": "any", "class": "short", "autocomplete": "off"}),
    )
    run = forms.UUIDField(required=False, widget=forms.HiddenInput)
    after = CursorField(required=False, widget=forms.HiddenInput)
    before = CursorField(required=False, widget=forms.HiddenInput)


class ChangeForm(forms.Form):
    """A previewed threshold in place of the one it was compared with, and why."""

    threshold = forms.FloatField(
        min_value=0, max_value=1, validators=UNIT, widget=forms.HiddenInput
    )
    old = forms.FloatField(widget=forms.HiddenInput)
    reason = forms.CharField(
        required=False,
        help_text="Kept in the history of the suite, the scorer and its runs.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(
        self, *args: Any, subject: SuiteEntry | Scorer, person: User, **kwargs: Any
    ) -> None:
        self.subject = subject
        super().__init__(*args, **kwargs)
        typed = {"data-kept": f"threshold {person.pk} {subject}", "data-sends": "change-threshold"}
        self.fields["reason"].widget.attrs |= typed

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"].strip()
        if not reason:
            raise forms.ValidationError(REASON_NEEDED)
        return reason

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("old") != self.subject.threshold and "old" in self.cleaned_data:
            raise forms.ValidationError(STALE.format(to_text(self.subject.threshold)), "stale")
        return self.cleaned_data

    def save(self, by: User) -> ThresholdChange | None:
        """The change; None, with an error of the form, if the suite refuses it.

        Raises StaleThresholdError where the scorer has left the suite.
        """
        sent = self.cleaned_data
        change, seen = self.subject.change_threshold, sent["old"]
        try:
            return change(sent["threshold"], by=by, reason=sent["reason"], seen=seen)
        except StaleThresholdError as stale:
            if stale.current is None:
                raise
            text = STALE.format(to_text(stale.current))
            self.add_error(None, forms.ValidationError(text, "stale"))
        except ValidationError as refused:
            self.add_error(None, refused.messages)
        return None
