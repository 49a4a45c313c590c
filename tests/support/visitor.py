"""Somebody who loads pages of a real site all the time."""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.test import Client

from scoring.models import User
from tests.support.waiting import DEADLINE_SECONDS


class Visitor:
    """Somebody who loads pages all the time, from the server itself."""

    def __init__(self, port: int, user: User, paths: list[str]) -> None:
        client = Client()
        client.force_login(user)
        self._cookie = f"sessionid={client.cookies['sessionid'].value}"
        self._port, self._paths = port, paths
        self.seen: Counter[int] = Counter()
        self.waited = 0.0
        self._is_done = threading.Event()

    def get(self, path: str) -> int:
        """The status; 0 while nobody listens."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}", headers={"Cookie": self._cookie}
        )
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refusal:
            says_when = path == "/healthz" or "Retry-After" in refusal.headers
            return refusal.code if says_when else -refusal.code
        except OSError:
            return 0

    @contextmanager
    def browsing(self) -> Iterator[None]:
        thread = threading.Thread(target=self._browse)
        thread.start()
        try:
            yield
        finally:
            self._is_done.set()
            thread.join()

    def _browse(self) -> None:
        while not self._is_done.is_set():
            for path in self._paths:
                began = time.monotonic()
                self.seen[self.get(path)] += 1
                self.waited = max(self.waited, time.monotonic() - began)
