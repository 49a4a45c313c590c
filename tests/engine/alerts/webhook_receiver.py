"""A receiver of webhooks on 127.0.0.1 that keeps what it was sent and answers as it is told."""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.support.waiting import DEADLINE_SECONDS


class Sent(NamedTuple):
    """A call as it came; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Receiver:
    """`statuses` are answered in turn, the last one for good; `hangs` holds every answer back."""

    def __init__(self, *statuses: int, headers: Mapping[str, str] | None = None) -> None:
        self.statuses = list(statuses) or [200]
        self.headers = headers or {}
        self.sent: list[Sent] = []
        self.hangs = threading.Event()
        self.hangs.set()
        self.came = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/in?team=1"

    def answer(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.hangs.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.sent.append(Sent(self.path, headers, body))
            receiver.came.set()
            receiver.hangs.wait(DEADLINE_SECONDS)
            self.send_response(receiver.answer())
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def is_signed(sent: Sent, secret: str) -> bool:
    """As the docs tell receivers to check it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{sent.headers['webhook-id']}.{sent.headers['webhook-timestamp']}.".encode()
    wanted = base64.b64encode(hmac.digest(key, signed + sent.body, hashlib.sha256)).decode()
    given = [each.partition(",")[2] for each in sent.headers["webhook-signature"].split()]
    return any(hmac.compare_digest(each, wanted) for each in given)
