"""The suite of a dataset, which scores its runs where no other one is named."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite import access
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.models import Dataset, Role, Suite, User
from scoring.models.scorers.suite import ThresholdStep
from scoring.models.scorers.threshold_change import REASON_NEEDED


class DatasetSuiteForm(forms.Form):
    """A suite of the team, with a reason where thresholds change; only admins may change them."""

    suite = forms.ModelChoiceField(
        Suite.objects.none(),
        to_field_name="uuid",
        help_text="Scores the dataset's runs where no other suite is named.",
    )
    reason = forms.CharField(
        required=False,
        label="Reason for threshold changes",
        help_text="Required when the threshold of a scorer changes; kept in the audit log.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(
        self, *args: Any, dataset: Dataset, may_administer: bool = False, **kwargs: Any
    ) -> None:
        self.dataset, self._may_administer = dataset, may_administer
        self.steps: list[ThresholdStep] = []  # of the suite that was sent
        super().__init__(*args, **kwargs)
        suites = Suite.objects.filter(team=dataset.team_id).order_by("name")
        self.fields["suite"].queryset = suites  # type: ignore[attr-defined]
        if dataset.suite:
            self.initial["suite"] = dataset.suite.uuid
            self.fields["suite"].empty_label = None  # type: ignore[attr-defined]
        if not may_administer:
            del self.fields["reason"]

    def clean(self) -> dict[str, Any]:
        suite: Suite | None = self.cleaned_data.get("suite")
        self.steps = suite.steps_for(self.dataset) if suite else []
        if self.steps and not self._may_administer:
            text = "This suite has other thresholds. Only an administrator can choose it."
            self.add_error("suite", text)
        elif self.steps and not self.cleaned_data["reason"].strip():
            self.add_error("reason", REASON_NEEDED)
        return self.cleaned_data

    def save(self, by: User) -> bool:
        """Whether it was saved; False, with an error, if thresholds have just changed."""
        suite, reason = self.cleaned_data["suite"], self.cleaned_data.get("reason", "")
        try:
            suite.assign_to(self.dataset, by=by, reason=reason)
        except forms.ValidationError as error:
            self.add_error(None, error.messages)
        return not self.errors


@form_page
def choose_suite(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Choose the suite of a dataset."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    may_administer = access.has_role(request.user, dataset.team, Role.ADMIN)
    form = DatasetSuiteForm(request.POST or None, dataset=dataset, may_administer=may_administer)
    if form.is_valid() and form.save(request.user):
        messages.success(request, f"{dataset.suite} is the suite of {dataset}.")
        return redirect("dataset", uid)
    context = {"team": dataset.team, "dataset": dataset, "form": form}
    return render_page(request, "datasets/suite.html", context, status=422 if form.errors else 200)
