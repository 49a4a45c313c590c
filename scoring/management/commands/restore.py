"""`manage.py restore`: a backup becomes the site of an unused data folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from scoring.engine.backups import BackupError, restore_backup
from scoring.engine.backups.postgresql import restore_advice
from scoring.management.console import usage_error


class Command(BaseCommand):
    help = "Restore a backup into the data folder, which no site may have used."
    requires_system_checks = []  # there is no database yet

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="what `backup` wrote")

    def handle(self, *_: Any, **options: Any) -> None:
        source: Path = options["file"]
        if connection.vendor == "postgresql":
            advice = restore_advice(settings.DATA_DIR, source, settings.EVALSITE_KEYS_GIVEN)
            raise usage_error(f"{source} was not restored: {advice}")
        try:
            manifest = restore_backup(source, settings.DATA_DIR, spool=settings.SPOOL_DIR)
        except BackupError as fault:
            raise usage_error(f"{source} was not restored: {fault}") from None
        except OSError as fault:
            raise usage_error(f"{source} was not restored: {fault.strerror or fault}") from None
        for name in manifest.keys_elsewhere:
            variable = f"EVALSITE_{name.upper()}"
            self.stdout.write(f"Set {variable} as it was: it is not in the backup.")
        self.stdout.write(f"Restored the site of {manifest.made_at} into {settings.DATA_DIR}")
        self.stdout.write("`manage.py start` upgrades and runs it.")
