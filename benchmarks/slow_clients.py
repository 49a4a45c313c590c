"""What readers wait for while slow clients hold connections open, beside what they wait for else.

    python benchmarks/slow_clients.py [--slow 64] [--people 20] [--think 1] [--seconds 120]

Starts `manage.py start` on a fresh folder with the demo. Twenty people read its pages; then the
same while so many clients each drip the head of a request, drip its body, or read a page byte by
byte into a small buffer. Prints a Markdown table with the 95th percentile as a multiple of the one
without; it ends with 1 where anybody got a 5xx or no answer, or it is more than twice as long.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from serving import MAX_SECONDS, PageTimings, pages, sessions, site, visit

MAX_SLOW: Final = 64
MAX_RATIO: Final = 2.0
DRIP_SECONDS: Final = 1.0

Slow = Callable[[int, str, str], Coroutine[Any, Any, None]]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--slow", type=int, default=64)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--think", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    given = parser.parse_args()
    seconds, slow = min(given.seconds, MAX_SECONDS), min(given.slow, MAX_SLOW)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django

        django.setup()
        with site() as (port, _):
            return measure(port, slow, given.people, given.think, seconds)


def measure(port: int, slow: int, people: int, think: float, seconds: float) -> int:
    cookies, urls = sessions(), pages()
    print("| beside | pages | p50, ms | p95, ms | p95 against without | faults |")
    print("|---|---:|---:|---:|---:|---:|")
    without, is_well = 0.0, True
    for name, client in CLIENTS.items():

        async def read(client: Slow | None = client) -> PageTimings:
            async with held(client, slow, port, cookies[0], urls[-1]):
                return await visit(port, cookies, urls, people, think, seconds)

        heard = asyncio.run(read())
        cuts = statistics.quantiles(heard.seconds, n=100)
        without = without or cuts[94]
        ratio = cuts[94] / without
        is_well &= ratio <= MAX_RATIO and not heard.faults
        cells = f"{slow} {name}" if client else name, f"{len(heard.seconds):,}"
        figures = f"{1_000 * cuts[49]:.0f} | {1_000 * cuts[94]:.0f} | {ratio:.2f}"
        print(f"| {' | '.join(cells)} | {figures} | {len(heard.faults)} |", flush=True)
    return 0 if is_well else 1


@asynccontextmanager
async def held(
    client: Slow | None, count: int, port: int, cookie: str, url: str
) -> AsyncIterator[None]:
    """So many of these clients, each of which comes back when it is sent away."""

    async def keep_on(slow: Slow) -> None:
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                await slow(port, cookie, url)

    tasks = [asyncio.create_task(keep_on(client)) for _ in range(count)] if client else []
    await asyncio.sleep(2 if client else 0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def drip_head(port: int, _: str, url: str) -> None:
    await _drip(port, f"GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ".encode(), b"x")


async def drip_body(port: int, cookie: str, _: str) -> None:
    head = (
        "POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n"
        f"Cookie: sessionid={cookie}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\nlogin="
    )
    await _drip(port, head.encode(), b"a")


async def _drip(port: int, start: bytes, more: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(start)
        while not reader.at_eof():
            writer.write(more)
            await writer.drain()
            await asyncio.sleep(DRIP_SECONDS)
    finally:
        writer.close()


async def read_slowly(port: int, cookie: str, url: str) -> None:
    """Ask for a page and take a byte a second of it."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)  # the least that the system has
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=connection, limit=1)
    try:
        writer.write(
            f"GET {url} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: sessionid={cookie}\r\n\r\n".encode()
        )
        while await reader.read(1):
            await asyncio.sleep(DRIP_SECONDS)
    finally:
        writer.close()


CLIENTS: Final[dict[str, Slow | None]] = {
    "nobody": None,
    "slow heads": drip_head,
    "slow bodies": drip_body,
    "slow readers": read_slowly,
}

if __name__ == "__main__":
    sys.exit(main())
