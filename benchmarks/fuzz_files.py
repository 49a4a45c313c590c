"""Bytes that find new ways through the readers of files, for as long as one likes.

    pip install atheris && python benchmarks/fuzz_files.py [-max_total_time=600] [FOLDER]

Optional: atheris (tried with 3.0.0 on Python 3.11) is no requirement of the project. The first byte
chooses the file's name, the rest is its content. A FOLDER keeps what was found. Anything but a
known problem ends it.
"""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
NAMES = ("a.csv", "a.tsv", "a.json", "a.jsonl", "a.xlsx", "a.csv.gz", "a.json.gz", "a.xlsx.gz", "a")

with atheris.instrument_imports(include=["scoring.core"]):
    from scoring.core.files import (
        FileProblem,
        MappedCase,
        Row,
        RowProblem,
        Source,
        detect_format,
        guess_mapping,
        read_rows,
    )


def one_input(content: bytes) -> None:
    name = NAMES[content[0] % len(NAMES)] if content else NAMES[0]
    source = Source(io.BytesIO(content[1:]), name)
    with suppress(FileProblem):
        found = detect_format(source)
        mapping = guess_mapping(found.columns, found.sample, is_open=found.is_open)
        for row in islice(read_rows(source, found), 10_000):
            if isinstance(row, Row):
                assert isinstance(mapping.apply(row), MappedCase | RowProblem)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
