"""Hashes of audit entries and signatures of checkpoints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.core.signing import Signer
from django.utils.crypto import constant_time_compare

_SALT: Final = "evalsite.audit.checkpoint"


def entry_hash(
    previous: str, number: int, at: datetime, texts: Sequence[str], old: Any, new: Any
) -> str:
    """SHA-256 over the hash before and an entry's values, in hexadecimal.

    The same for every database: times in UTC, JSON with sorted keys, whole numbers as integers.
    """
    time = at.astimezone(UTC).isoformat(timespec="microseconds")
    parts = [previous, number, time, *texts, _canonical(old), _canonical(new)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _canonical(value: Any) -> str:
    """JSON text that is the same before a value is stored and after it is read."""
    return json.dumps(_plain_numbers(json.loads(json.dumps(value))), sort_keys=True)


def _plain_numbers(value: Any) -> Any:
    """A float without a fraction as an integer: PostgreSQL keeps no other difference of theirs."""
    if isinstance(value, dict):
        return {key: _plain_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def checkpoint_signature(text: str) -> str:
    return Signer(salt=_SALT).signature(text)


def is_signed(text: str, signature: str) -> bool:
    """Whether this site signed the text; former secret keys count as settings name them."""
    signer = Signer(salt=_SALT)
    keys = [signer.key, *signer.fallback_keys]
    signatures = (signer.signature(text, key) for key in keys)
    return any(constant_time_compare(value, signature) for value in signatures)
