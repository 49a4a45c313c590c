"""How long reports to hand out take, and how big they are.

    python benchmarks/report.py [--size 100000] [--rounds 5]

Two runs of three deterministic scorers on a fresh SQLite file, of which the second has few failed
cases, or only such. The comparison is worked out beforehand. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rounds import measure as time_round
from rounds import ms_cells, print_head, print_machine, print_row


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
        print_machine()


def measure(size: int, rounds: int) -> None:
    from compare import make_runs

    from scoring.engine.compare.claims import read_figures
    from scoring.engine.compare.comparison import compare_runs
    from scoring.engine.reports.comparison_report import comparison_report
    from scoring.engine.reports.run_report import run_report
    from scoring.models import Run, RunScorer

    baseline, candidate, _ = make_runs(size)
    figures = read_figures(compare_runs(baseline, candidate))
    print(f"\n{size:,} cases\n")
    print_head("what", "ms", "CPU ms", "other programs", "MB")
    tell("run", lambda: run_report(fresh(candidate)), rounds)
    tell("comparison", lambda: comparison_report(baseline, [(candidate, figures)]), rounds)
    RunScorer.objects.filter(run=candidate).update(threshold=1.0)
    candidate.verdicts.update(verdict=1)
    Run.objects.filter(pk=candidate.pk).update(fail_count=size, pass_count=0)
    tell("run of which every case failed", lambda: run_report(fresh(candidate)), rounds)


def fresh(run: Any) -> Any:
    return type(run).objects.select_related("output_set__version__dataset").get(pk=run.pk)


def tell(what: str, makes: Any, rounds: int) -> None:
    size = len(makes().encode()) / 1_000_000
    print_row(what, *ms_cells([time_round(makes) for _ in range(rounds)]), f"{size:.2f}")


if __name__ == "__main__":
    main()
