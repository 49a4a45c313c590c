"""How long reports to hand out take, and how big they are.

    python benchmarks/report.py [--size 100000] [--rounds 5]

Two runs of three deterministic scorers on a fresh SQLite file, of which the second has few failed
cases, or only such. The comparison is worked out beforehand. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(arguments.size, arguments.rounds)


def measure(size: int, rounds: int) -> None:
    from compare import make_runs

    from scoring.engine.compare import compared
    from scoring.engine.figures import Figures
    from scoring.engine.handout.comparison import comparison_report
    from scoring.engine.handout.run import run_report
    from scoring.models import Run, RunScorer

    baseline, candidate, _ = make_runs(size)
    figures = Figures.read(compared(baseline, candidate).figures)
    print(f"\n{size:,} cases\n\n| what | median, s | worst, s | MB |\n|---|---:|---:|---:|")
    tell("run", lambda: run_report(fresh(candidate)), rounds)
    tell("comparison", lambda: comparison_report(baseline, [(candidate, figures)]), rounds)
    RunScorer.objects.filter(run=candidate).update(threshold=1.0)
    candidate.verdicts.update(verdict=1)
    Run.objects.filter(pk=candidate.pk).update(fail_count=size, pass_count=0)
    tell("run of which every case failed", lambda: run_report(fresh(candidate)), rounds)


def fresh(run: Any) -> Any:
    return type(run).objects.select_related("output_set__version__dataset").get(pk=run.pk)


def tell(what: str, makes: Any, rounds: int) -> None:
    times, text = [], makes()
    for _ in range(rounds):
        start = time.perf_counter()
        text = makes()
        times.append(time.perf_counter() - start)
    size = len(text.encode()) / 1_000_000
    print(f"| {what} | {statistics.median(times):.2f} | {max(times):.2f} | {size:.2f} |")


if __name__ == "__main__":
    main()
