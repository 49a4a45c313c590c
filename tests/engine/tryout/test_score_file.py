"""Lines scored and written; `tests/management/commands/test_score.py` reads and scores files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result, ServiceError, scored
from scoring.engine.tryout import score_file
from scoring.engine.tryout.score_file import InputLine, as_json_lines, as_table, score_lines

EXACT = configure_scorer("exact_match", {})


def test_lines_with_one_scorer_are_scored_together_and_come_back_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches: list[list[str]] = []
    score = score_file._score_cases

    def record(scorer: Any, cases: Any) -> list[Result]:
        batches.append([case.id for case in cases])
        return score(scorer, cases)

    monkeypatch.setattr(score_file, "_score_cases", record)
    own = {"type": "includes", "config": {}}
    lines = [
        InputLine(number, Case("ab", "a", id=number), own if number in "13" else None)
        for number in "0123"
    ]
    results = score_lines(lines, EXACT)
    assert [result.verdict for result in results] == ["fail", "pass", "fail", "pass"]
    assert batches == [["0", "2"], ["1", "3"]]


def test_a_service_that_fails_is_every_lines_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[Result]:
        raise ServiceError("nobody there", retry=True)

    monkeypatch.setattr(type(EXACT), "score", fail)
    (result,) = score_lines([InputLine(1, Case("a", "a"))], EXACT)
    assert (result.status, result.code, result.reason) == (
        "error", "service_failed", "nobody there",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("metadata", "written"),
    [
        ({"x": float("nan"), "y": [float("inf"), 1.5]}, {"x": None, "y": [None, 1.5]}),
        ({"x": 10**30, "y": float("-inf")}, {"x": 10**30, "y": None}),
        ({"x": "a\u2028b\x85"}, {"x": "a\u2028b\x85"}),
    ],
)
def test_json_is_one_line_of_what_json_can_hold(metadata: Any, written: Any) -> None:
    text = as_json_lines([InputLine(1, Case("a"))], [scored(1.0, "", metadata)], True)
    assert len(text.splitlines()) == 1
    assert json.loads(text)["metadata"] == written


def test_a_table_has_its_header_once_and_cuts_long_texts() -> None:
    line, result = InputLine("x" * 30, Case("a")), scored(1.0, "why\n" * 40)
    assert as_table([line], [result], True).splitlines()[0].split()[:2] == ["id", "status"]
    (row,) = as_table([line], [result], False).splitlines()
    assert row.startswith(f"{'x' * 23}…  scored ")
    assert row.endswith("…")
