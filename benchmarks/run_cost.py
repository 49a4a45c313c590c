"""What a run costs beside its scoring, in one process.

    python benchmarks/run_cost.py [--sizes 200 1000] [--rounds 9] [--characters 100]

Counted is the processor time from making the run (`planning.create_run`) to its end as `evaluate`
has it: frozen suite, shards, reading, storing, summaries, audit, and what is left to the worker.
"Beside its scoring" is that less the time of the bare scorers, called with the same cases already
in memory; garbage is collected as `manage.py` has it. "With what follows" adds what the worker does
afterwards: measuring for drift and comparing with the run before. Function calls and queries are
those of one more round, not timed.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from rounds import make_suite, new_site, pairs, print_head, print_machine, print_row, seconds_cell


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1_000])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--characters", type=int, default=100, help="of a text, in the median")
    parser.add_argument("--profile", metavar="SORT", help="print the calls by this order")
    arguments = parser.parse_args()
    gc.set_threshold(200_000, 20, 20)  # as manage.py
    with new_site():
        suite = make_suite()
        print_head("cases", "run, ms", "beside its scoring, ms", "with what follows, ms",
                   "calls", "queries", "queries that follow")  # fmt: skip
        for size in arguments.sizes:
            measure_size(size, suite, arguments)
        print_machine()


def measure_size(size: int, suite: Any, arguments: argparse.Namespace) -> None:
    """Each round is one more run of a series, over outputs of its own."""
    version = make_version(size, arguments.characters)
    score_run(make_outputs(version, 0, arguments.characters), suite)
    follow()
    runs, follows = [], []
    for number in range(1, arguments.rounds + 1):
        outputs = make_outputs(version, number, arguments.characters)
        runs.append(cpu_of(lambda outputs=outputs: score_run(outputs, suite)))
        follows.append(cpu_of(follow))
    scoring = bare_scoring()
    outputs = make_outputs(version, arguments.rounds + 1, arguments.characters)
    queries, calls = counted(lambda: score_run(outputs, suite), arguments.profile)
    later, _ = counted(follow, None)
    ms = [1_000 * each for each in runs]
    print_row(
        f"{size:,}",
        seconds_cell(ms, 0),
        seconds_cell([each - 1_000 * scoring for each in ms], 0),
        seconds_cell([a + 1_000 * b for a, b in zip(ms, follows, strict=True)], 0),
        f"{calls:,}",
        queries.total(),
        later.total(),
    )
    if arguments.profile:
        for query, count in queries.most_common():
            print(count, query)


def make_version(size: int, characters: int) -> Any:
    from scoring.engine.imports import store_cases
    from scoring.models import Team

    cases = [
        {"key": f"q{place}", "input": "a question", "expected": expected, "tags": ["a", "b"]}
        for place, (expected, _) in enumerate(pairs(size, characters))
    ]
    return store_cases(Team.objects.get(), f"{size} cases", cases).version


def make_outputs(version: Any, number: int, characters: int) -> Any:
    from datetime import UTC, datetime, timedelta

    from scoring.engine.imports import close_outputs, store_outputs
    from scoring.models import OutputSet

    dated = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
    outputs = OutputSet.objects.create(version=version, series="a", dated=dated)
    texts = pairs(version.case_count, characters, seed=number % 3)
    rows = [{"key": f"q{place}", "output": text} for place, (_, text) in enumerate(texts)]
    store_outputs(outputs, rows)
    close_outputs(outputs, None)
    return outputs


def score_run(outputs: Any, suite: Any) -> None:
    from scoring.engine.processes.process_pool import InlineExecutor
    from scoring.engine.runs import planning
    from scoring.engine.worker.run_dispatcher import run_to_end
    from scoring.models import OutputSet, Suite

    outputs = OutputSet.objects.select_related("version__dataset__team").get(pk=outputs.pk)
    run = planning.create_run(outputs, suite=Suite.objects.get(pk=suite.pk))
    run_to_end(run, InlineExecutor())
    if run.state != "finished" or run.error_count:
        raise SystemExit(f"the run is {run.state} with {run.error_count} errors")


def follow() -> None:
    """What was left to the worker, as the worker does it."""
    from scoring.engine.jobs import job_queue
    from scoring.models import Job

    while waiting := Job.objects.unfinished().select_related("team").order_by("pk").first():
        job_queue.run_job(waiting)


def bare_scoring() -> float:
    """Processor seconds of the scorers alone, on the cases of the newest run."""
    from scoring.engine.runs.execution import cases_of_outputs, configured_scorer
    from scoring.models import Run

    run = Run.objects.latest("pk")
    cases = cases_of_outputs(
        list(run.output_set.outputs.order_by("pk").values_list("pk", flat=True))
    )
    scorers = [configured_scorer(scorer) for scorer in run.scorers.select_related("version")]
    return min(cpu_of(lambda: [scorer.score(cases) for scorer in scorers]) for _ in range(5))


def cpu_of(function: Callable[[], Any]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def counted(function: Callable[[], Any], order: str | None) -> tuple[Counter[str], int]:
    """Queries and number of function calls; the calls are printed by `order` if one is given."""
    from django.db import connection

    queries: Counter[str] = Counter()

    def note(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        queries[sql[:100]] += 1
        return execute(sql, *rest)

    profile = cProfile.Profile()
    with connection.execute_wrapper(note):
        profile.runcall(function)
    stats = pstats.Stats(profile)
    if order:
        stats.sort_stats(order).print_stats(60)
    return queries, stats.total_calls  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
