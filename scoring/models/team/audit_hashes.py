"""Hashes of audit entries and signatures of checkpoints."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from django.core.signing import Signer
from django.utils.crypto import constant_time_compare

if TYPE_CHECKING:
    from scoring.models.team.audit_entry import AuditCheckpoint, AuditEntry

_SALT: Final = "evalsite.audit.checkpoint"
_TEXTS: Final = (
    "team_id",
    "team_name",
    "actor_id",
    "actor_name",
    "action",
    "target_type",
    "target_id",
    "target_name",
)


def entry_hash(previous: str, entry: AuditEntry) -> str:
    """SHA-256 over the hash before and the entry's values, in hexadecimal.

    The same for every database: times in UTC, JSON with sorted keys, whole numbers as integers.
    """
    values = [getattr(entry, name) for name in _TEXTS]
    at = entry.at.astimezone(UTC).isoformat(timespec="microseconds")
    parts = [previous, entry.number, at, *values, _canonical(entry.old), _canonical(entry.new)]
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


def checkpoint_signature(checkpoint: AuditCheckpoint) -> str:
    return Signer(salt=_SALT).signature(_signed_text(checkpoint))


def is_signed(checkpoint: AuditCheckpoint) -> bool:
    """Whether this site made the checkpoint; former secret keys count as settings name them."""
    signer, text = Signer(salt=_SALT), _signed_text(checkpoint)
    keys = [signer.key, *signer.fallback_keys]
    signatures = (signer.signature(text, key) for key in keys)
    return any(constant_time_compare(value, checkpoint.signature) for value in signatures)


def _signed_text(checkpoint: AuditCheckpoint) -> str:
    values = (checkpoint.team_id, checkpoint.number, checkpoint.last_id, checkpoint.hash)
    return json.dumps(values)
