"""Secrets at rest: encrypted, and bound to what they were given for."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class SealError(Exception):
    """A sealed secret does not open: another encryption key, another binding, or damage."""


def seal(secret: str, bound_to: str) -> str:
    """The secret encrypted together with what it is for; only `unseal` with the same opens it."""
    return _box().encrypt(json.dumps([secret, bound_to]).encode()).decode()


def unseal(token: str, bound_to: str) -> str:
    """The secret. Raises SealError, which says nothing of it."""
    from cryptography.fernet import InvalidToken

    try:
        secret, binding = json.loads(_box().decrypt(token.encode()))
    except InvalidToken:
        raise SealError("sealed with another encryption key, or damaged") from None
    if binding != bound_to:
        raise SealError("sealed for something else")
    return str(secret)


def _box() -> Fernet:
    """Fernet wants 32 bytes; the site's key is a text with at least as much chance in it."""
    from cryptography.fernet import Fernet

    digest = hashlib.sha256(settings.EVALSITE_ENCRYPTION_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
