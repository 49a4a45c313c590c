"""How long the server takes for the pages of large runs, and in how many queries.

    python benchmarks/pages.py [--size 100000] [--rounds 15] [--kept FOLDER]

Runs of so many cases within one dataset version and between two, and a series of 52 small runs,
on a fresh SQLite file. Each page is asked for through Django's test client, warm, with garbage
collection as the web server has it. Processor time hardly depends on what else the machine does;
milliseconds do. `--kept` leaves the runs in a folder and measures those that it holds already.
Prints a Markdown table.
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
from typing import Any, NamedTuple
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

WEEKS = 52
CASES_A_WEEK = 1_000
LISTS = ("broke", "fixed", "unchanged", "unclear", "only_baseline", "only_candidate", "edited")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kept", type=Path, help="a folder for the runs, to measure them again")
    parser.add_argument("--only", default="", help="a part of the names of the pages to measure")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = str(arguments.kept or folder)
        os.environ["EVALSITE_ALLOWED_HOSTS"] = "testserver"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(arguments.size, arguments.rounds, arguments.only)


def measure(size: int, rounds: int, only: str) -> None:
    runs = made(size)
    urls = list(pages(runs))
    count = runs.run.output_set.output_count
    print(f"Cases: {count:,}\n\n| page | median, ms | worst, ms | CPU, ms | queries |")
    print("|---|---:|---:|---:|---:|")
    client = signed_in()
    for name, url in urls:
        if only in name:
            print(f"| {name} | {ask(client, url, rounds)} |", flush=True)


class Made(NamedTuple):
    """A run, one over the same dataset version, one over the next, and a dataset of many runs."""

    run: Any
    same: Any
    other: Any
    series: Any


def made(size: int) -> Made:
    """What is there already, else made now."""
    from scoring.models import Dataset, Run

    found = list(Run.objects.order_by("pk")[:3])
    if not found:
        return make(size)
    runs = [Run.objects.select_related("output_set__version").get(pk=run.pk) for run in found]
    return Made(*runs, Dataset.objects.order_by("pk").last())


def make(size: int) -> Made:
    from compare import make_runs
    from drift import make_series

    from scoring.engine.compare import compared
    from scoring.engine.drift import measure as measure_drift

    run, same, other = make_runs(size)
    for candidate in (same, other):
        compared(run, candidate)
    series = make_series(CASES_A_WEEK, WEEKS)
    for dataset in (run.output_set.version.dataset, series):
        measure_drift(dataset, "a")
    return Made(run, same, other, series)


def signed_in() -> Any:
    from django.test import Client

    from evalsite.gunicorn_conf import keep_what_is_loaded
    from scoring.models import Member, Role, Team, User

    user, _ = User.objects.get_or_create(email="a@example.org")
    Member.objects.get_or_create(team=Team.objects.get(), user=user, role=Role.EDITOR)
    keep_what_is_loaded()
    client = Client()
    client.force_login(user)
    return client


def pages(made: Made) -> Iterator[tuple[str, str]]:
    """The name and the address of each page."""
    from django.urls import reverse

    run, dataset = made.run, made.run.output_set.version.dataset
    yield "team home", reverse("team_home", args=[run.team.slug])
    yield "runs", reverse("runs", args=[run.team.slug])
    yield "dataset, first cases", reverse("dataset", args=[dataset.uuid])
    yield from run_pages(reverse("run", args=[run.uuid]))
    yield from changed_pages("one version", run, made.same)
    yield from changed_pages("two versions", run, made.other)
    yield "case", case_address(run)
    yield "compare, the form", reverse("compare", args=[run.team.slug])
    yield from compare_pages("one version", run, made.same)
    yield from compare_pages("two versions", run, made.other)
    yield "drift of a team", reverse("team_drift", args=[run.team.slug])
    yield "drift of the runs", reverse("dataset_drift", args=[dataset.uuid])
    series = reverse("dataset_drift", args=[made.series.uuid])
    yield f"drift, a line of {WEEKS} runs", f"{series}?scorer=close"
    yield f"drift, two lines of {WEEKS} runs", series


def run_pages(page: str) -> Iterator[tuple[str, str]]:
    yield "run", page
    yield "run, failed cases", f"{page}?verdict=fail"
    yield "run, worst first", f"{page}?sort=levenshtein"
    yield "run, passed, worst first", f"{page}?verdict=pass&sort=levenshtein"
    yield "run, a score range", f"{page}?scorer=levenshtein&min=0.9&max=0.95"
    yield "run, a common word", f"{page}?q=damaged"
    yield "run, a text that is nowhere", f"{page}?q=zebra"
    yield "run, a tag", f"{page}?tag=tag+3"
    yield "run, a rare tag", f"{page}?tag=rare"
    yield "run, a tag that is nowhere", f"{page}?tag=zebra"


def changed_pages(title: str, baseline: Any, candidate: Any) -> Iterator[tuple[str, str]]:
    """A run's cases that changed: since a run it was compared with, and since one it never was."""
    from django.urls import reverse

    page = reverse("run", args=[candidate.uuid])
    yield f"run, {title}, broke", f"{page}?change=broke&baseline={baseline.uuid}"
    query = f"change=fixed&baseline={candidate.uuid}"
    page = reverse("run", args=[baseline.uuid])
    yield f"run, {title}, fixed, not compared", f"{page}?{query}"
    yield f"case, {title}, fixed, not compared", f"{case_address(baseline)}?{query}&n=3"


