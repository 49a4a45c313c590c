"""Storage like S3 of the tests' own: moto's server, which keeps objects in its memory."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Final
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.support.private_server import ends_with_parent, free_port
from tests.support.waiting import wait_until

BUCKET: Final = "evals"


class S3Server:
    """Stopped and started again, it has forgotten everything but its empty bucket."""

    def __init__(self) -> None:
        self._port = free_port()
        self._url = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.stop)
        self.start()

    @property
    def environment(self) -> dict[str, str]:
        """What boto3 finds the server by, and who asks."""
        return {
            "AWS_ENDPOINT_URL": self._url,
            "AWS_ACCESS_KEY_ID": "evals",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def start(self) -> None:
        if self._process:
            return
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "--port", str(self._port)],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509
        )
        wait_until(self._answers)
        urlopen(Request(f"{self._url}/{BUCKET}", method="PUT")).close()

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        assert self._process
        assert self._process.poll() is None
        with suppress(URLError), urlopen(f"{self._url}/moto-api/"):
            return True
        return False
