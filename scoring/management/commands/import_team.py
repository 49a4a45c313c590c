"""`manage.py import_team`: what `export_team` wrote becomes a team of this site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from scoring.engine.team_archive import TeamArchiveError, import_team
from scoring.management.console import OperatorCommand, requires_database, usage_error
from scoring.models import User


class Command(OperatorCommand):
    help = "Make a team out of a file that `export_team` wrote: all of it, or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="what `export_team` wrote")

    def handle(self, *_: Any, **options: Any) -> None:
        source: Path = options["file"]
        with requires_database():
            before = User.objects.count()
            try:
                team = import_team(source)
            except TeamArchiveError as fault:
                raise usage_error(f"{source} was not imported: {fault}") from None
            except OSError as fault:
                raise usage_error(f"{source} was not imported: {fault.strerror}") from None
            members, made = team.members.count(), User.objects.count() - before
        self.stdout.write(f"Imported {team} as {team.slug}, with {members:,} members")
        if made:
            self.stdout.write(f"{made:,} accounts are new and have no password.")
        self.stdout.write(
            "Not in the file: tokens, keys of connections, webhooks of alert rules. Set them anew."
        )
