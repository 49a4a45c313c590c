"""An HTTP client that connects only to addresses the SSRF guard has checked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from functools import lru_cache
from typing import Any, Final

import httpcore2
import httpx2

from scoring.core.llm.ssrf_guard import GuardError, Lookup, lookup_addresses, resolve_target

MAX_REPLY_BYTES: Final = 8 * 1024 * 1024


class ReplyTooLargeError(GuardError):
    code = "reply_too_large"


class RedirectError(GuardError):
    code = "not_an_api"


class EncodedReplyError(GuardError):
    """A compressed reply, which was not requested: a few bytes of it could fill the memory."""

    code = "not_an_api"


def guarded_client(
    allowed_hosts: Iterable[str] = (),
    *,
    timeout_seconds: float = 60,
    lookup: Lookup = lookup_addresses,
    reads_body: bool = True,
) -> httpx2.AsyncClient:
    """A client for the openai library. It raises GuardError, or an error whose cause is one.

    Who does not read the body of an answer takes any. Proxies from the environment are not used:
    the address behind one could not be checked.
    """
    return httpx2.AsyncClient(
        transport=GuardedTransport(allowed_hosts, lookup, reads_body=reads_body),
        timeout=timeout_seconds,
        follow_redirects=False,
        trust_env=False,
    )


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Connects through the guard, takes no redirect and at most MAX_REPLY_BYTES of a reply."""

    def __init__(
        self,
        allowed_hosts: Iterable[str] = (),
        lookup: Lookup = lookup_addresses,
        *,
        reads_body: bool = True,
    ) -> None:
        super().__init__(verify=_ssl_context())
        self._reads_body = reads_body
        self._pool = httpcore2.AsyncConnectionPool(  # the one way to give it our network
            ssl_context=_ssl_context(),
            max_connections=None,
            keepalive_expiry=30,
            network_backend=GuardedNetwork(frozenset(allowed_hosts), lookup),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await super().handle_async_request(request)
        try:
            _check_redirect(response)
            if self._reads_body:
                _check_size(response)
        except GuardError:
            await response.aclose()
            raise
        response.stream = CappedStream(response.stream)
        return response


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to the addresses that were checked; the name is still used for Host and SNI."""

    def __init__(self, allowed_hosts: frozenset[str], lookup: Lookup) -> None:
        self._allowed_hosts = allowed_hosts
        self._lookup = lookup
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        last_error: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in await self._addresses(host, port, timeout):
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as fault:
                last_error = fault
        raise last_error

    async def _addresses(self, host: str, port: int, timeout: float | None) -> list[str]:
        try:
            async with asyncio.timeout(timeout):
                return await resolve_target(host, port, self._allowed_hosts, self._lookup)
        except TimeoutError as fault:
            raise httpcore2.ConnectTimeout(f"the name {host} was not found in time") from fault
        except OSError as fault:
            raise httpcore2.ConnectError(f"the name {host} was not found") from fault

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        raise GuardError(f"{path} is a file, not a host")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class CappedStream(httpx2.AsyncByteStream):
    """A reply's body up to MAX_REPLY_BYTES."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > MAX_REPLY_BYTES:
                raise _too_large()
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


@lru_cache(maxsize=1)
def _ssl_context() -> ssl.SSLContext:
    """One for all clients: reading the certificates takes some 50 ms."""
    return httpx2.create_ssl_context()


def find_tls_fault(fault: BaseException) -> str:
    """What is wrong with a server's certificate or encryption, if that is the cause; else empty."""
    cause: BaseException | None = fault
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            what = getattr(cause, "verify_message", "") or cause.reason or "no TLS"
            return str(what).replace("_", " ").lower()[:120]
        cause = cause.__cause__ or cause.__context__
    return ""


def _check_redirect(response: httpx2.Response) -> None:
    """Raises RedirectError."""
    if response.has_redirect_location:
        raise RedirectError(
            f"the endpoint answered {response.status_code} with another address; "
            "give that address as the base URL if it is the right one"
        )


def _check_size(response: httpx2.Response) -> None:
    """Raises GuardError for a compressed or a too large reply."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise EncodedReplyError("the endpoint sent a compressed reply, though none was asked for")
    length = response.headers.get("Content-Length", "")
    if length.isascii() and length.isdecimal() and int(length) > MAX_REPLY_BYTES:
        raise _too_large()


def _too_large() -> ReplyTooLargeError:
    return ReplyTooLargeError(f"the reply is larger than {MAX_REPLY_BYTES // 1024**2} MB")
