"""How long the server takes for a page of a large run, and in how many queries.

    python benchmarks/pages.py [--size 100000] [--rounds 15]

Each page is asked for through Django's test client on a fresh SQLite file, warm; the median is
shown. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ["EVALSITE_ALLOWED_HOSTS"] = "testserver"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(arguments.size, arguments.rounds)


def measure(size: int, rounds: int) -> None:
    print(f"Cases: {size:,}\n\n| page | median, ms | worst, ms | queries |\n|---|---:|---:|---:|")
    run = scored_run(size)
    client = signed_in()
    for name, url in pages(run):
        times, queries = ask(client, url, rounds)
        print(f"| {name} | {statistics.median(times):.0f} | {max(times):.0f} | {queries} |")


def scored_run(size: int) -> Any:
    from score_and_store import make_outputs, make_suite

    from scoring.engine import plan
    from scoring.engine.dispatch import work_on
    from scoring.engine.pool import Pool

    suite = make_suite()
    run = plan.new_run(make_outputs(size), suite=suite)
    with Pool(os.cpu_count() or 1) as pool:
        work_on(run, pool)
    return run


def signed_in() -> Any:
    from django.test import Client

    from scoring.models import Member, Role, Team, User

    user, _ = User.objects.get_or_create(email="a@example.org")
    Member.objects.get_or_create(team=Team.objects.get(), user=user, role=Role.EDITOR)
    client = Client()
    client.force_login(user)
    return client


def pages(run: Any) -> Iterator[tuple[str, str]]:
    from django.urls import reverse

    page = reverse("run", args=[run.uuid])
    dataset = run.output_set.version.dataset
    yield "team home", reverse("team_home", args=[run.team.slug])
    yield "runs", reverse("runs", args=[run.team.slug])
    yield "dataset, first cases", reverse("dataset", args=[dataset.uuid])
    yield "run", page
    yield "run, failed cases", f"{page}?verdict=fail"
    yield "run, worst first", f"{page}?sort=levenshtein"
    yield "run, a score range", f"{page}?scorer=levenshtein&min=0.9&max=0.95"
    yield "run, a common word", f"{page}?q=damaged"
    yield "run, a text that is nowhere", f"{page}?q=zebra"
    middle = run.output_set.output_count // 2
    yield "case", reverse("run_case", args=[run.uuid, middle])


def ask(client: Any, url: str, rounds: int) -> tuple[list[float], int]:
    """Milliseconds of each round after a first one that warms up, and the number of queries."""
    from django.db import connection

    queries = []

    def counted(execute: Any, *statement: Any) -> Any:
        queries.append(statement)
        return execute(*statement)

    with connection.execute_wrapper(counted):
        answer = client.get(url)
    if answer.status_code != 200:
        raise SystemExit(f"{url} answers {answer.status_code}")
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        client.get(url)
        times.append((time.perf_counter() - start) * 1000)
    return times, len(queries)


if __name__ == "__main__":
    main()
