"""Whom the provider says that somebody is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from django.conf import settings
from django.http import Http404

from evalsite.env import SingleSignOn
from scoring.core.names import is_one_line

MAX_NAME: Final = 100


def get_sso() -> SingleSignOn:
    """The site's provider. Raises Http404 where it has none."""
    sso: SingleSignOn | None = settings.EVALSITE_SSO
    if sso is None:
        raise Http404
    return sso


@dataclass(frozen=True)
class Identity:
    """An address, in lower case; a name, "" for none; groups, None where nothing is said of any."""

    email: str
    is_verified: bool
    name: str
    groups: frozenset[str] | None

    @classmethod
    def from_claims(cls, claims: Mapping[str, Any]) -> Self:
        """From allauth's `extra_data`: what the user-info endpoint said, else the ID token."""
        sso = get_sso()
        token, info = claims.get("id_token") or {}, claims.get("userinfo") or {}
        said = {**token, **info}
        of_address = info if "email" in info else token
        email, name = of_address.get("email"), said.get("name")
        is_verified = of_address.get("email_verified") in (True, "true")
        return cls(
            email=email.strip().lower() if isinstance(email, str) else "",
            is_verified=is_verified or sso.trusts_addresses,
            name=name[:MAX_NAME] if isinstance(name, str) and is_one_line(name) else "",
            groups=_groups(said.get(sso.groups_claim)),
        )


def is_of_one_person(claims: Mapping[str, Any]) -> bool:
    """Whether the ID token and the user-info endpoint speak of the same one."""
    sources = (claims.get("id_token"), claims.get("userinfo"))
    return len({source.get("sub") for source in sources if source}) == 1


def _groups(said: object) -> frozenset[str] | None:
    if isinstance(said, str):
        return frozenset({said})
    if isinstance(said, list):
        return frozenset(group for group in said if isinstance(group, str))
    return None
