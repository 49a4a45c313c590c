"""What new thresholds would do to the gates of a run and to its comparison."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.http import HttpResponse
from django.urls import reverse

from evalsite import access
from evalsite.pages.compare.links import compare_url
from evalsite.pages.gates.views import STATE_MARKS
from evalsite.pages.thresholds.forms import NEW, ThresholdField
from evalsite.pages.web.decorators import get_page
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.json_text import to_text
from scoring.engine.compare.gate_text import value_text
from scoring.engine.compare.gates import GateError, GateOutcome, State, check_scorers, parse_gate
from scoring.engine.thresholds.effects import GateEffect, ThresholdEffects, preview_effects
from scoring.models import Run, RunState, Scorer

MAX_GATE: Final = 200  # characters
#: Beside the gate that the user names.
COMPARING: Final = ("regressions<=0", "no_regression")


class ShownAnswer(NamedTuple):
    """A gate's answer as the page shows it."""

    state: State
    look: str
    mark: str
    value: str


class GateRow(NamedTuple):
    """A gate as scored, and as it would be."""

    text: str
    before: ShownAnswer
    after: ShownAnswer
    differs: bool


class EffectsForm(forms.Form):
    """New thresholds for the scorers of a run, and a gate."""

    gate = forms.CharField(
        required=False,
        max_length=MAX_GATE,
        initial="pass_rate>=0.9",
        label="Gate",
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = run
        self.scorers = list(run.scorers.select_related("version__scorer"))
        for each in self.scorers:
            name = f"{NEW}{each.version.scorer.uuid}"
            self.fields[name] = ThresholdField(required=False, widget=forms.HiddenInput)

    def clean_gate(self) -> str:
        text: str = self.cleaned_data["gate"].strip() or self.fields["gate"].initial
        try:
            check_scorers([parse_gate(text)], [each.name for each in self.scorers], "the run")
        except GateError as fault:
            raise forms.ValidationError(str(fault)) from None
        return text

    @cached_property
    def effects(self) -> ThresholdEffects:
        wanted = {
            each.version.scorer_id: self.cleaned_data.get(f"{NEW}{each.version.scorer.uuid}")
            for each in self.scorers
        }
        thresholds = {pk: new for pk, new in wanted.items() if new is not None}
        texts = dict.fromkeys([self.cleaned_data["gate"], *COMPARING])
        return preview_effects(self.run, thresholds, [parse_gate(text) for text in texts])


@get_page
def run_threshold_effects(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """The answers of gates and the comparison as scored, and as they would be; changes nothing."""
    run = access.run_for(request.user, uid)
    query = request.GET.copy()
    query.setdefault("gate", EffectsForm.base_fields["gate"].initial)
    form = EffectsForm(query, run=run)
    context: dict[str, Any] = {"team": run.team, "run": run, "form": form}
    if run.state == RunState.FINISHED and form.is_valid():
        context["effects"] = effects = form.effects
        context["gates"] = [_gate_row(effect) for effect in effects.gates]
        if effects.baseline:
            context["compare_url"] = compare_url(run.team, effects.baseline, [run])
    status = 422 if form.errors else 200
    return render_page(
        request, "thresholds/effects.html", context, parts=["effects"], status=status
    )


def _gate_row(effect: GateEffect) -> GateRow:
    before, after = (_show_answer(outcome) for outcome in (effect.before, effect.after))
    return GateRow(effect.before.gate.text, before, after, effect.differs)


def _show_answer(outcome: GateOutcome) -> ShownAnswer:
    look, mark = STATE_MARKS[outcome.state]
    return ShownAnswer(outcome.state, look, mark, value_text(outcome))


def effects_url(run: Run, thresholds: Mapping[Scorer, float]) -> str:
    """The page about these thresholds."""
    fields = {f"{NEW}{scorer.uuid}": to_text(new) for scorer, new in thresholds.items()}
    return f"{reverse('run_threshold_effects', args=[run.uuid])}?{urlencode(fields)}"
