"""PostgreSQL out of reach, for the tests' own database alone: others share the server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
from django.db import connection

#: What a worker logs then, each second.
NOTICED = "the database cannot be used, trying again"
ENDED = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s"


def end_connections(*, mine: bool = False) -> int:
    """End the connections of all processes and threads but this one's; how many there were."""
    kept = 0 if mine or connection.connection is None else connection.connection.info.backend_pid
    with control_server() as control:
        return control.execute(ENDED, [connection.settings_dict["NAME"], kept]).rowcount


def end_own_connection() -> None:
    """End the connection of this thread, which learns of it at its next query."""
    connection.ensure_connection()
    with control_server() as control:
        control.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])


@contextmanager
def outage() -> Iterator[None]:
    """As while the server restarts: every connection ends, and there are no new ones."""
    name = connection.settings_dict["NAME"]
    connection.close()
    with control_server() as control:
        control.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        try:
            end_connections(mine=True)
            yield
        finally:
            control.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


def control_server() -> psycopg.Connection[tuple[object, ...]]:
    """A connection to the server, outside any database of the tests."""
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path="/postgres").geturl()
    return psycopg.connect(url, autocommit=True)
