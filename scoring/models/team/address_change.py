"""The signed key of a link by which a person confirms a new e-mail address."""

from __future__ import annotations

from typing import Final

from django.core import signing
from django.db import transaction
from django.utils.crypto import constant_time_compare

from scoring.models.locks import lock_name
from scoring.models.team.audit_entry import AuditEntry
from scoring.models.team.team import User

LINK_DAYS: Final = 3
_SALT: Final = "evalsite.new_address"


def address_key(person: User, address: str) -> str:
    """Good for LINK_DAYS, and as long as the person has the address and the password of now.

    A new password, or being signed out everywhere, ends the links of whoever had the old one.
    """
    return signing.dumps([person.pk, person.email, address, _stamp(person)], salt=_SALT)


def read_address_key(key: str) -> tuple[User, str] | None:
    """The person and their new address; None for a link that is used, too old or invented."""
    try:
        pk, old, new, stamp = signing.loads(key, salt=_SALT, max_age=LINK_DAYS * 24 * 3600)
    except signing.BadSignature:
        return None
    person = User.objects.filter(pk=pk, email=old, is_active=True).first()
    is_same = person is not None and constant_time_compare(_stamp(person), stamp)
    return (person, new) if person and is_same else None


def _stamp(person: User) -> str:
    """Differs once the password changed or the person's sessions were ended."""
    return person.get_session_auth_hash()[:20]


def change_address(person: User, address: str) -> bool:
    """Let the person sign in with another address; False where an account has it already."""
    with transaction.atomic():
        lock_name("account", address)
        locked = User.objects.select_for_update().get(pk=person.pk)
        if locked.email != person.email or User.objects.filter(email=address).exists():
            return False
        locked.email = address
        locked.save(update_fields=["email"])
        changed = {"old": {"email": person.email}, "new": {"email": address}}
        AuditEntry.objects.record(None, locked, "user.address_changed", locked, **changed)
    return True
