"""What outgoing mail says; to whom a reset goes is in test_outgoing."""

from __future__ import annotations

import pytest
from django.core import mail
from django.utils import timezone

from scoring.engine.mail.outgoing import send_mail
from scoring.models import Invitation, OutgoingMail, Role, Team, User

LINK = "https://evals.example.org/invitations/UID-KEY/"


@pytest.fixture
def invitation(team: Team, alice: User) -> Invitation:
    return Invitation.objects.create(
        team=team, email="new@example.org", role=Role.VIEWER, created_by=alice
    )


def send(invitation: Invitation) -> None:
    send_mail(
        OutgoingMail.objects.create(address=invitation.email, invitation=invitation, link=LINK)
    )


def test_an_invitation_says_who_invites_and_leads_in(invitation: Invitation) -> None:
    send(invitation)
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["new@example.org"], "Join Support on Evalsite")
    assert "alice@example.org invites you to the team Support" in message.body
    assert LINK.replace("UID-KEY", invitation.key) in message.body


def test_one_that_was_asked_for_says_so(invitation: Invitation) -> None:
    invitation.is_requested, invitation.created_by = True, None
    invitation.save()
    send(invitation)
    assert "asked to join the team Support" in mail.outbox[0].body


def test_nobody_is_mailed_an_invitation_that_ended(invitation: Invitation) -> None:
    invitation.revoked_at = timezone.now()
    invitation.save()
    send(invitation)
    assert mail.outbox == []
    assert not OutgoingMail.objects.exists()
