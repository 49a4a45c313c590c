"""`manage.py export_team`: a team in one file, for another site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from scoring.engine.team_archive import TeamArchiveError, export_team
from scoring.management.console import (
    OperatorCommand,
    find_team,
    requires_database,
    usage_error,
)


class Command(OperatorCommand):
    help = "Write a team with all it has into one file; the site may be running."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="FILE.tar, or FILE.tar.gz for a packed one")
        parser.add_argument("--team", help="slug of the team; needed where there are several")
        parser.add_argument("--overwrite", action="store_true", help="replace the file")

    def handle(self, *_: Any, **options: Any) -> None:
        target: Path = options["file"]
        with requires_database():
            team = find_team(options["team"])
            try:
                manifest = export_team(team, target, overwrites=options["overwrite"])
            except TeamArchiveError as fault:
                raise usage_error(f"{team} was not exported: {fault}") from None
            except OSError as fault:
                text = f"{team} was not exported: {target} cannot be written: {fault.strerror}"
                raise usage_error(text) from None
        rows, size = sum(manifest.counts.values()), target.stat().st_size
        self.stdout.write(f"Exported {team} to {target} ({rows:,} rows, {size:,} bytes)")
