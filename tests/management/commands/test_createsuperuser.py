"""`manage.py createsuperuser` is in the audit log as the doing of whoever runs the site."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command

from scoring.models import AuditEntry


def test_a_superuser_made_by_command_is_the_operators_doing(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "a long enough phrase")
    call_command("createsuperuser", "--noinput", email="root@example.org", stdout=io.StringIO())
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.actor_name, entry.team_id) == ("user.created", "the operator", "")
    assert entry.new == {"email": "root@example.org", "is_superuser": True}
