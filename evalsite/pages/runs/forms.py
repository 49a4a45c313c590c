"""Forms for runs: which to list, and how to start one."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from django import forms
from django.db import models, transaction

from evalsite.pages.web.fields import NameField
from scoring.engine.runs.planning import create_run
from scoring.models import Dataset, IdempotencyKey, OutputSet, Run, Scorer, Suite, Team, User
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import RunQuerySet


class RunFilters(forms.Form):
    """Which of a team's runs are listed."""

    dataset = forms.ChoiceField(required=False)
    shown = forms.ChoiceField(
        required=False,
        choices=[
            ("", "not archived"),
            ("archived", "archived"),
            ("all", "all"),
            ("deleted", "deleted"),
        ],
        label="Show",
        widget=forms.Select(attrs={"data-submits": True}),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.datasets = [(str(uid), name) for uid, name in _published_datasets(team.pk)]
        field = self.fields["dataset"]
        field.choices = [("", "all datasets"), *self.datasets]  # type: ignore[attr-defined]
        field.widget.attrs["data-submits"] = True

    def applied_to(self, runs: RunQuerySet, deleted: RunQuerySet) -> RunQuerySet:
        """The filtered runs, or the deleted ones."""
        if not self.is_valid():
            return runs.none()
        dataset, shown = self.cleaned_data["dataset"], self.cleaned_data["shown"]
        archived = runs.filter(archived_at__isnull=False)
        choices = {"": runs.unarchived(), "archived": archived, "all": runs, "deleted": deleted}
        listed = choices[shown]
        return listed.filter(output_set__version__dataset__uuid=dataset) if dataset else listed


@prepared_query
def _published_datasets(team: int) -> models.QuerySet[Dataset, tuple[uuid.UUID, str]]:
    datasets = Dataset.objects.filter(team=team).published().order_by("name")
    return datasets.values_list("uuid", "name")


class OutputSetField(forms.ModelChoiceField[OutputSet]):
    def label_from_instance(self, outputs: OutputSet) -> str:
        parts = [str(outputs), f"version {outputs.version.numbered}", f"{outputs.dated:%-d %b %Y}"]
        return " · ".join([*parts, f"{outputs.output_count:,} outputs"])


def budget_field() -> forms.FloatField:
    return forms.FloatField(
        label="Budget, in US dollars",
        required=False,
        min_value=0,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="Once this much is spent no model is called any more; what is scored stays. "
        "Left empty, there is no limit.",
    )


class RetryForm(forms.Form):
    """The new budget of a retry, and the code of the errors to score again; "" for all."""

    budget_usd = budget_field()
    code = forms.CharField(required=False, max_length=40)


class StartForm(forms.Form):
    """What a run is scored with, its name and its budget.

    `key` names this showing of the form, so that sending it twice starts one run.
    """

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
    name = NameField(max_length=120, required=False, help_text="Left empty, the output set's name.")
    budget_usd = budget_field()
    key = forms.UUIDField(widget=forms.HiddenInput)

    path = ""  # below the dataset's runs, where the form is sent to

    def __init__(self, *args: Any, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset
        scorers = Scorer.objects.filter(team=dataset.team_id).select_related("current")
        self.offer("suite", Suite.objects.filter(team=dataset.team_id).order_by("name"))
        self.offer("scorers", scorers.order_by("name"))
        suite = dataset.suite.uuid if dataset.suite else None
        self.initial.update(key=uuid.uuid4(), suite=suite)

    def offer(self, name: str, rows: models.QuerySet[Any]) -> None:
        self.fields[name].queryset = rows  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        suite, scorers = cleaned.get("suite"), cleaned.get("scorers")
        if suite and scorers:
            self.add_error("scorers", "Choose a suite or single scorers, not both.")
        elif suite and not suite.entries.exists():
            self.add_error("suite", "This suite has no scorers yet.")
        elif not suite and not scorers and not {"suite", "scorers"} & set(self.errors):
            self.add_error("suite", "Choose a suite, or at least one scorer below.")
        return cleaned

    def chosen_scorers(self) -> list[Scorer]:
        """The scorers of the suite, or the ticked ones, as far as they are valid."""
        if suite := self.cleaned_data.get("suite"):
            return [entry.scorer for entry in suite.entries.select_related("scorer__current")]
        return list(self.cleaned_data.get("scorers") or ())

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
        """The claim of this request; another content is another request, even with the same key."""
        sent = repr([(name, self[name].data) for name in self.fields])
        digest = hashlib.sha256(sent.encode()).hexdigest()
        path = f"/datasets/{self.dataset.uuid}/runs/{self.path}/"
        return IdempotencyKey.objects.claim(self.dataset.team, by, path, digest, digest)

    def _start(self, by: User) -> Run:
        cleaned = self.cleaned_data
        return create_run(
            self.output_set(by),
            suite=cleaned["suite"],
            scorers=[(scorer, scorer.threshold) for scorer in cleaned["scorers"]],
            name=cleaned["name"],
            by=by,
            budget_usd=cleaned["budget_usd"],
        )

    def output_set(self, by: User) -> OutputSet:
        """The output set to score."""
        raise NotImplementedError


class RunForm(StartForm):
    """An output set of a dataset, and the suite or the scorers to score it with."""

    outputs = OutputSetField(
        OutputSet.objects.none(), to_field_name="uuid", label="Output set", empty_label=None
    )

    path = "new"
    field_order = ("outputs",)

    def __init__(self, *args: Any, dataset: Dataset, outputs: str = "", **kwargs: Any) -> None:
        super().__init__(*args, dataset=dataset, **kwargs)
        self.offer("outputs", OutputSet.objects.to_score(dataset))
        self.initial["outputs"] = outputs

    def output_set(self, by: User) -> OutputSet:  # noqa: ARG002  nothing is made
        outputs: OutputSet = self.cleaned_data["outputs"]
        return outputs
