"""The guarded client against a real server on the loopback."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import re
from collections.abc import Sequence
from itertools import count

import httpx2
import pytest

from scoring.core.llm import guarded_transport
from scoring.core.llm.guarded_transport import EncodedReplyError, RedirectError, ReplyTooLargeError
from scoring.core.llm.ssrf_guard import GuardError, Lookup, RefusedError
from tests.support.paths import ROOT

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Heads = list[bytes]


def always(*addresses: str) -> Lookup:
    async def lookup(_: str, __: int) -> Sequence[str]:
        return addresses

    return lookup


def asked(
    answer: bytes,
    allowed: Sequence[str] = ("models.example.org",),
    lookup: Lookup | None = None,
    **options: bool,
) -> tuple[httpx2.Response, Heads]:
    """The reply of a server on the loopback that sends `answer`, and the heads it was sent."""
    heads: Heads = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()

    async def ask() -> httpx2.Response:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        client = guarded_transport.guarded_client(
            allowed, timeout_seconds=5, lookup=lookup or always("127.0.0.1"), **options
        )
        url = f"http://models.example.org:{port}/v1/models"
        async with server, client, client.stream("GET", url) as reply:
            if options.get("reads_body", True):
                await reply.aread()
            return reply

    return asyncio.run(ask()), heads


def test_a_listed_host_is_asked_under_its_own_name() -> None:
    reply, (head,) = asked(OK)
    assert reply.json() == {}
    assert b"Host: models.example.org:" in head
    assert b"Accept-Encoding: identity" in head


def test_a_name_that_leads_to_the_loopback_is_never_connected_to() -> None:
    with pytest.raises(RefusedError, match=r"models\.example\.org leads to 127\.0\.0\.1"):
        asked(OK, allowed=())


def test_what_was_checked_is_what_is_connected_to() -> None:
    """The name changes its address with every question; only one question is asked a connection."""
    turns = count()

    async def rebinding(_: str, __: int) -> Sequence[str]:
        return ["127.0.0.1"] if next(turns) == 0 else ["127.0.0.2"]

    _, heads = asked(OK, allowed=["127.0.0.1"], lookup=rebinding)
    assert len(heads) == 1
    assert next(turns) == 1


def test_a_name_that_turns_inwards_after_it_was_saved_is_refused() -> None:
    turns = iter([["8.8.8.8"], ["10.0.0.1"]])

    async def rebinding(_: str, __: int) -> Sequence[str]:
        return next(turns)

    async def twice() -> None:
        network = guarded_transport.GuardedNetwork(frozenset(), rebinding)
        assert await network._addresses("models.example.org", 443, 1) == ["8.8.8.8"]
        with pytest.raises(RefusedError, match=r"10\.0\.0\.1"):
            await network._addresses("models.example.org", 443, 1)

    asyncio.run(twice())


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    reply, heads = asked(OK, lookup=always("127.255.255.254", "127.0.0.1"))
    assert (reply.status_code, len(heads)) == (200, 1)


@pytest.mark.parametrize("status", [b"301 Moved", b"302 Found", b"307 Temporary", b"308 Permanent"])
def test_a_redirect_is_not_followed(status: bytes) -> None:
    where = b"Location: http://169.254.169.254/latest/meta-data/\r\n"
    answer = b"HTTP/1.1 " + status + b"\r\n" + where + b"Content-Length: 0\r\n\r\n"
    with pytest.raises(RedirectError, match=r"answered 30[1278] with another address"):
        asked(answer)


def test_a_reply_that_says_it_is_too_large_is_not_read() -> None:
    with pytest.raises(ReplyTooLargeError, match="larger than 8 MB"):
        asked(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n{}")


def test_a_reply_that_turns_out_too_large_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_transport, "MAX_REPLY_BYTES", 1000)
    part = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    reply, _ = asked(chunked + part + b"0\r\n\r\n")
    assert len(reply.content) == 1000
    with pytest.raises(ReplyTooLargeError):
        asked(chunked + part * 2 + b"0\r\n\r\n")


def test_a_compressed_reply_is_refused() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    with pytest.raises(EncodedReplyError) as refused:
        asked(head + bomb)
    assert refused.value.code == "not_an_api"


def failing(fault: Exception) -> Lookup:
    async def lookup(_: str, __: int) -> Sequence[str]:
        raise fault

    return lookup


@pytest.mark.parametrize(
    ("lookup", "error", "said"),
    [
        (failing(OSError("no such name")), httpx2.ConnectError, "was not found"),
        (failing(TimeoutError()), httpx2.ConnectTimeout, "not found in time"),
        (always(), httpx2.ConnectError, "was not found"),
        (always("127.255.255.254"), httpx2.ConnectError, "attempts failed|refused|onnect"),
    ],
)
def test_a_name_that_leads_nowhere_is_a_connection_error(
    lookup: Lookup, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        asked(OK, lookup=lookup)


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    reply, _ = asked(OK)
    assert reply.status_code == 200


def test_nothing_else_opens_connections() -> None:
    opens = re.compile(
        r"AsyncClient\(|httpx2?\.Client\(|urlopen|^import requests|http\.client|create_connection"
        r"|open_connection|[^c]OpenAI\(",
        re.MULTILINE,
    )
    found = {
        path.name
        for folder in ("scoring", "evalsite")
        for path in (ROOT / folder).rglob("*.py")
        if opens.search(path.read_text())
    }
    assert found == {"guarded_transport.py"}


def test_a_socket_file_is_no_host() -> None:
    network = guarded_transport.GuardedNetwork(frozenset(), always())
    with pytest.raises(GuardError, match=r"docker\.sock is a file"):
        asyncio.run(network.connect_unix_socket("/run/docker.sock"))


@pytest.mark.parametrize(
    "header", [b"Content-Encoding: gzip", b"Content-Length: 999999999999"], ids=["packed", "huge"]
)
def test_who_reads_no_body_takes_any(header: bytes) -> None:
    reply, _ = asked(b"HTTP/1.1 200 OK\r\n" + header + b"\r\n\r\n{}", reads_body=False)
    assert reply.status_code == 200


def test_who_reads_no_body_follows_no_redirect_either() -> None:
    with pytest.raises(RedirectError):
        asked(b"HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\n\r\n", reads_body=False)


def test_only_faults_of_encryption_are_called_so() -> None:
    assert guarded_transport.find_tls_fault(OSError("no route to host")) == ""
