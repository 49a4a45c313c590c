"""A PostgreSQL server of the tests' own, gone when they end: no other one is touched."""

from __future__ import annotations

import atexit
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tests.support.private_server import ends_with_parent, free_port, unprivileged
from tests.support.waiting import wait_until

DEBIAN: Final = Path("/usr/lib/postgresql")
#: A server does not run as root; Debian's package makes the first of these.
UNPRIVILEGED: Final = ("postgres", "nobody")
SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "logging_collector": "off",
}
#: Tests restart the server, not the machine: what is committed need not be on the disk.
FOR_TESTS: Final = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",
    "jit": "off",
    # Plans do not depend on what a background process has counted meanwhile: after a vacuum of a
    # table that a test has emptied, the next one's thousands of rows are planned for as none.
    "autovacuum": "off",
}
#: A server that a standby follows, which has all that was committed.
FOLLOWED: Final = {
    **FOR_TESTS,
    "wal_level": "replica",
    "max_wal_senders": "4",
    "synchronous_commit": "on",
}


def find_programs() -> Path | None:
    """The folder of the server in `PATH`, else of the newest one; None where there is none."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    found_in = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: float(path.parents[1].name))
    return found_in[-1].parent if found_in else None


class Server:
    """A running server with a role that may do everything, whose names sort as a dictionary's.

    One that `follows` another has all that the other one has, and is read-only until it takes over.
    """

    def __init__(
        self,
        programs: Path,
        settings: Mapping[str, str] = FOR_TESTS,
        follows: Server | None = None,
    ) -> None:
        self._programs = programs
        self._settings = {**SETTINGS, **settings}
        self._folder = Path(tempfile.mkdtemp(prefix="evalsite-postgresql-"))
        self._password = follows._password if follows else secrets.token_urlsafe(16)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        atexit.register(self.end)
        if follows:
            self._copy(follows)
        else:
            self._set_up()
        self.start()
        if follows:
            follows._wait_for_standby()

    def url(self, database: str) -> str:
        """What `DATABASE_URL` says of a database here."""
        return f"postgresql://evalsite:{self._password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        chosen = [
            f"-c{name}={value}" for name, value in {**self._settings, "port": self.port}.items()
        ]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._folder / "data", *chosen],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=ends_with_parent(signal.SIGQUIT),  # noqa: PLW1509
                **self._identity(),
            )
        try:
            wait_until(self._answers)
        except BaseException as fault:
            fault.add_note((self._folder / "log").read_text())
            raise

    def stop(self, how: int = signal.SIGINT) -> None:
        """End it: SIGINT ends every connection first, SIGQUIT is a crash."""
        process, self._process = self._process, None
        if process:
            process.send_signal(how)
            process.wait()

    def end(self) -> None:
        """Stop it and remove all of it."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _set_up(self) -> None:
        given = self._folder / "password"
        given.write_text(self._password)
        if identity := self._identity():
            for path in (self._folder, given):
                shutil.chown(path, identity["user"], identity["group"])
        subprocess.run(
            [
                self._programs / "initdb",
                *("-D", self._folder / "data", "-U", "evalsite", "-E", "UTF8", "--no-sync"),
                *("--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"),
                *("--auth=scram-sha-256", "--pwfile", given),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self._folder,
            **self._identity(),
        )
        given.unlink()

    def take_over(self) -> None:
        """Stop following, and be written to."""
        with self.cursor() as cursor:
            cursor.execute("SELECT pg_promote()")

    def _copy(self, other: Server) -> None:
        if identity := self._identity():
            shutil.chown(self._folder, identity["user"], identity["group"])
        backup = [self._programs / "pg_basebackup", "-D", self._folder / "data", "-R", "-c", "fast"]
        subprocess.run(
            [*backup, "--no-sync", "-d", other.url("postgres")],
            check=True,
            cwd=self._folder,
            **self._identity(),
        )

    def _wait_for_standby(self) -> None:
        """From here on every commit waits for the one that follows."""
        with self.cursor() as cursor:
            cursor.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            cursor.execute("SELECT pg_reload_conf()")

            def is_followed() -> bool:
                cursor.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
                return cursor.fetchone() is not None

            wait_until(is_followed)

    def _answers(self) -> bool:
        assert self._process
        assert self._process.poll() is None, (self._folder / "log").read_text()
        with suppress(OSError), self.cursor():
            return True
        return False

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Outside any database of the tests, each statement by itself."""
        import psycopg

        try:
            connection = psycopg.connect(self.url("postgres"), autocommit=True)
        except psycopg.OperationalError as fault:
            raise OSError(str(fault)) from None
        with connection, connection.cursor() as cursor:
            yield cursor

    @staticmethod
    def _identity() -> dict[str, Any]:
        return unprivileged(UNPRIVILEGED)
