"""The bare Django prototype that whole commands are compared with: nothing but the fast path.

    python benchmarks/prototype.py FILE.jsonl

Reads JSON Lines, stores cases by `executemany`, scores chunks with three scorers in a process pool
while others are stored, and ends with one summary query. No teams, versions, audit, verdicts of
cases, reasons, progress, resuming, nor checks of any kind. Prints the summary.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, Final

import django
import orjson
from django.conf import settings
from rapidfuzz.distance import Levenshtein

BATCH: Final = 5_000
SCHEMA: Final = (
    'CREATE TABLE "case"'
    " (id INTEGER PRIMARY KEY, key TEXT, input TEXT, expected TEXT, output TEXT)",
    "CREATE TABLE score (id INTEGER PRIMARY KEY, scorer INTEGER, case_id INTEGER, score REAL,"
    " passed INTEGER, UNIQUE (scorer, case_id))",
)
SUMMARY: Final = "SELECT scorer, COUNT(*), AVG(score), SUM(passed) FROM score GROUP BY scorer"

Texts = tuple[int, str, str]  # case id, expected, output


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
        database = {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/db.sqlite3"}
        settings.configure(DATABASES={"default": {**database, "OPTIONS": options}})
        django.setup()
        print(run(Path(sys.argv[1])))


def run(path: Path) -> list[tuple[Any, ...]]:
    from django.db import connection

    with connection.cursor() as cursor, ProcessPoolExecutor(1) as pool:
        for statement in SCHEMA:
            cursor.execute(statement)
        waiting: list[Future[list[tuple[Any, ...]]]] = []
        for rows in batches(path):
            store_cases(rows)
            texts = [(row[0], row[3], row[4]) for row in rows]
            waiting.append(pool.submit(score, texts))
            while waiting and waiting[0].done():
                store_scores(waiting.pop(0).result())
        for future in waiting:
            store_scores(future.result())
        cursor.execute(SUMMARY)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def batches(path: Path) -> Iterator[list[tuple[int, str, str, str, str]]]:
    with path.open("rb") as lines:
        parsed = (orjson.loads(line) for line in lines)
        rows = (
            (number, row["id"], row["input"], row["expected"], row["output"])
            for number, row in enumerate(parsed, 1)
        )
        while batch := list(islice(rows, BATCH)):
            yield batch


def score(texts: list[Texts]) -> list[tuple[int, int, float, int]]:
    """Three columns one after the other: exact match, includes, Levenshtein."""
    exact = [(0, case, float(output == expected)) for case, expected, output in texts]
    includes = [(1, case, float("refund" in output)) for case, _, output in texts]
    similarity = Levenshtein.normalized_similarity
    alike = [(2, case, similarity(expected, output)) for case, expected, output in texts]
    return [(*row, int(row[2] >= 0.7)) for column in (exact, includes, alike) for row in column]


def store_cases(rows: list[tuple[int, str, str, str, str]]) -> None:
    store('INSERT INTO "case" VALUES (%s, %s, %s, %s, %s)', rows)


def store_scores(rows: list[tuple[Any, ...]]) -> None:
    for start in range(0, len(rows), BATCH):
        statement = "INSERT INTO score (scorer, case_id, score, passed) VALUES (%s, %s, %s, %s)"
        store(statement, rows[start : start + BATCH])


def store(statement: str, rows: list[Any]) -> None:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(statement, rows)


if __name__ == "__main__":
    main()
