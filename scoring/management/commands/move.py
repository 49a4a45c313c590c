"""`manage.py move`: a site on SQLite becomes one on PostgreSQL."""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection, connections

from scoring.engine.backups.move import SOURCE, MoveError, is_unfinished, move_rows
from scoring.engine.upgrades import known_migrations
from scoring.engine.worker.main import AlreadyRunningError, worker_lock
from scoring.management.console import requires_database, usage_error
from scoring.management.database import applied_migrations, database_name, find_problem


class Command(BaseCommand):
    help = "Move the site of the data folder from SQLite to the empty database of DATABASE_URL."
    requires_system_checks = []  # the target has no tables yet

    def handle(self, *_: Any, **__: Any) -> None:
        from tqdm import tqdm

        if connection.vendor != "postgresql":
            text = "DATABASE_URL names no PostgreSQL database: set it to an empty one"
            raise usage_error(text)
        self._open_source()
        try:
            with requires_database(), worker_lock():
                if not is_unfinished():  # else it would fill tables whose rows are on their way
                    call_command("migrate", verbosity=0, interactive=False)
                with tqdm(unit=" rows", disable=not sys.stderr.isatty()) as bar:

                    def on_progress(table: str, count: int) -> None:
                        bar.set_description(table)
                        bar.update(count)

                    moved = move_rows(on_progress)
        except AlreadyRunningError:
            raise usage_error(f"the site of {settings.DATA_DIR} runs: stop it first") from None
        except MoveError as fault:
            raise usage_error(f"{database_name()} cannot be moved to: {fault}") from None
        if moved.without_nul:
            text = f"{moved.without_nul:,} values held NUL, which PostgreSQL does not store"
            self.stdout.write(f"{text}: \N{REPLACEMENT CHARACTER} is in its place.")
        rows = f"{moved.rows:,} rows of {moved.tables} tables"
        self.stdout.write(f"Moved {rows} into {database_name()} and compared both sides.")
        text = "Keep DATABASE_URL set and start the site."
        self.stdout.write(f"{text} {settings.SQLITE['NAME']} is as it was: put it away.")

    def _open_source(self) -> None:
        """Raises CommandError where there is no database to move, or an older one."""
        path = settings.SQLITE["NAME"]
        if not path.exists():
            raise usage_error(f"there is no site on SQLite in {settings.DATA_DIR}")
        connections.databases[SOURCE] = {**connections.databases["default"], **settings.SQLITE}
        source = connections[SOURCE]
        if problem := find_problem(source):
            raise usage_error(problem)
        if known_migrations() - applied_migrations(source):
            text = "the database to move is older than this code: run `manage.py migrate` first, "
            raise usage_error(f"{text}without DATABASE_URL")
