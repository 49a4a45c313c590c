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
from statistics import median
from typing import Any

from rounds import CHARACTERS_A_WORD, ROOT, WORDS, Clock, print_head, print_machine, print_row

WRITE_EVERY_SECONDS = 0.05


def main() -> None:
    arguments = parse()
    if arguments.role == "make":  # a process's own: its memory would count as the import's
        write_file(arguments.path, arguments)
        return
    if arguments.role:
        begin_django()
        {"import": import_file, "write": write_small_rows}[arguments.role](arguments)
        return
    sizes = arguments.sizes + [1_000_000] * arguments.million
    print_head("file", "characters", "rows", "outputs a row", "rows/s", "CPU s", "peak RSS",
               "RSS growth", "longest wait", "other programs")  # fmt: skip
    for characters in arguments.characters:
        for size in sizes:
            for ending in arguments.formats:
                measure_file(ending, size, characters, arguments)
    print_machine()


def measure_file(ending: str, size: int, characters: int, arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"cases.{ending}"
        made = ["--sizes", str(size), "--outputs", str(arguments.outputs)]
        again = [sys.executable, __file__, "--path", str(path), "--role", "make"]
        subprocess.run([*again, *made, "--characters", str(characters)], check=True)
        rounds = [one_round(path) for _ in range(arguments.rounds)]
    print_row(ending, characters, f"{size:,}", arguments.outputs, *cells(size, rounds))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--million", action="store_true", help="a file of 1,000,000 rows, too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--outputs", type=int, default=0, help="output columns in the file")
    parser.add_argument("--characters", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--formats", nargs="+", default=["csv", "jsonl", "xlsx"])
    parser.add_argument("--role", choices=["import", "make", "write"], help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def rows(arguments: argparse.Namespace) -> Iterator[dict[str, str]]:
    """Input, expected and outputs have this many characters each, in the median."""
    chance = random.Random(7)
    (size,), (characters,) = arguments.sizes, arguments.characters
    usual = max(2, round(characters / CHARACTERS_A_WORD))
    outputs = [f"model{n} output" for n in range(arguments.outputs)]
    for place in range(size):
        fields = {
            name: " ".join(chance.choices(WORDS, k=usual + chance.randint(-usual // 4, usual // 4)))
            for name in ("input", "expected", *outputs)
        }
        yield {"id": f"case-{place}", **fields}


def write_file(path: Path, arguments: argparse.Namespace) -> None:
    if path.suffix == ".gz":
        write_file(path.with_suffix(""), arguments)
        with path.with_suffix("").open("rb") as plain, gzip.open(path, "wb", 6) as packed:
            shutil.copyfileobj(plain, packed)
        return
    if path.suffix == ".xlsx":
        write_workbook(path, arguments)
        return
    with path.open("w", newline="", encoding="utf-8") as stream:
        if path.suffix == ".jsonl":
            stream.writelines(json.dumps(row) + "\n" for row in rows(arguments))
            return
        table = csv.DictWriter(stream, list(next(rows(arguments))))
        table.writeheader()
        table.writerows(rows(arguments))


def write_workbook(path: Path, arguments: argparse.Namespace) -> None:
    """As spreadsheet programs write it: every text once, cells name them by their place."""
    from tests.support.workbooks import parts_of

    texts: dict[str, int] = {}
    sheet, shared = path.with_suffix(".sheet"), path.with_suffix(".shared")
    with sheet.open("w", encoding="utf-8") as out:
        out.write("<worksheet><sheetData>")
        columns = dict.fromkeys(next(rows(arguments)))
        told = chain([dict(zip(columns, columns, strict=True))], rows(arguments))
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
    """One import into a team of its own, with the other writer beside it."""
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

    from scoring.engine import imports
    from scoring.models import Team

    team = Team.objects.latest("pk")  # the writer's
    connection.ensure_connection()
    before = peak_megabytes()
    clock = Clock()
    loaded = imports.import_file(team, arguments.path, "Answers")
    found = clock.stop()
    peak = peak_megabytes()
    figures = {
        "rows": loaded.version.case_count,
        "seconds": found.seconds,
        "cpu": found.cpu,
        "others": found.others,
        "peak": peak,
        "growth": peak - before,
    }
    print(json.dumps(figures))


def write_small_rows(_: argparse.Namespace) -> None:
    """Write until standard input says something; prints the longest wait in seconds."""
    import select

    from scoring.models import Team

    team = Team.objects.create(name="Bench", slug=f"bench-{os.getpid()}")
    print("writing", flush=True)
    waits = []
    while not select.select([sys.stdin], [], [], WRITE_EVERY_SECONDS)[0]:
        start = time.perf_counter()
        Team.objects.filter(pk=team.pk).update(name=f"Bench {start}")
        waits.append(time.perf_counter() - start)
    print(json.dumps({"longest_wait": max(waits), "writes": len(waits)}))


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cells(size: int, rounds: list[dict[str, Any]]) -> list[str]:
    """Medians, beside the rows a second those of the quickest round; all else at its worst. The
    second process counts among the other programs.
    """
    seconds = [each["seconds"] for each in rounds]
    worst = {name: max(each[name] for each in rounds) for name in rounds[0]}
    return [
        f"{size / median(seconds):,.0f} ({size / min(seconds):,.0f})",
        f"{median(each['cpu'] for each in rounds):.2f}",
        f"{worst['peak']:.0f} MB",
        f"{worst['growth']:.0f} MB",
        f"{worst['longest_wait'] * 1000:.0f} ms of {worst['writes']:,.0f} writes",
        f"{median(each['others'] for each in rounds):.0%}",
    ]


if __name__ == "__main__":
    main()
