"""A whole judged run against a stub that answers after 200 ms: what is left of the ideal.

    python benchmarks/judged_run.py [--calls 2000] [--concurrency 32] [--latency 0.2] [--rounds 3]

The ideal is calls * latency / concurrency. Timed is everything from planning to the summary, on a
fresh SQLite file: prompts, calls, replies kept as they come, scores, figures. Prints a table.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.judge import parse, stub  # noqa: E402

WARM_UP = 64  # calls that open the connections


def main() -> None:
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder, stub(arguments.latency) as port:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ["EVALSITE_MODEL_HOSTS"] = "127.0.0.1"
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(arguments, f"http://127.0.0.1:{port}/same/v1")


def measure(arguments: argparse.Namespace, url: str) -> None:
    from scoring.engine.threads import Threads
    from scoring.models import Connection, Scorer, Team

    team = Team.objects.create(name="Benchmark", slug="benchmark")
    width = arguments.concurrency
    Connection.objects.define(team, "stub", url, concurrency=width, by=None)
    scorer = Scorer.objects.define(team, "facts", "factuality", {"model": "stub-1"})
    ideal = arguments.calls * arguments.latency / width
    print(
        "| calls | seconds | ideal | share of ideal | CPU ms a call |\n|---:|---:|---:|---:|---:|"
    )
    with Threads() as threads:
        timed(team, scorer, WARM_UP, threads)
        for _ in range(arguments.rounds):
            seconds, cpu = timed(team, scorer, arguments.calls, threads)
            each = f"{cpu / arguments.calls * 1000:.2f}"
            cells = f"{arguments.calls:,} | {seconds:.2f} | {ideal:.2f} | {ideal / seconds:.1%}"
            print(f"| {cells} | {each} |", flush=True)


def timed(team: Any, scorer: Any, calls: int, threads: Any) -> tuple[float, float]:
    """Seconds and processor seconds of one run over so many new outputs."""
    from scoring.engine import plan
    from scoring.engine.dispatch import work_on

    run = plan.new_run(make_outputs(team, calls), scorers=[(scorer, 0.5)])
    started, cpu = time.perf_counter(), time.process_time()
    work_on(run, threads)
    if run.pass_count != calls:
        raise SystemExit(f"{run.pass_count} of {calls} passed")
    return time.perf_counter() - started, time.process_time() - cpu


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
