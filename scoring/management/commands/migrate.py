"""Django's `migrate`, one at a time, for a database that this version can upgrade."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from scoring.management.console import requires_database, usage_error
from scoring.management.database import find_problem, migration_lock, note_account_table


class Command(migrate.Command):
    def execute(self, *args: Any, **options: Any) -> str | None:
        with requires_database():  # Django's checks, which come first, ask the database too
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        database = connections[options["database"]]
        with migration_lock(database):
            if problem := find_problem(database):
                raise usage_error(problem)
            note_account_table(database)
            super().handle(*args, **options)
