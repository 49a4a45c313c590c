"""Rows of a file imported per second, beside another writer, on a fresh SQLite file.

    python benchmarks/import_rows.py [--sizes 100000] [--million] [--rounds 3] [--outputs 1]
        [--formats csv jsonl xlsx csv.gz]

Timed: reading, mapping, storing and publishing, in a process of its own whose start is left out.
A second process writes one row every 50 ms; its longest wait is shown. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WRITE_EVERY_SECONDS = 0.05
TEXT = """
    the refund was issued on Monday and reached your account within three working days after we had
    cancelled the order that arrived damaged please send us a photo of it
"""


def main() -> None:
    arguments = parse()
    if arguments.role == "make":  # a process's own: its memory would count as the import's
        write_file(arguments.path, arguments.sizes[0], arguments.outputs)
        return
    if arguments.role:
        begin_django()
        {"import": import_file, "write": write_small_rows}[arguments.role](arguments)
        return
    sizes = arguments.sizes + [1_000_000] * arguments.million
    print("| file | rows | outputs a row | rows/s | CPU s | peak RSS | RSS growth | longest wait |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for size in sizes:
        for ending in arguments.formats:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"cases.{ending}"
                made = ["--sizes", str(size), "--outputs", str(arguments.outputs)]
                again = [sys.executable, __file__, "--path", str(path), "--role", "make"]
                subprocess.run([*again, *made], check=True)
                rounds = [one_round(path) for _ in range(arguments.rounds)]
            print(row_of(ending, size, arguments.outputs, rounds), flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--million", action="store_true", help="a file of 1,000,000 rows, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--outputs", type=int, default=0, help="output columns in the file")
    parser.add_argument("--formats", nargs="+", default=["csv", "jsonl", "xlsx"])
    parser.add_argument("--role", choices=["import", "make", "write"], help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def rows(size: int, outputs: int) -> Iterator[dict[str, str]]:
    chance = random.Random(7)
    words = TEXT.split()
    for place in range(size):
        yield {
            "id": f"case-{place}",
            "input": " ".join(chance.choices(words, k=14)),
            "expected": " ".join(chance.choices(words, k=10)),
            **{f"model{n} output": " ".join(chance.choices(words, k=10)) for n in range(outputs)},
        }


def write_file(path: Path, size: int, outputs: int) -> None:
    if path.suffix == ".gz":
        write_file(path.with_suffix(""), size, outputs)
        with path.with_suffix("").open("rb") as plain, gzip.open(path, "wb", 6) as packed:
            shutil.copyfileobj(plain, packed)
        return
    if path.suffix == ".xlsx":
        write_workbook(path, size, outputs)
        return
    with path.open("w", newline="", encoding="utf-8") as stream:
        if path.suffix == ".jsonl":
            stream.writelines(json.dumps(row) + "\n" for row in rows(size, outputs))
            return
        table = csv.DictWriter(stream, list(next(rows(1, outputs))))
        table.writeheader()
        table.writerows(rows(size, outputs))


def write_workbook(path: Path, size: int, outputs: int) -> None:
    """As spreadsheet programs write it: every text once, cells name them by their place."""
    from tests.core.workbooks import parts_of

    texts: dict[str, int] = {}
    sheet, shared = path.with_suffix(".sheet"), path.with_suffix(".shared")
    with sheet.open("w", encoding="utf-8") as out:
        out.write("<worksheet><sheetData>")
        columns = dict.fromkeys(next(rows(1, outputs)))
        told = chain([dict(zip(columns, columns, strict=True))], rows(size, outputs))
        for line, row in enumerate(told, start=1):
            named = zip("ABCDEFGH", row.values(), strict=False)
            places = ((letter, texts.setdefault(text, len(texts))) for letter, text in named)
            cells = (f'<c r="{letter}{line}" t="s"><v>{place}</v></c>' for letter, place in places)
            out.write(f'<row r="{line}" spans="1:{len(row)}">{"".join(cells)}</row>')
        out.write("</sheetData></worksheet>")
    with shared.open("w", encoding="utf-8") as out:
        out.write(f"<sst>{''.join(f'<si><t>{text}</t></si>' for text in texts)}</sst>")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts_of({"Cases": ""}, sharedStrings="").items():
            part = {"xl/worksheets/s1.xml": sheet, "xl/sharedStrings.xml": shared}.get(name)
            book.write(part, name) if part else book.writestr(name, content)


def one_round(path: Path) -> dict[str, float]:
    """One import on a fresh database, with the other writer beside it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "EVALSITE_DATA_DIR": folder}
        manage = [sys.executable, str(ROOT / "manage.py")]
        subprocess.run([*manage, "migrate", "-v0"], check=True, env=environment)
        again = [sys.executable, __file__, "--path", str(path), "--role"]
        with subprocess.Popen(
            [*again, "write"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # it is writing
            done = subprocess.run(
                [*again, "import"], check=True, env=environment, capture_output=True, text=True
            )
            waits, _ = writer.communicate("stop\n")
    return {**json.loads(done.stdout), **json.loads(waits)}


def begin_django() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    import django

    django.setup()


def import_file(arguments: argparse.Namespace) -> None:
    from django.db import connection

    from scoring.engine import loading
    from scoring.models import Team

    team = Team.objects.get()
    connection.ensure_connection()
    before = peak_megabytes()
    start, cpu = time.perf_counter(), time.process_time()
    loaded = loading.load_file(team, arguments.path, "Answers")
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = peak_megabytes()
    figures = {
        "rows": loaded.version.case_count,
        "seconds": seconds,
        "cpu": cpu,
        "peak": peak,
        "growth": peak - before,
    }
    print(json.dumps(figures))


def write_small_rows(_: argparse.Namespace) -> None:
    """Write until standard input says something; prints the longest wait in seconds."""
    import select

    from scoring.models import Team

    team = Team.objects.create(name="Bench", slug="bench")
    print("writing", flush=True)
    waits = []
    while not select.select([sys.stdin], [], [], WRITE_EVERY_SECONDS)[0]:
        start = time.perf_counter()
        Team.objects.filter(pk=team.pk).update(name=f"Bench {start}")
        waits.append(time.perf_counter() - start)
    print(json.dumps({"longest_wait": max(waits), "writes": len(waits)}))


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row_of(ending: str, size: int, outputs: int, rounds: list[dict[str, Any]]) -> str:
    """The fastest round's pace, and the worst of everything else."""
    best = min(rounds, key=lambda each: float(each["seconds"]))
    worst = {name: max(each[name] for each in rounds) for name in best}
    cells = (
        ending,
        f"{size:,}",
        str(outputs),
        f"{size / best['seconds']:,.0f}",
        f"{best['cpu']:.2f}",
        f"{worst['peak']:.0f} MB",
        f"{worst['growth']:.0f} MB",
        f"{worst['longest_wait'] * 1000:.0f} ms of {worst['writes']:,.0f} writes",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
