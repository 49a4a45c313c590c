"""The query of a gate: conditions, the baseline and what they are checked by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from django import forms
from django.http import QueryDict

from scoring.engine.compare.gates import (
    DEFAULT_DROP,
    DEFAULT_UNJUDGED,
    NO_REGRESSION,
    Gate,
    GateError,
    GateLimits,
    check_scorers,
    parse_gate,
)
from scoring.models import Run

AUTO: Final = "auto"
MAX_GATES: Final = 20  # gates
MAX_GATE: Final = 200  # characters


class ShareField(forms.FloatField):
    """A share, which may be left out."""

    def __init__(self, default: float, lowest: float, *, label: str, help_text: str) -> None:
        super().__init__(
            required=False, min_value=lowest, max_value=1, label=label, help_text=help_text
        )
        self.default = default
        self.widget.attrs |= {"step": "any", "placeholder": f"{default:g}"}

    def clean(self, value: object) -> float:
        found = super().clean(value)
        return self.default if found is None else float(found)


class GateForm(forms.Form):
    """Gates as the address repeats them; empty ones are left out."""

    gate = forms.Field(required=False, label="Gates")
    baseline = forms.ChoiceField(required=False)
    max_errors = ShareField(
        DEFAULT_UNJUDGED,
        0,
        label="Maximum share without a verdict",
        help_text="Above this share of errors, skips and missing outputs, a gate is undecided.",
    )
    min_drop = ShareField(
        DEFAULT_DROP,
        0.001,
        label="Minimum drop to detect",
        help_text=f"{NO_REGRESSION} is undecided unless it could detect a drop of this size.",
    )

    def __init__(
        self, query: QueryDict, *, run: Run, runs: Sequence[Run], auto: Run | None
    ) -> None:
        super().__init__(query if "gate" in query else None, initial={"baseline": AUTO})
        self.run = run
        name = auto.name if auto else "none: the series has no earlier finished run"
        others = [(str(each.uuid), each.name) for each in runs if each != run]
        choices = [(AUTO, f"Automatic ({name})"), *others]
        self.fields["baseline"].choices = choices  # type: ignore[attr-defined]

    @cached_property
    def texts(self) -> list[str]:
        """The gates as they were written."""
        sent = self.data.getlist("gate") if self.is_bound else []  # type: ignore[attr-defined]
        return [text.strip() for text in sent if text.strip()]

    @property
    def rows(self) -> list[str]:
        """What the inputs hold, of which the last is empty."""
        return [*self.texts[:MAX_GATES], ""] if self.texts else ["", ""]

    @property
    def has_limits(self) -> bool:
        """Whether the address names a limit."""
        return any(self.data.get(name) for name in ("max_errors", "min_drop"))

    @property
    def suggestions(self) -> list[str]:
        """Gates that suit the run."""
        scorers = self.run.scorers.values_list("name", "threshold")
        means = [f"mean.{name}>={threshold:g}" for name, threshold in scorers]
        return ["pass_rate>=0.9", "regressions<=0", NO_REGRESSION, *means]

    @property
    def limits(self) -> GateLimits:
        return GateLimits(self.cleaned_data["max_errors"], self.cleaned_data["min_drop"])

    def clean_gate(self) -> list[Gate]:
        if not self.texts:
            raise forms.ValidationError("Enter a gate.")
        if len(self.texts) > MAX_GATES:
            raise forms.ValidationError(
                f"At most {MAX_GATES} gates; these are {len(self.texts):,}."
            )
        if longest := next((text for text in self.texts if len(text) > MAX_GATE), ""):
            raise forms.ValidationError(
                f"A gate has at most {MAX_GATE} characters: {longest[:40]}…"
            )
        try:
            gates = [parse_gate(text) for text in self.texts]
            check_scorers(gates, self.run.scorers.values_list("name", flat=True), "the run")
        except GateError as fault:
            text = str(fault)
            raise forms.ValidationError(f"{text[0].upper()}{text[1:]}.") from None
        return gates
