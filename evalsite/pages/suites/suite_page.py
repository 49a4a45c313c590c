"""The page of a suite: scorers, thresholds with their history, and proposals with other ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django import forms
from django.http import HttpResponse

from evalsite.access import permissions
from evalsite.pages.thresholds.proposals import proposal_cards
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.core.contract import ConfigError
from scoring.engine.suites.proposals import plan_proposal
from scoring.engine.suites.suite_file import ImportPlan
from scoring.engine.thresholds.preview import Preview, preview_suite
from scoring.models import Suite, SuiteProposal, ThresholdChange, ThresholdProposal
from scoring.models.scorers.threshold_change import REASON_NEEDED

DECIDED_LISTED: Final = 10
MOVED: Final = "Something has changed since you looked. This is what the proposal would do now."


class DecisionForm(forms.Form):
    """An administrator's decision on a proposal.

    `shown` is the signature of the plan that the administrator saw.
    """

    decision = forms.ChoiceField(choices=[("accept", "Accept"), ("reject", "Reject")])
    reason = forms.CharField(
        required=False,
        help_text="Required when a threshold changes, and to reject; kept in the history.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    shown = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, sent: Any, *, proposal: SuiteProposal, plan: ImportPlan | None) -> None:
        super().__init__(sent, auto_id=f"id_{proposal.uuid}_%s")
        self._plan = plan

    def clean(self) -> dict[str, Any]:
        has_reason = bool(self.cleaned_data.get("reason", "").strip())
        if self.cleaned_data.get("decision") != "accept":
            if not has_reason:
                self.add_error("reason", "Enter a reason for rejecting it.")
            return self.cleaned_data
        if self._plan is None:
            raise forms.ValidationError("The proposal cannot be used any more. Reject it.")
        if self._plan.needs_reason and not has_reason:
            self.add_error("reason", REASON_NEEDED)
        elif self.cleaned_data["shown"] != self._plan.signature:
            raise forms.ValidationError(MOVED)
        return self.cleaned_data


@dataclass(frozen=True)
class ProposalCard:
    """An open proposal with what accepting it would do; no plan, but a problem, if it cannot be."""

    proposal: SuiteProposal
    form: DecisionForm
    plan: ImportPlan | None
    problem: str = ""

    @property
    def is_outdated(self) -> bool:
        """Whether the suite has come to what is proposed."""
        return self.plan is not None and self.plan.is_idle

    @property
    def can_accept(self) -> bool:
        return self.plan is not None and not self.is_outdated


def proposal_card(proposal: SuiteProposal, sent: Any = None) -> ProposalCard:
    """The card of a proposal, with the decision that was sent, if any."""
    plan, problem = None, ""
    try:
        plan = plan_proposal(proposal)
        if plan.clashes:
            plan, problem = None, "A scorer of the team has a name of the file and another type."
    except ConfigError as error:
        problem = str(error)
    return ProposalCard(proposal, DecisionForm(sent, proposal=proposal, plan=plan), plan, problem)


def _decided(suite: Suite) -> list[SuiteProposal | ThresholdProposal]:
    """The latest decisions on proposals of both kinds, the newest first."""
    rows = (suite.proposals.decided(), suite.threshold_proposals.decided())
    found = [p for each in rows for p in each.select_related("decided_by")[:DECIDED_LISTED]]
    return sorted(found, key=lambda p: p.decided_at or p.created_at, reverse=True)[:DECIDED_LISTED]


class SuiteRow(NamedTuple):
    """A scorer of the suite with its pass rates, and the last change of its threshold, if any."""

    preview: Preview
    change: ThresholdChange | None


def _rows(suite: Suite) -> list[SuiteRow]:
    changes = suite.threshold_changes.filter(new__isnull=False).order_by("pk")
    last = {change.scorer_id: change for change in changes.select_related("changed_by")}
    return [SuiteRow(each, last.get(each.scorer.pk)) for each in preview_suite(suite, {})]


def render_suite_page(
    request: SignedInRequest, suite: Suite, refused: ProposalCard | None = None
) -> HttpResponse:
    """The page; `refused` is the card whose decision was sent and has errors."""
    proposals = suite.proposals.select_related("suite__team", "proposed_by", "decided_by")
    cards = [
        refused if refused and refused.proposal == proposal else proposal_card(proposal)
        for proposal in proposals.open()
    ]
    context = {
        "team": suite.team,
        "suite": suite,
        "rows": _rows(suite),
        "changes": suite.threshold_changes.select_related("scorer", "changed_by"),
        "is_used": suite.is_used,
        "cards": cards,
        "threshold_cards": proposal_cards(suite.team, suite),
        "decided": _decided(suite),
        **permissions(request.user, suite.team),
    }
    return render_page(request, "suites/page.html", context, status=422 if refused else 200)
