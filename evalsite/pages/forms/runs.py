"""Forms for runs: which to list, and how to start one."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from django import forms
from django.db import transaction

from scoring.engine.plan import new_run
from scoring.models import Dataset, IdempotencyKey, OutputSet, Run, Scorer, Suite, Team, User
from scoring.models.run import RunQuerySet


class RunFilters(forms.Form):
    """Which of a team's runs are listed."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(), required=False, to_field_name="uuid", empty_label="all datasets"
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["dataset"]
        field.queryset = team.datasets.published().order_by("name")  # type: ignore[attr-defined]
        field.widget.attrs["data-submits"] = True

    def applied_to(self, runs: RunQuerySet) -> RunQuerySet:
        if not self.is_valid():
            return runs.none()
        dataset = self.cleaned_data["dataset"]
        return runs.of_dataset(dataset) if dataset else runs


class OutputSetField(forms.ModelChoiceField[OutputSet]):
    def label_from_instance(self, outputs: OutputSet) -> str:
        parts = [str(outputs), f"version {outputs.version.number}", f"{outputs.dated:%-d %b %Y}"]
        return " · ".join([*parts, f"{outputs.output_count:,} outputs"])


class RunForm(forms.Form):
    """An output set of a dataset, and the suite or the scorers to score it with.

    `key` names this showing of the form, so that sending it twice starts one run.
    """

    outputs = OutputSetField(
        OutputSet.objects.none(), to_field_name="uuid", label="Output set", empty_label=None
    )
    suite = forms.ModelChoiceField(
        Suite.objects.none(),
        required=False,
        to_field_name="uuid",
        empty_label="no suite: the scorers ticked below",
        help_text="Its scorers and thresholds are frozen into the run.",
    )
    scorers = forms.ModelMultipleChoiceField(
        Scorer.objects.none(),
        required=False,
        to_field_name="uuid",
        widget=forms.CheckboxSelectMultiple,
        label="Or single scorers",
        help_text="Each with its default threshold.",
    )
    name = forms.CharField(
        max_length=120, required=False, help_text="Left empty, the output set's name."
    )
    key = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, dataset: Dataset, outputs: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset
        choices = {
            "outputs": OutputSet.objects.to_score(dataset),
            "suite": Suite.objects.filter(team=dataset.team_id).order_by("name"),
            "scorers": Scorer.objects.filter(team=dataset.team_id).order_by("name"),
        }
        for name, rows in choices.items():
            self.fields[name].queryset = rows  # type: ignore[attr-defined]
        suite = dataset.suite.uuid if dataset.suite else None
        self.initial.update(key=uuid.uuid4(), outputs=outputs, suite=suite)

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        suite, scorers = chosen.get("suite"), chosen.get("scorers")
        if suite and scorers:
            self.add_error("scorers", "Choose a suite or single scorers, not both.")
        elif suite and not suite.entries.exists():
            self.add_error("suite", "This suite has no scorers yet.")
        elif not suite and not scorers and "scorers" not in self.errors:
            self.add_error("suite", "Choose a suite, or at least one scorer below.")
        return chosen

    def save(self, by: User) -> Run:
        """The run; when the form was sent before, the run that was started then."""
        with transaction.atomic():
            claim, is_first = self._claim(by)
            if not is_first:
                return Run.objects.get(uuid=(claim.body or {})["run"])
            run = self._start(by)
            claim.keep(302, {"run": str(run.uuid)})
        return run

    def _claim(self, by: User) -> tuple[IdempotencyKey, bool]:
        """A form that was changed in between is another request, though its key is the same."""
        sent = repr([(name, self[name].data) for name in self.fields])
        digest = hashlib.sha256(sent.encode()).hexdigest()
        path = f"/datasets/{self.dataset.uuid}/runs/new/"
        return IdempotencyKey.objects.claim(self.dataset.team, by, path, digest, digest)

    def _start(self, by: User) -> Run:
        chosen = self.cleaned_data
        scorers = [(scorer, scorer.threshold) for scorer in chosen["scorers"]]
        return new_run(
            chosen["outputs"], suite=chosen["suite"], scorers=scorers, name=chosen["name"], by=by
        )
