"""The form of waivers: why, until when, and under whom cases may go on failing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone

from scoring.models import Role, Team, User
from scoring.models.reviews.waiver import MAX_REASON, Terms

DEFAULT_DAYS: Final = 30  # that a waiver holds


class RequiredSelect(forms.Select):
    """Without an empty choice, which a plain one looks for by a query of its own."""

    def use_required_attribute(self, initial: Any) -> bool:  # noqa: ARG002
        return True


class WaiverForm(forms.Form):
    """Asked for where cases are waived; the owner answers for the waiver until its last day."""

    reason = forms.CharField(max_length=MAX_REASON, widget=forms.Textarea(attrs={"rows": 2}))
    until = forms.DateField(
        label="Last day",
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        help_text="From the next day on the cases count as regressions again.",
    )
    owner = forms.ModelChoiceField(User.objects.none(), empty_label=None, widget=RequiredSelect)

    def __init__(self, sent: Any = None, *, team: Team, user: User) -> None:
        today = timezone.localdate()
        initial = {"until": today + timedelta(days=DEFAULT_DAYS), "owner": user}
        super().__init__(sent, initial=initial)
        owners = User.objects.filter(
            memberships__team=team, memberships__role__gte=Role.REVIEWER, is_active=True
        )
        self.fields["owner"].queryset = owners.order_by("name", "email")  # type: ignore[attr-defined]
        self.fields["until"].widget.attrs["min"] = today.isoformat()

    def terms(self) -> Terms:
        cleaned = self.cleaned_data
        return Terms(cleaned["until"], cleaned["reason"], cleaned["owner"])

    def clean_until(self) -> Any:
        until = self.cleaned_data["until"]
        if until < timezone.localdate():
            raise forms.ValidationError("This day is over: choose today or a later day.")
        return until
