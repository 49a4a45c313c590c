"""Encryption of secrets at rest, each bound to its purpose."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class DecryptionError(Exception):
    """A secret cannot be decrypted: another encryption key, another binding, or damage."""


def encrypt(secret: str, bound_to: str) -> str:
    """The secret encrypted together with what it is for; only `decrypt` with the same opens it."""
    return _fernet().encrypt(json.dumps([secret, bound_to]).encode()).decode()


def decrypt(token: str, bound_to: str) -> str:
    """The secret. Raises DecryptionError, which says nothing of it."""
    from cryptography.fernet import InvalidToken

    try:
        secret, binding = json.loads(_fernet().decrypt(token.encode()))
    except InvalidToken:
        raise DecryptionError("sealed with another encryption key, or damaged") from None
    if binding != bound_to:
        raise DecryptionError("sealed for something else")
    return str(secret)


def _fernet() -> Fernet:
    """Fernet takes 32 bytes; the site's key is a text with at least as much entropy."""
    from cryptography.fernet import Fernet

    digest = hashlib.sha256(settings.EVALSITE_ENCRYPTION_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
