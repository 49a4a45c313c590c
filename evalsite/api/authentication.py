"""How a program signs in: `Authorization: Token evs_…`."""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.request import Request

from evalsite.middleware.client_address import client_address
from scoring.models import AttemptCounter, Token, User
from scoring.models.team.attempt_counter import TooManyAttemptsError, address_limit

SCHEME = "Token"


class TokenAuthentication(BaseAuthentication):
    """Signs in the token's owner, who then reaches only the token's team with at most its role."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        token = Token.objects.usable(secret.strip())
        if token is None:
            _count_failure(request)
            raise AuthenticationFailed(
                "This token is unknown, revoked or expired, or its owner left the team. "
                "An admin creates a new one in the team settings.",
                code="bad_token",
            )
        token.note_use()
        token.user.token = token
        return token.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        return SCHEME


def _count_failure(request: Request) -> None:
    """Raises Throttled beyond the limit of the address.

    A right token is let in all the same: it is 256 random bits, which no number of guesses finds,
    and a program with an expired one locks nobody beside it out.
    """
    try:
        AttemptCounter.objects.take([address_limit("token", client_address(request))])
    except TooManyAttemptsError as fault:
        raise Throttled(fault.wait_seconds) from None
