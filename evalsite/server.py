"""The web server: gunicorn keeps the processes, waitress speaks to their connections.

One loop per process receives requests and sends responses for all its connections. A thread is
taken only for a request that has arrived whole, head and body, so a slow or silent connection costs
a file descriptor and no more. Each has a deadline: heads a total time, bodies and responses a
minimum rate.
"""

from __future__ import annotations

import os
import resource
import socket
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EBUSY, ETIMEDOUT
from typing import Any, Final

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

IDLE_SECONDS: Final = 30  # for the first byte of a connection's first or next request
HEAD_SECONDS: Final = 20  # from the first byte of a request to the end of its head
WINDOW_SECONDS: Final = 60  # in each of which a body or a response moves …
WINDOW_BYTES: Final = 480 * 1024  # … this much: 8 KiB/s
RECEIVED_BYTES: Final = 64 * 1024  # at a time
MAX_HEAD_BYTES: Final = 32 * 1024
LARGE_BODY_BYTES: Final = 8 * 1024**2
MAX_LARGE_BODIES: Final = 8  # received by one process at a time: they lie on the disk
MAX_CONNECTIONS: Final = 2_000
FILES_PER_CONNECTION: Final = 3  # its socket, and a temporary file for each direction
DROPPED_SHARE: Final = 0.1  # of the connections, where there are too many


@dataclass
class ReceiveRate:
    """Whether bytes move fast enough, window by window."""

    since: float = field(default_factory=time.monotonic)
    count: int = 0

    def restart(self, count: int) -> None:
        self.since, self.count = time.monotonic(), count

    def is_too_slow(self, count: int) -> bool:
        """Given how many bytes have moved in all."""
        if time.monotonic() - self.since < WINDOW_SECONDS:
            return False
        is_slow = count - self.count < WINDOW_BYTES
        self.restart(count)
        return is_slow


class BrokenBody:
    """The body of a request that did not arrive whole: reading it raises the fault."""

    def __init__(self, fault: OSError) -> None:
        self._fault = fault

    def read(self, *_: int) -> bytes:
        raise self._fault

    readline = read

    def close(self) -> None:
        pass


class NullBuffer:
    """A buffer that keeps nothing, for a body that is received only so that its sender gets an
    answer.
    """

    def append(self, content: bytes) -> None:
        pass

    def close(self) -> None:
        pass

    def __len__(self) -> int:
        return 0


class Request(HTTPRequestParser):  # type: ignore[misc]
    """A request as it arrives."""

    fault: OSError | None = None
    is_large = False

    def received(self, data: bytes) -> int:
        try:
            return int(super().received(data))
        except OSError as fault:  # the disk takes no more
            self.drop_body(fault)
            return len(data) if self.completed else int(super().received(data))

    def drop_body(self, fault: OSError) -> None:
        """Keep nothing of the body, whose rest is still received where its length is known."""
        self.fault = fault
        with suppress(OSError):
            self.body_rcv.getbuf().close()
        self.body_rcv.buf = NullBuffer()
        if self.chunked:
            self.give_up(fault)

    def give_up(self, fault: OSError) -> None:
        """Let the application answer now, whatever is still to come."""
        self.fault, self.completed = fault, True
        self.headers["CONNECTION"] = "close"

    def get_body_stream(self) -> Any:
        return BrokenBody(self.fault) if self.fault else super().get_body_stream()


class Connection(HTTPChannel):  # type: ignore[misc]
    """A connection with the deadlines of its request and its response."""

    parser_class = Request
    request: Request | None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.since = time.monotonic()  # when it was accepted, answered, or its request began
        self._sent_bytes = 0
        self._receiving, self._sending = ReceiveRate(), ReceiveRate()

    @property
    def is_waited_for(self) -> bool:
        """Whether the next step is the sender's."""
        return not (self.requests or self.total_outbufs_len)

    def received(self, data: bytes) -> bool:
        if self.request is None:
            self.since = time.monotonic()
            self._receiving.restart(0)
        is_received = bool(super().received(data))
        if self.request is not None:
            self._count_large(self.request)
        return is_received

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent = int(super().send(data, do_close))
        self._sent_bytes += sent
        return sent

    def service(self) -> None:
        super().service()
        self.since = time.monotonic()

    def end_overdue(self) -> None:
        """Close the connection, or answer its request, if its deadline has passed."""
        if self.total_outbufs_len:
            self.will_close |= self._sending.is_too_slow(self._sent_bytes)
            return
        self._sending.restart(self._sent_bytes)
        if self.requests:
            return
        age = time.monotonic() - self.since
        if self.request is None or not self.request.headers_finished:
            self.will_close |= age > (IDLE_SECONDS if self.request is None else HEAD_SECONDS)
        elif self._receiving.is_too_slow(self.request.body_bytes_received):
            self._answer_now(self.request)

    def _answer_now(self, request: Request) -> None:
        with self.requests_lock:
            request.give_up(TimeoutError(ETIMEDOUT, "the body did not arrive in time"))
            self.requests.append(request)
            self.request = None
        self.server.add_task(self)

    def _count_large(self, request: Request) -> None:
        if request.is_large or request.body_bytes_received < LARGE_BODY_BYTES:
            return
        request.is_large = True
        requests = [connection.request for connection in self.server.active_channels.values()]
        if sum(other is not None and other.is_large for other in requests) > MAX_LARGE_BODIES:
            request.drop_body(OSError(EBUSY, "too many large bodies at once"))