def compare_pages(title: str, baseline: Any, candidate: Any) -> Iterator[tuple[str, str]]:
    """The comparison with each of its lists, and a case side by side, of each list."""
    from django.urls import reverse

    page = reverse("compare", args=[baseline.team.slug])
    runs = urlencode({"baseline": baseline.uuid, "candidate": candidate.uuid})
    for kind in LISTS:
        yield f"compare, {title}, {kind}", f"{page}?{runs}&kind={kind}"
    asked = {"a scorer": "scorer=includes", "a tag": "tag=tag+3", "a rare tag": "tag=rare"}
    asked |= {"a word": "q=damaged", "a text that is nowhere": "q=zebra"}
    for name, query in asked.items():
        yield f"compare, {title}, broke, {name}", f"{page}?{runs}&kind=broke&{query}"
    yield f"compare, {title}, a rare bar", f"{page}?{runs}&{rarest_bar(baseline, candidate)}"
    case = f"{case_address(candidate)}?against={baseline.uuid}"
    yield f"case, {title}", case
    for kind in LISTS:
        yield f"case, {title}, {kind}", f"{case}&kind={kind}&n=3"


def rarest_bar(baseline: Any, candidate: Any) -> str:
    """What a link from the rarest bar of a histogram asks for."""
    from scoring.core.compare_chart import steps
    from scoring.engine.compare import compared
    from scoring.engine.figures import Figures
    from scoring.models.pair_places import change_text

    scorers = Figures.read(compared(baseline, candidate).figures).scorers
    bars = [(bar, each.name) for each in scorers for bar in steps(each.histogram).bars if bar.cases]
    bar, scorer = min(bars, key=lambda found: found[0].cases)
    return urlencode({"kind": "pairs", "scorer": scorer, "change": change_text(bar.change)})


def case_address(run: Any) -> str:
    """Of a case in the middle."""
    from django.urls import reverse

    return reverse("run_case", args=[run.uuid, run.output_set.output_count // 2])


def ask(client: Any, url: str, rounds: int) -> str:
    """Cells of a table: after a first round that warms up, median and worst wall milliseconds, the
    median of processor milliseconds, and the number of queries.
    """
    queries = counted(client, url)
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        client.get(url)
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    figures = statistics.median(walls), max(walls), statistics.median(cpus)
    return " | ".join([*(f"{figure:.0f}" for figure in figures), str(queries)])


def counted(client: Any, url: str) -> int:
    """How many queries the page takes."""
    from django.db import connection

    queries = []

    def count(execute: Any, *statement: Any) -> Any:
        queries.append(statement)
        return execute(*statement)

    with connection.execute_wrapper(count):
        answer = client.get(url)
    if answer.status_code != 200:
        raise SystemExit(f"{url} answers {answer.status_code}")
    return len(queries)


if __name__ == "__main__":
    main()
