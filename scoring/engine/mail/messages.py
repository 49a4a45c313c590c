"""The messages of outgoing mail, with the keys of their links."""

from __future__ import annotations

from typing import Final

from django.core.mail import EmailMessage

from scoring.models import Invitation, OutgoingMail, User
from scoring.models.team.address_change import LINK_DAYS, address_key
from scoring.models.team.invitation import LIFETIME
from scoring.models.team.outgoing_mail import LINK_KEY

RESET_SUBJECT: Final = "A new password for Evalsite"
RESET_TEXT: Final = """\
Somebody, probably you, asked for a new password for {address}. Choose it here:

{link}

The link works once, within three days. If you did not ask for it, ignore this mail: your password
stays as it is.
"""
INVITATION_SUBJECT: Final = "Join {team} on Evalsite"
INVITATION_TEXT: Final = """\
{cause} Accept the invitation here:

{link}

The link works once, within {days} days, and lets whoever opens it in: do not pass it on.
"""

ADDRESS_SUBJECT: Final = "Your new address for Evalsite"
ADDRESS_TEXT: Final = """\
{person} wants to sign in to Evalsite with this address. Confirm it here:

{link}

The link works once, within {days} days. If this is not you, ignore this mail: nothing changes.
"""


def write_messages(mail: OutgoingMail) -> list[EmailMessage]:
    """What to send: nothing to an address without an account, or for an invitation that ended."""
    if mail.invitation:
        return [_invitation_message(mail, mail.invitation)] if mail.invitation.is_open else []
    if mail.new_address_of:
        return [_address_message(mail, mail.new_address_of)]
    people = User.objects.filter(email__same=mail.address, is_active=True)
    return [_reset_message(mail, person) for person in people]


def _reset_message(mail: OutgoingMail, person: User) -> EmailMessage:
    from allauth.account.forms import default_token_generator
    from allauth.account.utils import user_pk_to_url_str

    key = f"{user_pk_to_url_str(person)}-{default_token_generator.make_token(person)}"
    link = mail.link.replace(LINK_KEY, key)
    return EmailMessage(
        RESET_SUBJECT, RESET_TEXT.format(address=person.email, link=link), to=[person.email]
    )


def _address_message(mail: OutgoingMail, person: User) -> EmailMessage:
    link = mail.link.replace(LINK_KEY, address_key(person, mail.address))
    text = ADDRESS_TEXT.format(person=person.email, link=link, days=LINK_DAYS)
    return EmailMessage(ADDRESS_SUBJECT, text, to=[mail.address])


def _invitation_message(mail: OutgoingMail, invitation: Invitation) -> EmailMessage:
    team = invitation.team.name
    if invitation.is_requested:
        cause = f"Somebody, probably you, asked to join the team {team} on Evalsite."
    else:
        inviter = invitation.created_by or "An admin"
        cause = f"{inviter} invites you to the team {team} on Evalsite."
    link = mail.link.replace(LINK_KEY, invitation.key)
    text = INVITATION_TEXT.format(cause=cause, link=link, days=LIFETIME.days)
    return EmailMessage(INVITATION_SUBJECT.format(team=team), text, to=[mail.address])
