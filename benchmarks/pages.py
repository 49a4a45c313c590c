"""How long the server takes for the pages of large runs, and in how many queries.

    python benchmarks/pages.py [--size 100000] [--rounds 15] [--kept FOLDER] [--plain]

Runs of so many cases within one dataset version and between two, and a series of 52 small runs,
on a fresh SQLite file. Each page is asked for through Django's test client, warm, with garbage
collection as the web server has it, in turn with the bare view of `bare_view.py`: the ratio of
their processor times hardly depends on the machine or on what else it does; milliseconds do.
`--kept` leaves the runs in a folder and measures those that it holds already; with `--plain` nobody
reviews, and the pages of reviews are left out. Prints a Markdown table: of milliseconds the median
and the minimum, of ratios those of medians and of minima.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rounds import Round, measure, ms_cells, print_head, print_machine, print_row, ratio_cell

WEEKS = 52
WARM_ROUNDS = 12  # PostgreSQL plans a statement anew the first ten times
OPEN_TASKS = 500  # of the person who looks at the pages
CASES_A_WEEK = 1_000
LISTS = ("broke", "fixed", "unchanged", "unclear", "only_baseline", "only_candidate", "edited")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--kept", type=Path, help="a folder for the runs, to measure them again")
    parser.add_argument("--only", default="", help="a part of the names of the pages to measure")
    parser.add_argument("--plain", action="store_true", help="without reviews and their pages")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = str(arguments.kept or folder)
        os.environ["EVALSITE_ALLOWED_HOSTS"] = "testserver"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure_pages(arguments.size, arguments.rounds, arguments.only, arguments.plain)


def measure_pages(size: int, rounds: int, only: str, is_plain: bool) -> None:
    runs = made(size)
    client, bare = signed_in()
    urls = [*pages(runs), *(() if is_plain else review_pages(runs.run))]
    count = runs.run.output_set.output_count
    print(f"Cases: {count:,}\n")
    print_head("page", "ms", "CPU ms", "other programs", "ratio", "queries")
    for name, url in urls:
        if only in name:
            print_row(name, *ask(client, bare, url, rounds))
    print_machine()


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

    from scoring.engine.compare.comparison import compare_runs
    from scoring.engine.drift import measure_series as measure_drift

    run, same, other = make_runs(size)
    for candidate in (same, other):
        compare_runs(run, candidate)
    series = make_series(CASES_A_WEEK, WEEKS)
    for dataset in (run.output_set.version.dataset, series):
        measure_drift(dataset, "a")
    return Made(run, same, other, series)


def signed_in() -> tuple[Any, Any]:
    """A client of the site and one of the bare view, of the same person."""
    from bare_view import bare_client
    from django.test import Client

    from evalsite.gunicorn_conf import keep_what_is_loaded
    from scoring.models import Member, Role, Team, User

    user, _ = User.objects.get_or_create(email="a@example.org")
    Member.objects.get_or_create(team=Team.objects.get(), user=user, role=Role.EDITOR)
    keep_what_is_loaded()
    client = Client()
    client.force_login(user)
    return client, bare_client(user)


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


def review_pages(run: Any) -> Iterator[tuple[str, str]]:
    """A queue of 20,000 cases, all but the last of them reviewed, and its last case."""
    from django.urls import reverse

    from scoring.models import ReviewQueue

    queue = ReviewQueue.objects.filter(run=run).first() or reviewed_queue(run)
    yield "review", reverse("review", args=[run.team.slug])
    yield "review queue", reverse("review_queue", args=[queue.uuid])
    yield "review task", reverse("review_task", args=[queue.uuid, queue.case_count])
    yield "run, reviewed", reverse("run", args=[run.uuid]) + "?reviewed=yes"
    yield "new review queue", reverse("new_review_queue", args=[run.uuid])


def reviewed_queue(run: Any) -> Any:
    """A random sample, reviewed but for its last case, beside a queue that is not begun.

    Says how long it took to draw each.
    """
    from time import perf_counter

    from scoring.engine.review.queues import QueuePlan, create_queue
    from scoring.models import QueueOrder, Review, ReviewVerdict, User
    from scoring.models.reviews.queue import MAX_CASES

    user = User.objects.get(email="a@example.org")
    for order, size in ((QueueOrder.VALUE, OPEN_TASKS), (QueueOrder.RANDOM, MAX_CASES)):
        begun = perf_counter()
        queue = create_queue(run, QueuePlan("Review", [user], size, order), by=user)
        print(
            f"A queue of {queue.case_count:,} cases, {order.label}: {perf_counter() - begun:.1f} s"
        )
    tasks = list(queue.tasks.order_by("position")[: queue.case_count - 1])
    Review.objects.bulk_create(
        [
            Review(
                output_id=task.output_id,
                output_set_id=run.output_set_id,
                reviewer=user,
                verdict=ReviewVerdict.PASS,
            )
            for task in tasks
        ],
        batch_size=1_000,
    )
    queue.tasks.filter(pk__in=queue.tasks.order_by("position").values("pk")[: len(tasks)]).update(
        done_at=queue.created_at
    )
    return queue


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
    from scoring.core.charts.comparison_charts import change_histogram
    from scoring.engine.compare.comparison import compare_runs
    from scoring.engine.compare.figures import Figures
    from scoring.models.pairs.pair_index import change_text

    scorers = Figures.read(compare_runs(baseline, candidate).figures).scorers
    bars = [
        (bar, each.name)
        for each in scorers
        for bar in change_histogram(each.histogram).bars
        if bar.cases
    ]
    bar, scorer = min(bars, key=lambda found: found[0].cases)
    return urlencode({"kind": "pairs", "scorer": scorer, "change": change_text(bar.change)})


def case_address(run: Any) -> str:
    """Of a case in the middle."""
    from django.urls import reverse

    return reverse("run_case", args=[run.uuid, run.output_set.output_count // 2])


def ask(client: Any, bare: Any, url: str, rounds: int) -> list[str]:
    """Cells of a table, after some rounds that warm up."""
    queries = counted(client, url)
    for _ in range(WARM_ROUNDS):
        client.get(url)
    asked = [(timed(client, url), timed(bare, "/")) for _ in range(rounds)]
    page, view = zip(*asked, strict=True)
    return [*ms_cells(page), ratio_cell(page, view), str(queries)]


def timed(client: Any, url: str) -> Round:
    """One request."""
    return measure(lambda: client.get(url))


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
