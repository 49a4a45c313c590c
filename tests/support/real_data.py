"""The real files as the standard library reads them, and what their makers know of them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

Row = dict[str, Any]

# Which solutions are correct, by their makers' own labels, in per cent.
GSM8K_RATES: Final = {
    "6b_finetuning": 21.68,
    "6b_verification": 39.04,
    "175b_finetuning": 34.72,
    "175b_verification": 56.25,
}
GPT_4O: Final = "run_gpt-4o-2024-05-13-FC_{}.jsonl"
GPT_4O_DATES: Final = ("2024-07-06", "2024-08-11")

LAST_LINE: Final = r"^A: -?[\d.]+$"
RIGHT_ANSWER: Final[list[Row]] = [
    {"name": "same answer", "type": "includes"},
    {"name": "an answer", "type": "regex", "config": {"pattern": LAST_LINE, "flags": "m"}},
]


def truthfulqa_path(facts: Path) -> Path:
    return facts / "data/truthfulqa/TruthfulQA.csv"


def gsm8k_path(facts: Path) -> Path:
    return facts / "data/gsm8k/example_model_solutions.jsonl"


def bfcl_path(facts: Path, name: str = "cases.jsonl") -> Path:
    return facts / "data/bfcl" / name


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as stream:
        return list(csv.DictReader(stream))


def write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        sheet = csv.DictWriter(stream, list(rows[0]))
        sheet.writeheader()
        sheet.writerows(rows)
    return path


def jsonl_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.strip()]


def write_jsonl(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def with_final_answers(rows: Iterable[Row]) -> list[Row]:
    """GSM8K with the last line as what is expected, so that `includes` can look for it.

    Numbers lose their thousands separators. Every text ends with a line end: `A: 18` would be
    inside `A: 180`, but `A: 18` and a line end is not.
    """
    return [
        {
            "question": row["question"],
            "ground_truth": _plain(row["ground_truth"].splitlines()[-1]),
            **{model: {"solution": _plain(row[model]["solution"])} for model in GSM8K_RATES},
        }
        for row in rows
    ]


def _plain(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d)", "", text) + "\n"
