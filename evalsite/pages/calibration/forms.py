"""The forms of a judge: what to compare it with, and how many outputs to judge again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.db import transaction

from evalsite.templatetags.formatting import count, dollars
from scoring.core.stats.gate_fitness import USUAL_KAPPA
from scoring.engine.estimates.scoring_estimate import CostEstimate
from scoring.engine.jobs import job_queue
from scoring.engine.judges import variance
from scoring.engine.judges.quality import JudgeQuality, judge_quality, label_paths, other_runs
from scoring.models import AuditEntry, Job, JobKind, Run, RunScorer, User

SIZES: Final = (20, 50, 100, 200, 500)


class RunField(forms.ModelChoiceField[Run]):
    def label_from_instance(self, run: Run) -> str:
        return f"{run.name} · {run.created_at:%-d %b %Y}"


class QualityForm(forms.Form):
    """The path of people's labels, and the run that judged the other order.

    The initial path is the likeliest one that holds any of the judge's own labels.
    """

    label = forms.ChoiceField(required=False, help_text="Where a case holds people's labels.")
    swapped = RunField(
        Run.objects.none(),
        required=False,
        to_field_name="uuid",
        label="Run with swapped order",
        empty_label="none",
        help_text="The same judge on outputs with the two options swapped.",
    )

    def __init__(self, *args: Any, scorer: RunScorer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._scorer = scorer
        places = label_paths(scorer)
        paths = [place.path for place in places]
        self._likeliest = next((place.path for place in places if place.fitting), "")
        label, swapped = self.fields["label"], self.fields["swapped"]
        label.choices = [("", "choose"), *zip(paths, paths, strict=True)]  # type: ignore[attr-defined]
        swapped.queryset = other_runs(scorer)  # type: ignore[attr-defined]
        self.initial["label"] = self._likeliest
        for field in (label, swapped):
            field.widget.attrs["data-submits"] = True

    def quality(self) -> JudgeQuality | None:
        """The judge's quality by the chosen labels; None without any, or if the form is invalid."""
        label, run = self._likeliest, None
        if self.is_bound:
            if not self.is_valid():
                return None
            label, run = self.cleaned_data["label"], self.cleaned_data["swapped"]
        swapped = self._judge_of(run)
        return judge_quality(self._scorer, label, swapped) if label else None

    def _judge_of(self, run: Run | None) -> RunScorer | None:
        if run is None:
            return None
        same = run.scorers.filter(version=self._scorer.version_id)
        return same.select_related("run", "version").get()


class VarianceForm(forms.Form):
    """How many of a run's outputs to judge again; `estimate` is that of a check of usual size."""

    sample = forms.TypedChoiceField(coerce=int, label="Outputs to judge again")

    def __init__(
        self, *args: Any, scorer: RunScorer, scored: int, estimate: CostEstimate | None = None
    ) -> None:
        super().__init__(*args)
        self._scorer = scorer
        sizes = sample_sizes(scored)
        basis = min(variance.SAMPLE, scored)
        names = [_label(size, size / basis, estimate) if estimate else str(size) for size in sizes]
        self.fields["sample"].choices = list(zip(sizes, names, strict=True))  # type: ignore[attr-defined]
        self.initial["sample"] = max(size for size in sizes if size <= max(basis, sizes[0]))

    def save(self, by: User) -> Job:
        """Enqueue the check, and record who requested it: it costs money."""
        scorer, sample = self._scorer, self.cleaned_data["sample"]
        payload = {"run": str(scorer.run.uuid), "place": scorer.position, "sample": sample}
        team = scorer.run.team
        with transaction.atomic():
            AuditEntry.objects.record(team, by, "judge.checked", scorer.version, new=payload)
            return job_queue.enqueue_once(JobKind.MEASURE_VARIANCE, team, by, payload)


class StampForm(forms.Form):
    """What kappa is to reach at least for the scorer to be fit to gate."""

    limit = forms.FloatField(
        label="Kappa at least", min_value=0, max_value=1, initial=USUAL_KAPPA, step_size=0.01
    )


def sample_sizes(scored: int) -> Sequence[int]:
    """The sample sizes to choose from; the largest is all outputs, up to the limit."""
    most = min(scored, variance.MAX_SAMPLE)
    return [*(size for size in SIZES if size < most), most]


def _label(size: int, factor: float, estimate: CostEstimate) -> str:
    calls = round(factor * estimate.calls)
    cost = estimate.cost_usd
    price = "price not known" if cost is None else f"about {dollars(factor * cost)}"
    return f"{count(size)} · {count(calls)} call{'' if calls == 1 else 's'}, {price}"
