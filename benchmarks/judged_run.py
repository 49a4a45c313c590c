"""A whole judged run against a stub that answers after 200 ms: what is left of the ideal.

    python benchmarks/judged_run.py [--calls 2000] [--concurrency 32] [--latency 0.2] [--rounds 3]

The ideal is calls * latency / concurrency. Timed is everything from planning to the summary, on a
fresh SQLite file: prompts, calls, replies kept as they come, scores, figures. The stub runs in a
process of its own, whose processor time is not counted. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from judge import CALL_COLUMNS, WARM_UP, call_cells, parse, stub
from rounds import measure, new_site, print_head, print_machine, print_row


def main() -> None:
    arguments = parse()
    os.environ["EVALSITE_MODEL_HOSTS"] = "127.0.0.1"
    with new_site(), stub(arguments.latency) as port:
        measure_runs(arguments, f"http://127.0.0.1:{port}/same/v1")
        print_machine()


def measure_runs(arguments: argparse.Namespace, url: str) -> None:
    from scoring.engine.processes.thread_pool import ThreadPool
    from scoring.models import Connection, Scorer, Team

    team = Team.objects.create(name="Benchmark", slug="benchmark")
    Connection.objects.define(team, "stub", url, concurrency=arguments.concurrency, by=None)
    scorer = Scorer.objects.define(team, "facts", "factuality", {"model": "stub-1"})
    with ThreadPool() as threads:
        score(make_outputs(team, WARM_UP), scorer, threads)
        rounds = []
        for _ in range(arguments.rounds):
            outputs = make_outputs(team, arguments.calls)
            rounds.append(measure(lambda outputs=outputs: score(outputs, scorer, threads)))
    print_head(*CALL_COLUMNS)
    print_row(*call_cells(arguments, rounds))


def score(outputs: Any, scorer: Any, threads: Any) -> None:
    from scoring.engine.runs import planning
    from scoring.engine.worker.run_dispatcher import run_to_end

    run = planning.create_run(outputs, scorers=[(scorer, 0.5)])
    run_to_end(run, threads)
    if run.pass_count != outputs.output_count:
        raise SystemExit(f"{run.pass_count} of {outputs.output_count} passed")


def make_outputs(team: Any, size: int) -> Any:
    """A ready output set over a new dataset of `size` cases, no two texts alike."""
    from scoring.models import Case, Dataset, DatasetVersion, Output, OutputSet

    name = f"{size} {time.monotonic_ns()}"
    version = DatasetVersion.with_loading.create(
        dataset=Dataset.objects.create(team=team, name=name)
    )
    Case.objects.bulk_create(
        Case(version=version, position=n, key=f"q{n}", input_json='"?"', expected_json='"yes"')
        for n in range(1, size + 1)
    )
    version.publish(content_hash=name[:64], case_count=size)
    made = OutputSet.objects.create(version=version, series="a", state="ready", output_count=size)
    Output.objects.bulk_create(
        Output(output_set=made, case=case, text=f"{name} {case.position}")
        for case in version.cases.order_by("position")
    )
    return made


if __name__ == "__main__":
    main()