class Server(TcpWSGIServer):  # type: ignore[misc]
    """All connections of one listening socket in one process."""

    channel_class = Connection

    def readable(self) -> bool:
        if len(self._map) >= self.adj.connection_limit:
            self._drop_longest_waiting()
        return bool(super().readable())

    def maintenance(self, now: float) -> None:  # noqa: ARG002  waitress's clock may jump
        for connection in list(self.active_channels.values()):
            connection.end_overdue()

    def _drop_longest_waiting(self) -> None:
        """Rather than refuse whoever comes now: an honest request arrives within moments."""
        waiting = [c for c in self.active_channels.values() if c.is_waited_for]
        count = int(self.adj.connection_limit * DROPPED_SHARE)
        for connection in sorted(waiting, key=lambda connection: connection.since)[:count]:
            connection.will_close = True


class WebProcess(Worker):  # type: ignore[misc]
    """What gunicorn runs in each of its processes."""

    def run(self) -> None:
        self._channels: dict[int, Any] = {}
        self._threads = ThreadedTaskDispatcher()
        self._threads.set_thread_count(self.cfg.threads)
        self._servers = [self._listen(listener.sock) for listener in self.sockets]
        while self.alive and self.ppid == os.getppid():
            self._turn()
        self._finish()

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        for server in getattr(self, "_servers", ()):
            server.pull_trigger()

    def _listen(self, listener: socket.socket) -> Server:
        return serve(self.wsgi, listener, self._channels, self._threads)

    def _turn(self) -> None:
        self.notify()
        wasyncore.loop(timeout=1, use_poll=True, map=self._channels, count=1)

    def _finish(self) -> None:
        """Accept nothing more, and let requests under way be answered."""
        deadline = time.monotonic() + self.cfg.graceful_timeout
        for server in self._servers:
            server.accepting = False
        while time.monotonic() < deadline and any(map(_is_busy, self._servers)):
            self._turn()
        self._threads.shutdown(timeout=0.1)


def serve(
    application: Any, listener: socket.socket, channels: dict[int, Any], threads: Any
) -> Server:
    """A server of this application on a listening socket; `channels` is what its loop runs over."""
    from django.conf import settings

    tempfile.tempdir = str(settings.SPOOL_DIR)  # where bodies lie that are too large for memory
    adjustments = Adjustments(
        sockets=[listener],
        connection_limit=_connection_limit(),
        asyncore_use_poll=True,
        cleanup_interval=1,
        recv_bytes=RECEIVED_BYTES,
        max_request_header_size=MAX_HEAD_BYTES,
        # What is larger than any upload is read too, so that its sender is told: up to a point.
        max_request_body_size=2 * settings.EVALSITE_MAX_UPLOAD_BYTES + LARGE_BODY_BYTES,
        clear_untrusted_proxy_headers=False,  # Django trusts those that its settings name
        log_socket_errors=False,
        ident=None,
    )
    return Server(
        application,
        channels,
        _sock=listener,
        dispatcher=threads,
        adj=adjustments,
        sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
        bind_socket=False,
    )


def _connection_limit() -> int:
    """As many connections as this process may have files for, which is raised first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS * FILES_PER_CONNECTION
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return soft // FILES_PER_CONNECTION
    return MAX_CONNECTIONS


def _is_busy(server: Server) -> bool:
    return not all(c.is_waited_for for c in server.active_channels.values())
