"""Proposals of suite files: what accepting one would do, and deciding it."""

from __future__ import annotations

from django.db import transaction

from scoring.core.suites.suite_format import read_suite
from scoring.engine.suites.suite_file import ImportPlan
from scoring.models import ProposalState, SuiteProposal, User
from scoring.models.scorers.proposal import AlreadyDecidedError


def plan_proposal(proposal: SuiteProposal) -> ImportPlan:
    """What accepting the proposal would do now, also if the suite has another name by now.

    Raises ConfigError for a text that cannot be used any more.
    """
    described = read_suite(proposal.text, spelling="yaml", where="The proposal")
    return ImportPlan(
        proposal.team, described.renamed(proposal.suite.name, {}), proposal.source_name
    )


def accept(proposal: SuiteProposal, plan: ImportPlan, *, by: User, reason: str) -> None:
    """Carry out the plan of an open proposal, all of it or nothing.

    Raises AlreadyDecidedError, and what `ImportPlan.carry_out` raises.
    """
    with transaction.atomic():
        if not proposal.decide(ProposalState.ACCEPTED, by=by, reason=reason):
            raise AlreadyDecidedError
        plan.carry_out(by, reason)


def reject(proposal: SuiteProposal, *, by: User, reason: str) -> None:
    """Raises AlreadyDecidedError."""
    if not proposal.decide(ProposalState.REJECTED, by=by, reason=reason):
        raise AlreadyDecidedError
