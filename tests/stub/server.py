"""A server that answers like an OpenAI-compatible endpoint, on a free port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from threading import Thread
from typing import Any

from tests.stub import wire
from tests.stub.scenarios import SCENARIOS, Asked, Script, scripted
from tests.stub.wire import Answer
from tests.support.waiting import DEADLINE_SECONDS

_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class Stub:
    """Use as a context manager. `requests` are all it was sent, in order.

        with Stub() as stub:
            stub.play("sulky", [wire.rate_limited("2"), wire.verdict("C")])
            endpoint = Endpoint("stub", stub.url("sulky"), allowed_hosts=stub.hosts)

    `latency` seconds pass before every answer; `most_in_flight` requests waited at once.
    """

    def __init__(self, latency: float = 0.0, port: int = 0) -> None:
        self.latency, self._wanted_port = latency, port
        self.requests: list[Asked] = []
        self._in_flight = self.most_in_flight = 0
        self.keeps_requests = True
        self._scripts = dict(SCENARIOS)
        self._counts: Counter[tuple[str, str]] = Counter()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="stub", daemon=True)

    def __enter__(self) -> Stub:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(DEADLINE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(DEADLINE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DEADLINE_SECONDS)
        self._loop.close()

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset({f"127.0.0.1:{self.port}"})

    def url(self, scenario: str = "ok") -> str:
        """The base URL under which the stub plays this scenario."""
        if scenario not in self._scripts:
            raise KeyError(scenario)
        return f"http://127.0.0.1:{self.port}/{scenario}/v1"

    def play(self, scenario: str, script: Script | Answer | Sequence[Answer]) -> str:
        """Add a scenario, or change one: an answer, answers in turn, or a function. Its URL."""
        self._scripts[scenario] = scripted(script)
        return self.url(scenario)

    def asked(self, scenario: str) -> list[Asked]:
        return [asked for asked in self.requests if asked.scenario == scenario]

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._wanted_port)
        self.port: int = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection stays open."""
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, headers = _head(head)
        sent = await reader.readexactly(int(headers.get("content-length", 0)))
        answer = self._answer(method, target, headers, sent)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            await asyncio.sleep(self.latency + answer.latency)
        finally:
            self._in_flight -= 1
        writer.write(_status_and_headers(answer))
        await _write_body(writer, answer)
        return not answer.is_cut

    def _answer(self, method: str, target: str, headers: dict[str, str], sent: bytes) -> Answer:
        scenario, _, path = target.lstrip("/").partition("/v1")
        script = self._scripts.get(scenario)
        if script is None:
            return wire.error(404, f"Invalid URL ({method} {target})")
        self._counts[scenario, path] += 1
        body = json.loads(sent) if sent else None
        asked = Asked(scenario, method, path, headers, body, self._counts[scenario, path])
        if self.keeps_requests:
            self.requests.append(asked)
        return script(asked)


def closed_port() -> int:
    """A port of 127.0.0.1 where nobody listens."""
    with socket.socket() as briefly:
        briefly.bind(("127.0.0.1", 0))
        port: int = briefly.getsockname()[1]
    return port


def _head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in lines if line)
    return method, target, {name.lower(): value.strip() for name, value in pairs}


def _status_and_headers(answer: Answer) -> bytes:
    headers: dict[str, Any] = {"content-type": answer.content_type, "x-request-id": "req_stub"}
    if answer.repeat > 1:
        headers["transfer-encoding"] = "chunked"
    else:
        headers["content-length"] = len(answer.body)
    lines = [f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, 'Unassigned')}"]
    lines += [f"{name}: {value}" for name, value in (headers | answer.headers).items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def _write_body(writer: asyncio.StreamWriter, answer: Answer) -> None:
    if answer.repeat > 1:
        for _ in range(answer.repeat):
            writer.write(b"%x\r\n%b\r\n" % (len(answer.body), answer.body))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
    elif answer.drip:
        for byte in answer.body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(answer.drip)
    else:
        writer.write(answer.body[: len(answer.body) // 2] if answer.is_cut else answer.body)
    await writer.drain()
