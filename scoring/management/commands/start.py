"""`manage.py start`: the whole site, with one command."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from scoring.checks import audit_triggers_exist
from scoring.engine.backups.integrity import UnsoundError, open_site
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.processes.disk_space import watch_disk
from scoring.engine.processes.supervisor import Child, Supervisor
from scoring.engine.worker.main import AlreadyRunningError, worker_lock
from scoring.management.console import reporting_disk_full, requires_database, usage_error
from scoring.management.database import database_name, find_problem, migration_lock
from scoring.models import Team
from scoring.models.team.team import SETUP_LINK_HOURS, setup_token

ROOT: Final = Path(__file__).resolve().parents[3]
ENDING_SECONDS: Final = 3.0
DEFAULT_HOST: Final = "127.0.0.1"
LOOPBACK: Final = ("localhost", "::1")
PUBLIC_WARNING: Final = (
    "Warning: {host} can be reached from other machines, without encryption. Keep the site on"
    " 127.0.0.1 behind a proxy that speaks HTTPS; docs/proxy.md shows one."
)
BELIEVES_ANYBODY: Final = (
    "with a number in EVALSITE_TRUSTED_PROXIES anybody who reaches {host} could name any address as"
    " theirs: list the addresses of the proxies instead, or keep the site on 127.0.0.1"
)


class Command(BaseCommand):
    help = "Run the site: web server and worker, until Ctrl-C."
    requires_system_checks = []  # they load every page, half a second for nothing here

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--host", default=DEFAULT_HOST)
        parser.add_argument("--demo", action="store_true", help="load the demo team, once")
        parser.add_argument(
            "--no-worker",
            action="store_true",
            help="run the web server alone, where workers are started in another way",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        proxies = settings.EVALSITE_TRUSTED_PROXIES
        if proxies and isinstance(proxies, int) and _is_public(host):
            raise usage_error(BELIEVES_ANYBODY.format(host=host))
        with _listen(host, port) as listener:  # first of all: nothing is begun on a busy port
            if not options["no_worker"]:
                _check_free()
            watch_disk()
            try:
                with reporting_disk_full(), open_site():
                    self._run(listener, options)
            except UnsoundError as fault:
                raise usage_error(str(fault)) from None

    def _run(self, listener: socket.socket, options: dict[str, Any]) -> None:
        with requires_database():
            self._migrate()
            if options["demo"] and not Team.objects.filter(slug=DEMO_SLUG).exists():
                call_command("demo", queue_embeddings=True, stdout=self.stdout, stderr=self.stderr)
            host = options["host"]
            if _is_public(host):
                self.stderr.write(PUBLIC_WARNING.format(host=host))
            # Passkeys need a name, which a number is not.
            shown = "localhost" if host == DEFAULT_HOST else host
            self._greet(_site_url() or f"http://{shown}:{listener.getsockname()[1]}")
        connection.close()
        children = [_web(listener)]
        if not options["no_worker"]:
            children.append(_worker())
        if not Supervisor(children).run():
            raise CommandError("the web server does not start; its messages are above")

    def _migrate(self) -> None:
        with migration_lock(connection):
            executor = MigrationExecutor(connection)
            if problem := find_problem(connection):
                raise usage_error(problem)
            missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
            if missing:
                self.stdout.write(f"Setting up {database_name()} …")
                call_command("migrate", verbosity=0, interactive=False)
        for warning in audit_triggers_exist(databases=["default"]):
            self.stderr.write(f"{warning.msg} {warning.hint}")

    def _greet(self, address: str) -> None:
        token = setup_token()
        if token:
            text = f"Set up the first account at {address}/setup/{token}/"
            self.stdout.write(f"{text} (works once, for {SETUP_LINK_HOURS} hours)")
        else:
            self.stdout.write(f"Sign in at {address}/")
        self.stdout.write("Ctrl-C stops it")
        self.stdout.flush()


def _is_public(host: str) -> bool:
    """Whether other machines may reach what listens there."""
    return host not in LOOPBACK and not host.startswith("127.")


def _site_url() -> str:
    """Where people reach the site behind a proxy; "" where it is not known to have one."""
    if settings.EVALSITE_URL or not settings.SECURE_SSL_REDIRECT:
        return str(settings.EVALSITE_URL)
    origins = [origin for origin in settings.CSRF_TRUSTED_ORIGINS if "*" not in origin]
    return origins[0].rstrip("/") if origins else ""


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, so that the port is ours before anything else starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as fault:
        text = f"cannot listen on {host} port {port} ({fault}); choose another with --port"
        raise usage_error(text) from None


def _check_free() -> None:
    """Refuse a data folder that another site's worker works on; one that is ending may end."""
    deadline = time.monotonic() + ENDING_SECONDS
    while True:
        try:
            with worker_lock():
                return
        except AlreadyRunningError:
            if time.monotonic() > deadline:
                text = f"another site or worker runs on {settings.DATA_DIR}; stop it first"
                raise usage_error(text) from None
            time.sleep(0.1)


def _worker() -> Child:
    command = [sys.executable, str(ROOT / "manage.py"), "worker", "--parent-fd", "0"]
    return Child("worker", command, ROOT)


def _web(listener: socket.socket) -> Child:
    number = listener.fileno()
    command = [sys.executable, "-m", "gunicorn", "-c", "python:evalsite.gunicorn_conf"]
    bound = [*command, "--bind", f"fd://{number}", "evalsite.wsgi"]
    return Child("web server", bound, ROOT, pass_fds=[number], is_essential=True)
