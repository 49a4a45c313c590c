"""Forms about a judge: what to compare it with, and how many outputs to ask it about again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.db import transaction

from evalsite.templatetags.look import count, dollars
from scoring.engine import errands, noise
from scoring.engine.estimate import Estimate
from scoring.engine.judge_quality import JudgeQuality, judge_quality, label_places, other_runs
from scoring.models import AuditEntry, Errand, ErrandKind, Run, RunScorer, User

SIZES: Final = (20, 50, 100, 200, 500)


class RunField(forms.ModelChoiceField[Run]):
    def label_from_instance(self, run: Run) -> str:
        return f"{run.name} · {run.created_at:%-d %b %Y}"


class QualityForm(forms.Form):
    """The place of people's labels, and the run that judged the other order.

    Unless told otherwise the labels are those at the likeliest place that has any in the judge's
    own words.
    """

    label = forms.ChoiceField(required=False, help_text="Where people's labels lie in a case.")
    swapped = RunField(
        Run.objects.none(),
        required=False,
        to_field_name="uuid",
        label="Run in the other order",
        empty_label="none",
        help_text="The same judge on outputs with the two things in each other's place.",
    )

    def __init__(self, *args: Any, scorer: RunScorer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._scorer = scorer
        places = label_places(scorer)
        paths = [place.path for place in places]
        self._likeliest = next((place.path for place in places if place.fitting), "")
        label, swapped = self.fields["label"], self.fields["swapped"]
        label.choices = [("", "choose"), *zip(paths, paths, strict=True)]  # type: ignore[attr-defined]
        swapped.queryset = other_runs(scorer)  # type: ignore[attr-defined]
        self.initial["label"] = self._likeliest
        for field in (label, swapped):
            field.widget.attrs["data-submits"] = True

    def quality(self) -> JudgeQuality | None:
        """None where no labels are chosen, or nothing that can be used."""
        if self.is_bound and not self.is_valid():
            return None
        chosen: dict[str, Any] = {"label": self._likeliest, "swapped": None}
        if self.is_bound:
            chosen = self.cleaned_data
        label, swapped = chosen["label"], self._judge_of(chosen["swapped"])
        return judge_quality(self._scorer, label, swapped) if label else None

    def _judge_of(self, run: Run | None) -> RunScorer | None:
        if run is None:
            return None
        same = run.scorers.filter(version=self._scorer.version_id)
        return same.select_related("run", "version").get()


class NoiseForm(forms.Form):
    """How many of a run's outputs to ask the judge about once more; `estimate` is of `basis`."""

    sample = forms.TypedChoiceField(coerce=int, label="Outputs to judge again")

    def __init__(
        self, *args: Any, scorer: RunScorer, scored: int, estimate: Estimate | None = None
    ) -> None:
        super().__init__(*args)
        self._scorer = scorer
        sizes = sizes_of(scored)
        basis = min(noise.SAMPLE, scored)
        names = [_name(size, size / basis, estimate) if estimate else str(size) for size in sizes]
        self.fields["sample"].choices = list(zip(sizes, names, strict=True))  # type: ignore[attr-defined]
        self.initial["sample"] = max(size for size in sizes if size <= max(basis, sizes[0]))

    def save(self, by: User) -> Errand:
        """What the worker is asked to do; it costs money, so it is written down who wanted it."""
        scorer, sample = self._scorer, self.cleaned_data["sample"]
        asked = {"run": str(scorer.run.uuid), "place": scorer.position, "sample": sample}
        team = scorer.run.team
        with transaction.atomic():
            AuditEntry.objects.record(team, by, "judge.checked", scorer.version, new=asked)
            return errands.ask(ErrandKind.CHECK_NOISE, team, by, asked)


def sizes_of(scored: int) -> Sequence[int]:
    """The sample sizes to choose from; the last one takes all outputs where they are few."""
    most = min(scored, noise.MAX_SAMPLE)
    return [*(size for size in SIZES if size < most), most]


def _name(size: int, factor: float, estimate: Estimate) -> str:
    calls = round(factor * estimate.calls)
    cost = estimate.cost_usd
    price = "price not known" if cost is None else f"about {dollars(factor * cost)}"
    return f"{count(size)} · {count(calls)} call{'' if calls == 1 else 's'}, {price}"
