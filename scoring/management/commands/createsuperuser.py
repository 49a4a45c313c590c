"""`manage.py createsuperuser`: Django's, with an entry in the audit log."""

from __future__ import annotations

from django.contrib.auth.management.commands import createsuperuser

from scoring.management.console import OperatorCommand


class Command(OperatorCommand, createsuperuser.Command):
    """The manager records the account in the transaction that makes it."""
