"""Brokers of the tests' own, gone when they end: RabbitMQ and Redis, on free ports."""

from __future__ import annotations

import atexit
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from tests.support.private_server import ends_with_parent, free_port, unprivileged
from tests.support.waiting import wait_until

DEBIAN: Final = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


class Broker:
    """A broker that can be stopped, killed and emptied. `url` is what `CELERY_BROKER_URL` says."""

    accounts: ClassVar[Sequence[str]]
    package: ClassVar[str]

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="evalsite-broker-"))
        self._password = secrets.token_hex(16)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.port = free_port()
        atexit.register(self.end)
        self._own(self._folder)
        self.start()

    @property
    def url(self) -> str:
        raise NotImplementedError

    @staticmethod
    def is_installed() -> bool:
        raise NotImplementedError

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._set_up()
        try:
            wait_until(self._answers, 60)
        except BaseException as fault:
            fault.add_note((self._folder / "log").read_text())
            raise

    def stop(self, how: int = signal.SIGTERM) -> None:
        """End it; SIGKILL is a crash."""
        processes, self._processes = self._processes, []
        for process in reversed(processes):
            process.send_signal(how)
            process.wait()

    def signal(self, how: int) -> None:
        """SIGSTOP lets it hang, SIGCONT go on."""
        for process in self._processes:
            process.send_signal(how)

    def empty(self) -> None:
        """Stop it and forget every message."""
        self.stop(signal.SIGKILL)
        shutil.rmtree(self._data)

    def end(self) -> None:
        self.stop(signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _data(self) -> Path:
        path = self._folder / "data"
        if not path.exists():
            path.mkdir()
            self._own(path)
        return path

    def _own(self, path: Path) -> None:
        if identity := unprivileged(self.accounts):
            shutil.chown(path, identity["user"], identity["group"])

    def _set_up(self) -> None:
        raise NotImplementedError

    def _run(self, command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
        with (self._folder / "log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509
                **unprivileged(self.accounts),
            )
        self._processes.append(process)

    def _answers(self) -> bool:
        assert all(process.poll() is None for process in self._processes)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False


class RabbitMQ(Broker):
    """Erlang's register of nodes, which RabbitMQ asks, runs beside it and ends with it."""

    accounts = ("rabbitmq", "nobody")
    package = "rabbitmq-server"

    @property
    def url(self) -> str:
        return f"amqp://evalsite:{self._password}@127.0.0.1:{self.port}//"

    @staticmethod
    def is_installed() -> bool:
        return DEBIAN.exists()

    def _set_up(self) -> None:
        names, own = free_port(), self._folder
        (own / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\n"
            "default_user = evalsite\n"
            f"default_pass = {self._password}\n"
            "disk_free_limit.absolute = 1MB\n"
            "log.console = true\n"
            "log.console.level = warning\n"
            "log.file = false\n"
        )
        (own / "plugins").write_text("[].\n")
        (own / "environment").write_text("")
        erlang = {"HOME": str(own), "ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_EPMD_PORT": str(names)}
        self._run(["epmd", "-port", str(names)], erlang)
        self._run(
            [DEBIAN],
            {
                **erlang,
                "RABBITMQ_NODENAME": "tests@localhost",
                "RABBITMQ_DIST_PORT": str(free_port()),
                "RABBITMQ_MNESIA_BASE": str(self._data),
                "RABBITMQ_LOG_BASE": str(own),
                "RABBITMQ_CONFIG_FILE": str(own / "rabbitmq.conf"),
                "RABBITMQ_CONF_ENV_FILE": str(own / "environment"),
                "RABBITMQ_ENABLED_PLUGINS_FILE": str(own / "plugins"),
                "RABBITMQ_PID_FILE": str(own / "pid"),
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none -start_epmd false"
                " -kernel inet_dist_use_interface {127,0,0,1}",
                "NOTIFY_SOCKET": str(own / "nobody"),  # else a shell stays in between
            },
        )


class Redis(Broker):
    """What it has is in a file as soon as it is answered."""

    accounts = ("redis", "nobody")
    package = "redis-server"

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@127.0.0.1:{self.port}/0"

    @staticmethod
    def is_installed() -> bool:
        return shutil.which("redis-server") is not None

    def _set_up(self) -> None:
        chosen = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "requirepass": self._password,
            "dir": str(self._data),
            "appendonly": "yes",
            "save": "",
        }
        options = [part for name, value in chosen.items() for part in (f"--{name}", value)]
        self._run(["redis-server", *options], {})
