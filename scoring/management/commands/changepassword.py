"""`manage.py changepassword`: Django's, with an entry in the audit log."""

from __future__ import annotations

import getpass
from typing import Any, Final

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction

from scoring.management.console import OperatorCommand, usage_error
from scoring.models import AuditEntry, User

TRIES: Final = 3


class Command(OperatorCommand, changepassword.Command):
    help = "Set a new password for an account, given by its e-mail address."

    def handle(self, *_: Any, **options: Any) -> str:
        email = options["username"] or ""
        user = User.objects.filter(email=email.lower()).first()
        if user is None:
            raise usage_error(f"There is no account “{email}”.")
        password = self._ask(user)  # before the transaction, which keeps other writers out
        with transaction.atomic():
            user.set_password(password)
            user.save(update_fields=["password"])
            AuditEntry.objects.record(None, None, "password.changed", user)
        return f"The password of {user.email} is changed."

    def _ask(self, user: User) -> str:
        for _ in range(TRIES):
            password = getpass.getpass("Password: ")
            if password != getpass.getpass("Password (again): "):
                self.stderr.write("The two passwords differ.")
                continue
            try:
                validate_password(password, user)
            except ValidationError as fault:
                self.stderr.write("\n".join(fault.messages))
                continue
            return password
        raise CommandError("The password is as it was.")
