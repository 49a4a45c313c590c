"""Whether another team's object takes as long to be refused as one that does not exist.

    python benchmarks/tenants.py [--requests 200]

Two teams with one of everything on a fresh SQLite file. An administrator of one asks for the other
one's objects and for missing ones in turn, at every page and address of the API that names an
object by its id. Prints a Markdown table of the addresses that differ most: the median elapsed time
of both and their ratio. Exit 1 where those of one address differ by more than 10 %.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rounds import print_head, print_machine, print_row

LIMIT: Final = 0.1
LISTED: Final = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=200, help="for each kind and address")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ["EVALSITE_ALLOWED_HOSTS"] = "testserver"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        sys.exit(measure(arguments.requests))


def measure(requests: int) -> int:
    """The exit code."""
    from django.test import Client

    from evalsite.api.throttling import RequestThrottle
    from evalsite.gunicorn_conf import keep_what_is_loaded

    # So many requests in a minute would be refused.
    RequestThrottle.allow_request = lambda *_: True  # type: ignore[method-assign]
    stranger, urls = furnished()
    client = Client()
    client.force_login(stranger)
    keep_what_is_loaded()
    rows = []
    for name, there, nowhere in urls:
        foreign, missing = alternate(client, there, nowhere, requests)
        rows.append((foreign / missing, name, foreign, missing))
    rows.sort(key=lambda row: abs(row[0] - 1), reverse=True)
    print_head("address", "another team's, ms", "missing, ms", "ratio")
    for ratio, name, foreign, missing in rows[:LISTED]:
        print_row(name, f"{foreign * 1e3:.2f}", f"{missing * 1e3:.2f}", f"{ratio:.3f}")
    whole = median(ratio for ratio, *_ in rows)
    print_row(f"median of {len(rows)} addresses", "", "", f"{whole:.3f}")
    print_machine()
    return int(abs(rows[0][0] - 1) > LIMIT)


def furnished() -> tuple[Any, list[tuple[str, str, str]]]:
    """The stranger, and of each address its name, with a foreign id and with a missing one."""
    from scoring.models import Member, Role, Team, User
    from tests.contracts.addresses import listed, parameters, url_of
    from tests.contracts.doors import API, PAGES
    from tests.support.datasets import published_version, ready_outputs
    from tests.support.fixtures.house import furnish

    people = []
    houses = []
    for slug in ("here", "elsewhere"):
        team = Team.objects.create(name=slug, slug=slug)
        people.append(User.objects.create_user(f"{slug}@example.org"))
        Member.objects.create(team=team, user=people[-1], role=Role.ADMIN)
        publish = partial(published_version, team)
        houses.append((furnish(team, people[-1], publish, ready_outputs), team))

    def urls() -> Iterator[tuple[str, str, str]]:
        for kind, name, wanted in listed():
            if "uid" not in wanted or (PAGES if kind == "page" else API)[name][0] is None:
                continue
            there = url_of(kind, name, wanted, *houses[1])
            uid = str(parameters(name, wanted, *houses[1])["uid"])
            yield f"{kind} {name}", there, there.replace(uid, str(uuid.uuid4()))

    return people[0], list(urls())


def alternate(client: Any, there: str, nowhere: str, requests: int) -> tuple[float, float]:
    """The median seconds of a foreign and of a missing object, asked for in turn."""
    seconds: dict[str, list[float]] = {there: [], nowhere: []}
    for _ in range(requests):
        for url, taken in seconds.items():
            start = time.perf_counter()
            status = client.get(url).status_code
            taken.append(time.perf_counter() - start)
            if status not in {403, 404}:
                raise SystemExit(f"{url} answered {status}")
    return median(seconds[there]), median(seconds[nowhere])


if __name__ == "__main__":
    main()
