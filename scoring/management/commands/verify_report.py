"""`manage.py verify_report`: whether the figures of a release report follow from its rows."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scoring.engine.reports.verification import UnreadableReportError, verify_file
from scoring.management.console import usage_error


class Command(BaseCommand):
    help = "Recompute the figures of a release report from its rows; exit 1 where one differs."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="a report, JSON or HTML")

    def handle(self, **options: Any) -> None:
        path: Path = options["file"]
        try:
            figures, rows, faults = verify_file(path)
        except UnreadableReportError as fault:
            raise usage_error(f"{path} cannot be verified: {fault}") from None
        except OSError as fault:
            raise usage_error(f"{path} cannot be read: {fault.strerror}") from None
        if faults:
            raise CommandError("\n".join([*faults, f"{path} is not sound"]), returncode=1)
        self.stdout.write(f"{path} is sound: {figures:,} figures follow from its {rows:,} rows.")
