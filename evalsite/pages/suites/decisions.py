"""Accepting and rejecting proposed suites."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect

from evalsite.access import proposal_for, suite_for
from evalsite.pages.suites.suite_page import ProposalCard, proposal_card, render_suite_page
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.responses import SignedInRequest
from scoring.core.contract import ConfigError
from scoring.engine.suites import proposals
from scoring.models import Role, User
from scoring.models.scorers.proposal import AlreadyDecidedError


@post_action
def decide_proposal(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Accept or reject a proposal."""
    proposal = proposal_for(request.user, uid, Role.ADMIN)
    card = proposal_card(proposal, request.POST)
    try:
        if card.form.is_valid() and _decide(card, request.user):
            decision = "accepted" if card.form.cleaned_data["decision"] == "accept" else "rejected"
            messages.success(request, f"Proposal {decision}.")
            return redirect("suite", proposal.suite.uuid)
    except AlreadyDecidedError:
        messages.info(request, "This proposal has already been decided.")
        return redirect("suite", proposal.suite.uuid)
    return render_suite_page(request, suite_for(request.user, proposal.suite.uuid), card)


def _decide(card: ProposalCard, by: User) -> bool:
    """Whether it is decided; False with an error of the form."""
    cleaned = card.form.cleaned_data
    if card.plan is None or cleaned["decision"] == "reject":
        proposals.reject(card.proposal, by=by, reason=cleaned["reason"])
        return True
    try:
        proposals.accept(card.proposal, card.plan, by=by, reason=cleaned["reason"])
    except ConfigError as error:
        card.form.add_error(None, str(error))
    except ValidationError as error:
        card.form.add_error(None, error.messages)
    except IntegrityError:
        card.form.add_error(None, "A name in the file has just been taken. Try again.")
    return card.form.is_valid()
