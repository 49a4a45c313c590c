"""How long the data of a drift page takes, and how long it takes to measure a series once.

    python benchmarks/drift.py [--runs 52] [--sizes 1000 10000] [--rounds 15]

Runs are made of their rows, with two scorers and five tags, on a fresh SQLite file. A page's data
are all lines of the dataset with limits, changes, sentences, chart and tags, warm and with nothing
kept in memory but what an earlier look left. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rounds import measure as time_round
from rounds import ms_cells, print_head, print_machine, print_row

SCORERS = ("close", "same")
TAGS = ("billing", "refund", "account", "files", "app")
MONDAY = datetime(2025, 11, 24, 9, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=52)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVALSITE_DATA_DIR"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        print(f"Runs: {arguments.runs}\n")
        print_head("cases a run", "page, ms", "CPU ms", "other programs", "first look, ms",
                   "queries", "measuring, s", "CPU s")  # fmt: skip
        for size in arguments.sizes:
            print_row(f"{size:,}", *timed(size, arguments.runs, arguments.rounds))
        print_machine()


def timed(size: int, runs: int, rounds: int) -> list[str]:
    from django.db import connection

    from scoring.engine.drift import measure_series

    dataset = make_series(size, runs)
    measuring = time_round(lambda: measure_series(dataset, "a"))
    queries: list[Any] = []

    def counted(execute: Any, *statement: Any) -> Any:
        queries.append(statement)
        return execute(*statement)

    with connection.execute_wrapper(counted):
        first = time_round(lambda: look(dataset))
    pages = ms_cells([time_round(lambda: look(dataset)) for _ in range(rounds)])
    once = f"{measuring.seconds:.2f}", f"{measuring.cpu:.2f}"
    return [*pages, f"{1_000 * first.seconds:.0f}", str(len(queries)), *once]


def look(dataset: Any) -> None:
    """All that a page shows."""
    from scoring.engine.drift import drift_lines
    from scoring.engine.drift.chart import build_chart, tag_lines

    for line in drift_lines(dataset):
        if not line.is_measured:
            raise SystemExit("the series is not measured")
        build_chart(line), tag_lines(line), line.sentences


def make_series(size: int, runs: int, slug: str = "benchmark") -> Any:
    """A dataset with so many weekly runs of so many cases, a level change in the middle."""
    import json

    from scoring.models import Case, Dataset, DatasetVersion, Scorer, Team

    team, _ = Team.objects.get_or_create(slug=slug, defaults={"name": slug.capitalize()})
    dataset = Dataset.objects.create(team=team, name=f"{size} cases")
    version = DatasetVersion.with_loading.create(dataset=dataset)
    Case.objects.bulk_create(
        Case(
            version=version, position=n, key=f"q{n}", input_json='"x"',
            tags_json=json.dumps([TAGS[n % 5], TAGS[n % 3]]),
        )
        for n in range(1, size + 1)
    )  # fmt: skip
    version.publish(content_hash="", case_count=size)
    scorers = [
        Scorer.objects.filter(team=team, name=name).first()
        or Scorer.objects.define(team, name, "levenshtein", {})
        for name in SCORERS
    ]
    cases = list(version.cases.order_by("position").values_list("pk", flat=True))
    for week in range(runs):
        make_run(version, cases, scorers, week, 0.8 if week < runs // 2 else 0.75)
    return dataset


def make_run(version: Any, cases: list[int], scorers: list[Any], week: int, level: float) -> None:
    from scoring.engine.runs.summaries import summarize_run
    from scoring.models import Output, OutputSet, Run, RunScorer, RunState, bulk

    chance = random.Random(week)
    dated = MONDAY + timedelta(weeks=week)
    outputs = OutputSet.objects.create(
        version=version, series="a", dated=dated, state="ready", output_count=len(cases)
    )
    text = "the refund was issued on Monday and reached your account within three working days "
    rows = [(outputs.pk, case, 0, text + str(chance.random()), 0, "") for case in cases]
    columns = ("output_set_id", "case_id", "trial", "text", "is_json", "error")
    bulk.bulk_insert(Output, columns, rows)
    run = Run.objects.create(
        team=version.dataset.team, output_set=outputs, name=f"w{week}",
        state=RunState.FINISHED, finished_at=dated,
    )  # fmt: skip
    made = list(outputs.outputs.order_by("pk").values_list("pk", flat=True))
    verdicts = [int(chance.random() > level) for _ in made]
    for scorer in scorers:
        of = RunScorer.objects.create(
            run=run, version=scorer.current, name=scorer.name, threshold=0.7
        )
        insert_scores(of, made, verdicts)
    insert_verdicts(run, made, verdicts)
    summarize_run(run)


def insert_scores(scorer: Any, outputs: list[int], verdicts: list[int]) -> None:
    from scoring.models import Score, bulk

    columns = ("scorer_id", "output_id", "status", "score", "verdict", "code", "reason")
    rows = [
        (scorer.pk, output, 0, 0.4 if failed else 0.9, failed, "", "", "{}")
        for output, failed in zip(outputs, verdicts, strict=True)
    ]
    bulk.bulk_insert(Score, (*columns, "metadata_json"), rows)


def insert_verdicts(run: Any, outputs: list[int], verdicts: list[int]) -> None:
    from scoring.models import CaseVerdict, bulk

    columns = ("run_id", "output_id", "position", "trial", "verdict", "missing_expected")
    places = enumerate(zip(outputs, verdicts, strict=True), start=1)
    rows = [(run.pk, output, place, 0, failed, 0) for place, (output, failed) in places]
    bulk.bulk_insert(CaseVerdict, columns, rows)


if __name__ == "__main__":
    main()
