"""`manage.py worker`: score runs and read uploads until stopped."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from scoring.engine.backups.integrity import UnsoundError
from scoring.engine.processes.supervisor import exit_with_parent
from scoring.engine.runs.progress import ALL_QUEUES
from scoring.engine.worker import main as worker_main
from scoring.management.console import reporting_disk_full, usage_error
from scoring.models import WorkQueue


class Command(BaseCommand):
    help = "Score runs and read uploads until stopped. One per data folder, several with --celery."
    requires_system_checks = []  # they load every page, half a second for nothing here

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--celery",
            action="store_true",
            help="Share the shards of all runs with such workers on other machines, through the"
            " broker that CELERY_BROKER_URL names. Needs PostgreSQL.",
        )
        parser.add_argument(
            "--queues",
            type=_queues,
            default=ALL_QUEUES,
            metavar="NAMES",
            help="Leave other work to other workers: " + ", ".join(WorkQueue) + ", or several of"
            " them with commas. All unless given.",
        )
        parser.add_argument(
            "--parent-fd",
            type=int,
            metavar="N",
            help="Exit when this pipe closes at its other end.",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        if options["parent_fd"] is not None:
            exit_with_parent(options["parent_fd"])
        if options["celery"]:
            _require_broker()
        try:
            with reporting_disk_full():
                worker_main.run_worker(with_celery=options["celery"], queues=options["queues"])
        except worker_main.AlreadyRunningError:
            raise usage_error("another worker works on this data folder") from None
        except UnsoundError as fault:
            raise usage_error(str(fault)) from None


def _queues(text: str) -> frozenset[str]:
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    if not names or names - ALL_QUEUES:
        raise ArgumentTypeError(f"name some of {', '.join(WorkQueue)}, with commas between")
    return names


def _require_broker() -> None:
    """Raises CommandError where several machines could not share the work."""
    if not settings.EVALSITE_BROKER_URL:
        raise usage_error("--celery needs a broker; name it in CELERY_BROKER_URL")
    if connection.vendor != "postgresql":
        raise usage_error("--celery needs PostgreSQL; name the database in DATABASE_URL")
