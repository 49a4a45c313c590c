"""`manage.py changepassword`: asked for twice, checked, and recorded as the operator's doing."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from scoring.models import AuditEntry, User


def change_password(monkeypatch: pytest.MonkeyPatch, *typed: str) -> None:
    given = iter(typed)
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(given))
    call_command("changepassword", "Alice@example.org", stdout=io.StringIO(), stderr=io.StringIO())


def test_a_password_changed_by_command_is_the_operators_doing(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = "an entirely new one 7"
    change_password(monkeypatch, "one", "other", "12345678", "12345678", new, new)
    alice.refresh_from_db()
    assert alice.check_password(new)
    entry = AuditEntry.objects.get(action="password.changed")
    assert (entry.actor_name, entry.target_id) == ("the operator", str(alice.pk))
    assert new not in str(vars(entry))


def test_a_refused_password_leaves_no_entry(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="as it was"):
        change_password(monkeypatch, *["12345678"] * 6)
    assert not AuditEntry.objects.filter(action="password.changed").exists()


def test_a_password_of_nobody_is_not_changed(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="no account") as raised:
        change_password(monkeypatch)
    assert raised.value.returncode == 2
