"""Proposed thresholds: what each would change, and an administrator's decision."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite.access import threshold_proposal_for
from evalsite.pages.thresholds.forms import NEW
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from scoring.core.json_text import to_text
from scoring.engine.thresholds import proposals
from scoring.engine.thresholds.proposals import ProposedChange, open_proposals
from scoring.models import Role, Scorer, Suite, Team
from scoring.models.scorers.proposal import AlreadyDecidedError
from scoring.models.scorers.threshold_change import StaleThresholdError

MOVED: Final = "The thresholds have changed since you looked. Nothing was decided."


class DecisionForm(forms.Form):
    """Accept or reject, and why; `shown` is the signature of what the administrator saw."""

    decision = forms.ChoiceField(choices=[("accept", "Accept"), ("reject", "Reject")])
    reason = forms.CharField(
        help_text="Kept in the history.", widget=forms.Textarea(attrs={"rows": 2})
    )
    shown = forms.CharField(required=False, widget=forms.HiddenInput)


@dataclass(frozen=True)
class ThresholdCard:
    """An open proposal, what accepting it would do, and the form to decide it."""

    change: ProposedChange
    form: DecisionForm

    @property
    def can_accept(self) -> bool:
        return not self.change.is_idle

    @property
    def preview_url(self) -> str:
        """The page that previews what would change."""
        return preview_url(self.change)


def proposal_cards(
    team: Team, suite: Suite | None, scorer: Scorer | None = None
) -> list[ThresholdCard]:
    """The open proposals about a suite, or about a scorer's default."""
    return [
        ThresholdCard(change, DecisionForm(auto_id=f"id_{change.proposal.uuid}_%s"))
        for change in open_proposals(team, suite, scorer)
    ]


def preview_url(change: ProposedChange) -> str:
    """Where the proposed thresholds are previewed."""
    suite = change.proposal.suite
    if suite is None:
        scorer, new = change.proposed[0]
        query = urlencode({"threshold": to_text(new)})
        return f"{reverse('scorer_threshold', args=[scorer.uuid])}?{query}"
    fields = {f"{NEW}{scorer.uuid}": to_text(new) for scorer, new in change.proposed}
    return f"{reverse('suite_thresholds', args=[suite.uuid])}?{urlencode(fields)}"


@post_action
def decide_threshold_proposal(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Accept or reject a proposal, with a reason."""
    proposal = threshold_proposal_for(request.user, uid, Role.ADMIN)
    shown, form = ProposedChange.of(proposal), DecisionForm(request.POST)
    back = page_of(shown)
    if not form.is_valid():
        messages.error(request, "Enter a reason: nothing was decided.")
        return redirect(back)
    decide = partial(proposals.reject, proposal)
    if form.cleaned_data["decision"] == "accept":
        if form.cleaned_data["shown"] != shown.signature:
            messages.error(request, MOVED)
            return redirect(back)
        decide = partial(proposals.accept, shown)
    try:
        decide(by=request.user, reason=form.cleaned_data["reason"])
    except AlreadyDecidedError:
        messages.info(request, "This proposal has already been decided.")
    except StaleThresholdError as stale:
        messages.error(request, str(stale))
    except ValidationError as refused:
        messages.error(request, " ".join(refused.messages))
    else:
        messages.success(request, f"Proposal {form.cleaned_data['decision']}ed.")
    return redirect(back)


def page_of(change: ProposedChange) -> str:
    """Where the proposal is listed."""
    suite = change.proposal.suite
    if suite is not None:
        return reverse("suite", args=[suite.uuid])
    return reverse("scorer_threshold", args=[change.proposed[0][0].uuid])
