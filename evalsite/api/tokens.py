"""How a program signs in: `Authorization: Token evs_…`."""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from scoring.models import Token, User

SCHEME = "Token"


class TokenAuthentication(BaseAuthentication):
    """Signs in the token's owner, who then reaches only the token's team with at most its role."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        token = Token.objects.usable(secret.strip())
        if token is None:
            raise AuthenticationFailed(
                "This token is unknown, revoked or expired, or its owner left the team. "
                "Make a new one with manage.py token.",
                code="bad_token",
            )
        token.note_use()
        token.user.token = token
        return token.user, token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        return SCHEME
