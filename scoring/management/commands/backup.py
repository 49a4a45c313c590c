"""`manage.py backup`: the whole site in one file, while it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from scoring.engine.backups import BackupError, make_backup
from scoring.engine.backups.postgresql import backup_advice
from scoring.management.console import usage_error


class Command(BaseCommand):
    help = "Write database and keys into one file; the site may be running."
    requires_system_checks = []  # nothing of the pages is needed

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="FILE.tar, or FILE.tar.gz for a packed one")
        parser.add_argument("--overwrite", action="store_true", help="replace the file")

    def handle(self, *_: Any, **options: Any) -> None:
        from tqdm import tqdm

        target: Path = options["file"]
        if connection.vendor == "postgresql":
            advice = backup_advice(settings.DATA_DIR, target, settings.EVALSITE_KEYS_GIVEN)
            raise usage_error(f"no backup was made: {advice}")
        with tqdm(unit=" pages", disable=not sys.stderr.isatty()) as bar:

            def on_progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            try:
                manifest = make_backup(
                    settings.DATA_DIR,
                    target,
                    overwrites=options["overwrite"],
                    keys_elsewhere=settings.EVALSITE_KEYS_GIVEN,
                    on_progress=on_progress,
                )
            except BackupError as fault:
                raise usage_error(f"no backup was made: {fault}") from None
            except OSError as fault:
                text = f"no backup was made: {target} cannot be written: {fault.strerror}"
                raise usage_error(text) from None
        for name in manifest.keys_elsewhere:
            variable = f"EVALSITE_{name.upper()}"
            self.stdout.write(f"Keep {variable} as well: it comes from the environment.")
        size = target.stat().st_size
        self.stdout.write(f"Backed up {settings.DATA_DIR} to {target} ({size:,} bytes)")
