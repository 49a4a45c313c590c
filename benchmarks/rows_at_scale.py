"""What storing and reading scores costs in a table that holds very many.

    python benchmarks/on_postgresql.py rows_at_scale.py [--rows 1000000 10000000 100000000]

Fills the table of scores with runs of 100,000 cases under three scorers, as the server generates
them: no client and no texts take part, so these are the server's own limits. Whenever there are so
many rows, the table says how fast the last runs went in, how large table and indexes are and how
deep, and what it takes to find a run's 50 worst cases, one score of it, and to remove it. Medians,
of runs chosen by lot. The disk has to have room for 150 bytes a row.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any, Final

from rounds import new_site, print_head, print_machine, print_row

CASES, SCORERS = 100_000, 3
A_RUN: Final = CASES * SCORERS
LAST: Final = 10  # runs whose rate counts
READS: Final = 200
SEED: Final = 1
STORE: Final = """
    INSERT INTO scoring_score
        (scorer_id, output_id, status, score, verdict, code, reason, metadata_json)
    SELECT scorer, output, 0, value, (value < 0.5)::int, '', '', '{}'
    FROM generate_series(%(scorer)s, %(scorer)s + 2) AS scorer,
         generate_series(%(output)s, %(output)s + 99999) AS output,
         LATERAL (SELECT (hashint8(output * 31 + scorer) & 1023) / 1023.0 AS value) AS made
"""
WORST: Final = """
    SELECT output_id, score FROM scoring_score WHERE scorer_id = %s
    ORDER BY score, output_id LIMIT 50
"""
ONE: Final = "SELECT score FROM scoring_score WHERE scorer_id = %s AND output_id = %s"
REMOVE: Final = "DELETE FROM scoring_score WHERE scorer_id BETWEEN %s AND %s"
INDEXES: Final = """
    SELECT relname, pg_relation_size(indexrelid), (bt_metap(relname)).level + 1
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = 'scoring_score'::regclass ORDER BY relname
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    arguments = parser.parse_args()
    with new_site():
        measure(sorted(arguments.rows))
        print_machine()


def measure(sizes: list[int]) -> None:
    from django.db import connection

    if connection.vendor != "postgresql":
        raise SystemExit(__doc__)
    print_head("rows", "rows/s stored", "table, GB", "indexes, GB", "levels of the indexes",
               "50 worst, ms", "one score, ms", "a run removed, s")  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pageinspect")
        runs, seconds, removed = 0, list[float](), set[int]()
        for size in sizes:
            while runs * A_RUN < size:
                seconds.append(timed(lambda: store(cursor, runs)))  # noqa: B023
                runs += 1
            print_row(f"{size:,}", *cells(cursor, runs, removed, seconds[-LAST:]))


def store(cursor: Any, run: int) -> None:
    cursor.execute(STORE, {"scorer": SCORERS * run + 1, "output": CASES * run + 1})


def cells(cursor: Any, runs: int, removed: set[int], seconds: list[float]) -> list[str]:
    """One more run is removed then."""
    chance = random.Random(SEED)
    there = [run for run in range(runs) if run not in removed]
    cursor.execute("SELECT pg_relation_size('scoring_score')")
    (table,) = cursor.fetchone()
    cursor.execute(INDEXES)
    indexes = cursor.fetchall()
    worst, one = [], []
    for _ in range(READS):
        run = chance.choice(there)
        scorer = SCORERS * run + 1 + chance.randrange(SCORERS)
        output = CASES * run + 1 + chance.randrange(CASES)
        worst.append(timed(lambda: read(cursor, WORST, scorer)))  # noqa: B023
        one.append(timed(lambda: read(cursor, ONE, scorer, output)))  # noqa: B023
    removed.add(run := chance.choice(there))
    first = SCORERS * run + 1
    removal = timed(lambda: cursor.execute(REMOVE, [first, first + SCORERS - 1]))
    return [
        f"{A_RUN / median(seconds):,.0f}",
        f"{table / 1e9:.2f}",
        f"{sum(size for _, size, _ in indexes) / 1e9:.2f}",
        ", ".join(str(levels) for _, _, levels in indexes),
        f"{1_000 * median(worst):.2f}",
        f"{1_000 * median(one):.2f}",
        f"{removal:.1f}",
    ]


def read(cursor: Any, sql: str, *values: int) -> None:
    cursor.execute(sql, values)
    if not cursor.fetchall():
        raise SystemExit(f"nothing was found by {sql} with {values}")


def timed(act: Callable[[], Any]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
