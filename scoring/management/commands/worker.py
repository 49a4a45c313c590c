"""`manage.py worker`: score runs and read uploads until stopped."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from scoring.engine.backups.integrity import UnsoundError
from scoring.engine.worker import main as worker_main
from scoring.management.console import reporting_disk_full, usage_error


class Command(BaseCommand):
    help = "Score runs and read uploads until stopped. Exactly one per data folder."
    requires_system_checks = []  # they load every page, half a second for nothing here

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--parent-fd",
            type=int,
            metavar="N",
            help="Exit when this pipe closes at its other end.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        if options["parent_fd"] is not None:
            worker_main.exit_with_parent(options["parent_fd"])
        try:
            with reporting_disk_full():
                worker_main.run_worker()
        except worker_main.AlreadyRunningError:
            raise usage_error("another worker works on this data folder") from None
        except UnsoundError as fault:
            raise usage_error(str(fault)) from None
