"""Several thresholds of a suite together: one preview, and one change with one reason."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite.access import administrators, permissions, suite_for
from evalsite.pages.thresholds.effects import effects_url
from evalsite.pages.thresholds.forms import SuiteChangeForm, SuitePreviewForm
from evalsite.pages.thresholds.proposals import proposal_cards
from evalsite.pages.thresholds.views import PROPOSED
from evalsite.pages.web.decorators import form_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.json_text import to_text
from scoring.engine.runs.neighbours import series_key
from scoring.engine.thresholds.preview import Preview, RunPreview, preview_suite
from scoring.models import Role, Run, Suite
from scoring.models.scorers.threshold_change import StaleThresholdError


class PreviewRow(NamedTuple):
    """A scorer of the suite: its field, and what the chosen run would be."""

    preview: Preview
    field: forms.BoundField
    run: RunPreview | None
    url: str  # the page of this threshold alone, with the cases that would flip


@dataclass(frozen=True)
class SuiteThresholdsPage:
    """The preview of new thresholds, on the last run of one series."""

    suite: Suite
    previews: Sequence[Preview]
    form: SuitePreviewForm

    @cached_property
    def runs(self) -> list[Run]:
        """The last run of each series, the newest first."""
        runs = {run.run.pk: run.run for preview in self.previews for run in preview.runs}
        return sorted(runs.values(), key=series_key, reverse=True)

    @cached_property
    def chosen(self) -> Run | None:
        """The run that is named, else the newest."""
        named = getattr(self.form, "cleaned_data", {}).get("run")
        found = (run for run in self.runs if run.uuid == named)
        return next(found, self.runs[0] if self.runs else None)

    @property
    def changed(self) -> list[Preview]:
        return [preview for preview in self.previews if preview.new != preview.old]

    def rows(self) -> Iterator[PreviewRow]:
        for preview in self.previews:
            run = preview.find_run(self.chosen.uuid) if self.chosen else None
            path = reverse("suite_threshold", args=[self.suite.uuid, preview.scorer.uuid])
            query = {"threshold": to_text(preview.new)}
            if run:
                query["run"] = str(run.run.uuid)
            field = self.form.field_of(preview.scorer)
            yield PreviewRow(preview, field, run, f"{path}?{urlencode(query)}")

    def run_query(self, run: Run) -> str:
        """The query string that shows another run."""
        given = [(name, value) for name, value in self.form.data.items() if value and name != "run"]
        return f"?{urlencode([*given, ('run', str(run.uuid))])}"

    def run_links(self) -> list[tuple[Run, str]]:
        return [(run, self.run_query(run)) for run in self.runs]

    @property
    def effects_url(self) -> str:
        """What the thresholds would do to gates and comparison; empty where none changes."""
        if self.chosen is None or not self.changed:
            return ""
        return effects_url(self.chosen, {each.scorer: each.new for each in self.changed})


@form_page
def suite_thresholds(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Preview other thresholds; an admin changes them with one reason, an editor proposes them."""
    role = Role.EDITOR if request.method == "POST" else Role.VIEWER
    suite = suite_for(request.user, uid, role)
    allowed = permissions(request.user, suite.team)
    entries = list(suite.entries.select_related("scorer__team"))
    change = SuiteChangeForm(
        request.POST or None, suite=suite, entries=entries, person=request.user
    )
    if change.is_valid():
        try:
            if done := _submit(request, change, may_administer=allowed["may_administer"]):
                messages.success(request, done)
                return redirect("suite", suite.uuid)
        except StaleThresholdError as removed:
            messages.error(request, str(removed))
            return redirect("suite", suite.uuid)
        entries = list(suite.entries.select_related("scorer__team"))
    form = SuitePreviewForm(request.POST or request.GET, entries=entries)
    new = form.new if form.is_valid() else {}
    context: dict[str, Any] = {
        "team": suite.team,
        "suite": suite,
        "form": form,
        "change": change,
        "page": SuiteThresholdsPage(suite, preview_suite(suite, new), form),
        "cards": proposal_cards(suite.team, suite),
        "administrators": administrators(suite.team_id),
        **allowed,
    }
    status = 422 if form.errors or change.errors else 200
    if change.has_error(NON_FIELD_ERRORS, "stale"):
        status = 409
    return render_page(
        request, "thresholds/suite.html", context, parts=["several", "outlook"], status=status
    )


def _submit(request: SignedInRequest, change: SuiteChangeForm, *, may_administer: bool) -> str:
    """What was done, as a message; empty, with errors of the form, where it was refused."""
    if not may_administer:
        return PROPOSED if change.propose(request.user) else ""
    made = change.save(request.user)
    texts = [f"{each.scorer} {each.text}" for each in made]
    return f"Thresholds changed: {', '.join(texts)}." if texts else ""
