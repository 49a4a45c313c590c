"""A secret that the page after a redirect shows once, kept encrypted in the session until then."""

from __future__ import annotations

from contextlib import suppress

from evalsite.pages.web.responses import SignedInRequest
from scoring.models.encryption import DecryptionError, decrypt, encrypt


def keep_secret(request: SignedInRequest, key: str, secret: str) -> None:
    """Keep the secret for the page that asks for this key."""
    request.session[key] = encrypt(secret, key)


def take_secret(request: SignedInRequest, key: str) -> str:
    """The secret of this key, which nobody gets again; "" without one."""
    if request.method == "POST" or key not in request.session:
        return ""
    with suppress(DecryptionError):
        return decrypt(request.session.pop(key), key)
    return ""
