"""Forms of suites."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db import IntegrityError, transaction

from evalsite.pages.forms.scorers import free_name
from scoring.models import Scorer, Suite, Team, User


class SuiteForm(forms.Form):
    """A suite's name and which of the team's scorers are in it."""

    name = forms.CharField(max_length=120)
    scorers = forms.ModelMultipleChoiceField(
        Scorer.objects.none(), to_field_name="uuid", widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, team: Team, suite: Suite | None = None, **kwargs: Any) -> None:
        self.team, self.suite = team, suite
        super().__init__(*args, **kwargs)
        self.fields["scorers"].queryset = Scorer.objects.filter(team=team).order_by("name")  # type: ignore[attr-defined]

    def clean_name(self) -> str:
        others = Suite.objects.filter(team=self.team)
        return free_name(self.cleaned_data["name"], others, self.suite)

    def save(self, by: User) -> Suite | None:
        """The suite, new or changed; scorers that stay keep their thresholds.

        None where somebody else took the name a moment ago, which is now shown.
        """
        try:
            with transaction.atomic():
                return self._saved(by)
        except IntegrityError:
            self.add_error("name", "The team has just got a suite of that name.")
        return None

    def _saved(self, by: User) -> Suite:
        name = self.cleaned_data["name"]
        entries = [(scorer, None) for scorer in self.cleaned_data["scorers"]]
        if self.suite is None:
            return Suite.objects.define(self.team, name, entries, by)
        self.suite.rename(name, by=by)
        self.suite.replace_entries(entries, by=by)
        return self.suite
