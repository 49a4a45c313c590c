"""How long two large runs take to compare, and to look at once they are.

    python benchmarks/compare.py [--size 100000] [--rounds 15]

Two runs of three deterministic scorers on a fresh SQLite file, within one dataset version, between
two, and where the second has three trials a case: working the figures out, reading the kept ones,
and a first and a middle page of each list. `pages.py` measures what a browser asks for. Medians of
warm rounds; prints Markdown tables.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rounds import measure as time_round
from rounds import ms_cells, print_head, print_machine, print_row

EDITED = 1_000  # every so many cases differ between the two versions
TAGS = 12
TRIALS = 3


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
        print_machine()


def measure(size: int, rounds: int) -> None:
    one, same, other, thrice = make_runs(size, with_trials=True)
    settings = {
        "one dataset version": same,
        "two versions": other,
        f"one trial and {TRIALS}": thrice,
    }
    for title, candidate in settings.items():
        print(f"\n{title}, {size:,} cases\n")
        print_head("what", "ms", "CPU ms", "other programs", "queries")
        work_out(one, candidate)
        lists(one, candidate, rounds)


def work_out(baseline: Any, candidate: Any) -> None:
    from scoring.engine.compare.claims import read_figures
    from scoring.engine.compare.comparison import compare_runs, stored_comparison

    tell("work out the figures", lambda: compare_runs(baseline, candidate), 1, warm=False)
    tell("read the kept figures", lambda: read_figures(stored_comparison(baseline, candidate)), 15)


def lists(baseline: Any, candidate: Any, rounds: int) -> None:
    from scoring.models.case_paging import CasePosition
    from scoring.models.pairs.pair_index import indexed_list
    from scoring.models.pairs.pairs import Pairs
    from scoring.models.pairs.rows import PairFilters, PairKind

    pairs = Pairs(baseline, candidate)

    def page(kind: PairKind, filters: PairFilters, after: CasePosition | None = None) -> object:
        kept = indexed_list(baseline, candidate, kind, filters.scorer)
        return pairs.page(kind, filters, after=after, positions=kept.positions)

    middle = CasePosition(baseline.output_set.output_count // 2)
    for kind in PairKind:
        tell(f"{kind.value}, first page", partial(page, kind, PairFilters()), rounds)
        tell(f"{kind.value}, middle", partial(page, kind, PairFilters(), middle), rounds)
    for name, filters in {
        "a scorer's": PairFilters(scorer="includes"),
        "a tag's": PairFilters(tag="tag 3"),
        "a common word's": PairFilters(text="damaged"),
        "a word's that is nowhere": PairFilters(text="zebra"),
    }.items():
        tell(f"broke, {name}", partial(page, PairKind.BROKE, filters), rounds)
    tell("regressions", lambda: pairs.count(PairKind.BROKE), rounds)


def tell(what: str, does: Callable[[], object], rounds: int, *, warm: bool = True) -> None:
    from django.db import connection

    queries: list[Any] = []

    def counted(execute: Any, *statement: Any) -> Any:
        queries.append(statement)
        return execute(*statement)

    if warm:
        does()
    found = []
    for _ in range(rounds):
        queries.clear()
        with connection.execute_wrapper(counted):
            found.append(time_round(does))
    print_row(what, *ms_cells(found), len(queries))


def make_runs(size: int, *, with_trials: bool = False) -> list[Any]:
    """A run, one of the same version whose outputs moved by seven cases, one of a next version, and
    where wanted one of the same version with several trials.
    """
    from rounds import make_suite
    from score_and_store import make_outputs

    from scoring.engine.processes.process_pool import ProcessPool
    from scoring.engine.runs import planning
    from scoring.engine.worker.run_dispatcher import run_to_end
    from scoring.models import Case, Output
    from scoring.models.bulk import gather_statistics

    suite = make_suite()
    first = make_outputs(size)
    tag(first.version)
    gather_statistics(Case, Output)
    sets = [
        first,
        shifted(first, first.version),
        shifted(first, next_version(first.version)),
    ]
    if with_trials:
        sets.append(shifted(first, first.version, TRIALS))
    runs = [planning.create_run(outputs, suite=suite) for outputs in sets]
    with ProcessPool(os.cpu_count() or 1) as pool:
        for run in runs:
            run_to_end(run, pool)
    return runs


def tag(version: Any) -> None:
    """Each case gets one of TAGS tags, every 500th a rare one."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE scoring_case SET tags_json = CASE WHEN position %% 500 = 0 THEN '[\"rare\"]' "
            "ELSE '[\"tag ' || (position %% %s) || '\"]' END WHERE version_id = %s",
            [TAGS, version.pk],
        )


def next_version(version: Any) -> Any:
    """The same cases backwards, some of them edited."""
    from django.db import connection

    from scoring.models import Case, DatasetVersion
    from scoring.models.bulk import gather_statistics

    made = DatasetVersion.with_loading.create(dataset=version.dataset)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO scoring_case (version_id, position, key, input_json, expected_json, "
            "references_json, metadata_json, tags_json) "
            "SELECT %s, %s + 1 - position, key, CASE WHEN position %% %s = 0 THEN '\"edited\"' "
            "ELSE input_json END, expected_json, references_json, metadata_json, tags_json "
            "FROM scoring_case WHERE version_id = %s ORDER BY position DESC",
            [made.pk, version.case_count, EDITED, version.pk],
        )
    made.publish(content_hash="next", case_count=version.case_count)
    gather_statistics(Case)
    return made


def shifted(outputs: Any, version: Any, trials: int = 1) -> Any:
    """Outputs over the version's cases; every fiftieth is another one's, so that verdicts flip."""
    from django.db import connection

    from scoring.models import OutputSet

    count = outputs.output_count * trials
    made = OutputSet.objects.create(version=version, series="a", state="ready", output_count=count)
    numbers = " UNION ALL ".join(["SELECT %s AS value"] * trials)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO scoring_output (output_set_id, case_id, trial, text, is_json, error) "
            "SELECT %s, new.id, trials.value, o.text, o.is_json, '' FROM scoring_case new "
            "JOIN scoring_case old ON old.version_id = %s AND old.key = new.key "
            "JOIN scoring_case taken ON taken.version_id = %s AND taken.position = "
            "CASE WHEN old.position %% 50 = 0 THEN old.position - 7 ELSE old.position END "
            "JOIN scoring_output o ON o.output_set_id = %s AND o.case_id = taken.id "
            f"JOIN ({numbers}) trials ON 1 = 1 "
            "WHERE new.version_id = %s ORDER BY new.position, trials.value",
            [
                made.pk,
                outputs.version_id,
                outputs.version_id,
                outputs.pk,
                *range(trials),
                version.pk,
            ],
        )
    return made


if __name__ == "__main__":
    main()
