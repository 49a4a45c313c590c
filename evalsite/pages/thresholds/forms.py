"""The forms of thresholds: what to preview, and the change itself, of one scorer or of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import cached_property

from scoring.core.json_text import to_text
from scoring.engine.thresholds.flips import FlipCursor
from scoring.engine.thresholds.proposals import change_thresholds, propose
from scoring.models import Scorer, Suite, SuiteEntry, ThresholdChange, ThresholdProposal, User
from scoring.models.scorers.suite import ThresholdStep
from scoring.models.scorers.threshold_change import REASON_NEEDED, StaleThresholdError

UPDATED: Final = "The preview is updated; your change was not made."
NEW: Final = "threshold-"  # before a scorer's id: the new threshold
SEEN: Final = "old-"  # and the one that the user saw


class ThresholdField(forms.FloatField):
    """From 0 to 1."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"step": "any", "class": "short", "autocomplete": "off"}
        kwargs.setdefault("widget", forms.NumberInput(attrs=attrs))
        super().__init__(min_value=0, max_value=1, **kwargs)


class CursorField(forms.Field):
    """A place in a list of flips; None for a text that is none."""

    def to_python(self, value: Any) -> FlipCursor | None:
        return FlipCursor.parse(str(value)) if value else None


class PreviewForm(forms.Form):
    """A new threshold, the run whose flips are listed, and the page of the list."""

    threshold = ThresholdField(required=False, label="New threshold")
    run = forms.UUIDField(required=False, widget=forms.HiddenInput)
    after = CursorField(required=False, widget=forms.HiddenInput)
    before = CursorField(required=False, widget=forms.HiddenInput)


class SuitePreviewForm(forms.Form):
    """New thresholds for a suite's scorers, of which those left empty stay, and a run."""

    run = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, entries: Sequence[SuiteEntry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries
        for entry in entries:
            field = ThresholdField(required=False, label=f"New threshold of {entry.scorer.name}")
            attrs = {"placeholder": to_text(entry.threshold), "aria-label": field.label}
            field.widget.attrs |= attrs
            self.fields[f"{NEW}{entry.scorer.uuid}"] = field

    def field_of(self, scorer: Scorer) -> forms.BoundField:
        return self[f"{NEW}{scorer.uuid}"]

    @cached_property
    def new(self) -> dict[int, float]:
        """The thresholds that differ from those of the suite, by the scorers' ids."""
        wanted = {e: self.cleaned_data.get(f"{NEW}{e.scorer.uuid}") for e in self.entries}
        return {
            entry.scorer_id: value
            for entry, value in wanted.items()
            if value is not None and value != entry.threshold
        }


class _ReasonedForm(forms.Form):
    """Thresholds in place of those that the user saw, and why: changed, or proposed.

    An administrator changes them, an editor proposes them.
    """

    reason = forms.CharField(
        required=False,
        help_text="Kept in the history of the suite, the scorer and its runs.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, suite: Suite | None, draft: str, **kwargs: Any) -> None:
        self.suite = suite
        super().__init__(*args, **kwargs)
        typed = {"data-kept": f"threshold {draft}", "data-sends": "change-threshold"}
        self.fields["reason"].widget.attrs |= typed

    @property
    def steps(self) -> list[ThresholdStep]:
        raise NotImplementedError

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"].strip()
        if not reason:
            raise forms.ValidationError(REASON_NEEDED)
        return reason

    def save(self, by: User) -> list[ThresholdChange]:
        """The changes; none, with an error of the form, where they are refused.

        Raises StaleThresholdError where a scorer has left the suite.
        """
        try:
            return change_thresholds(
                self.suite, self.steps, by=by, reason=self.cleaned_data["reason"]
            )
        except StaleThresholdError as stale:
            if stale.current is None:
                raise
            self.add_error(None, forms.ValidationError(f"{stale.what} {UPDATED}", "stale"))
        except ValidationError as refused:
            self.add_error(None, refused.messages)
        return []

    def propose(self, by: User) -> ThresholdProposal | None:
        """None, with an error of the form, for thresholds that stand already."""
        team, reason = self.steps[0].scorer.team, self.cleaned_data["reason"]
        try:
            return propose(team, self.suite, self.steps, by=by, rationale=reason)
        except ValidationError as refused:
            self.add_error(None, refused.messages)
        return None


class ChangeForm(_ReasonedForm):
    """A previewed threshold in place of the one it was compared with, and why."""

    threshold = ThresholdField(widget=forms.HiddenInput)
    old = forms.FloatField(widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, subject: SuiteEntry | Scorer, person: User, **kwargs: Any
    ) -> None:
        self.scorer = subject.scorer if isinstance(subject, SuiteEntry) else subject
        suite = subject.suite if isinstance(subject, SuiteEntry) else None
        super().__init__(*args, suite=suite, draft=f"{person.pk} {subject}", **kwargs)

    @property
    def steps(self) -> list[ThresholdStep]:
        sent = self.cleaned_data
        return [ThresholdStep(self.scorer, sent["old"], sent["threshold"])]


class SuiteChangeForm(_ReasonedForm):
    """Several thresholds of a suite in place of those they were compared with, and why."""

    def __init__(
        self, *args: Any, suite: Suite, entries: Sequence[SuiteEntry], person: User, **kwargs: Any
    ) -> None:
        super().__init__(*args, suite=suite, draft=f"{person.pk} {suite.pk} several", **kwargs)
        self.entries = entries
        for entry in entries:
            self.fields[f"{NEW}{entry.scorer.uuid}"] = ThresholdField(required=False)
            self.fields[f"{SEEN}{entry.scorer.uuid}"] = forms.FloatField(required=False)

    @property
    def steps(self) -> list[ThresholdStep]:
        return list(self._steps())

    def _steps(self) -> Iterator[ThresholdStep]:
        for entry in self.entries:
            uid, sent = entry.scorer.uuid, self.cleaned_data
            old, new = sent.get(f"{SEEN}{uid}"), sent.get(f"{NEW}{uid}")
            if old is not None and new is not None and old != new:
                yield ThresholdStep(entry.scorer, old, new)

    def clean(self) -> dict[str, Any]:
        if not self.errors and not self.steps:
            raise forms.ValidationError("Enter another threshold for at least one scorer.")
        return self.cleaned_data
