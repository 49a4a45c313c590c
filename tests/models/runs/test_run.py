"""Runs and outputs: what they hold, and which of them lists show."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from scoring.models import Output, Run, RunState
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with


@pytest.mark.parametrize(
    ("counts", "total"),
    [
        ({}, None),
        ({"pass_count": 0}, 0),
        ({"pass_count": 3, "fail_count": 2, "error_count": 1, "skipped_count": 1}, 7),
    ],
)
def test_cases_are_counted_once_the_run_has_ended(
    counts: dict[str, int], total: int | None
) -> None:
    run = Run(**counts)
    assert (run.case_count, run.output_count, run.expected_count) == (total, total, total or 0)


def test_cases_with_several_trials_are_counted_beside_their_outputs() -> None:
    outputs = {"pass": 8, "fail": 4, "error": 2, "skipped": 0, "unjudged": 0.75}
    run = Run(pass_count=3, fail_count=1, error_count=1, skipped_count=0, missing_output_count=2)
    assert (run.output_counts, run.unjudged) == (run.verdict_counts, 3)
    run.output_verdicts = outputs
    assert (run.case_count, run.output_count, run.expected_count) == (5, 14, 7)
    assert run.output_counts == {"pass": 8, "fail": 4, "error": 2, "skipped": 0}
    assert run.unjudged == 3.75


@pytest.mark.parametrize(
    ("errors", "passed", "has_many", "has_only"),
    [(0, 0, False, False), (1, 19, False, False), (1, 18, True, False), (3, 0, True, True)],
)
def test_many_errors_are_over_5_per_cent(
    errors: int, passed: int, has_many: bool, has_only: bool
) -> None:
    run = Run(state=RunState.FINISHED, error_count=errors, pass_count=passed)
    assert (run.has_many_errors, run.has_only_errors) == (has_many, has_only)


@pytest.mark.parametrize(
    ("text", "is_json", "value"),
    [("[1]", True, [1]), ("[1]", False, "[1]"), (None, True, None), ("null", True, None)],
)
def test_an_output_is_a_text_or_a_json_value(text: str | None, is_json: bool, value: Any) -> None:
    assert Output(text=text, is_json=is_json).value == value


def test_each_list_has_the_runs_of_its_states(make_dataset: MakeDataset) -> None:
    first = run_with(make_dataset([{}]), {"close": [1.0]}, name="finished")
    now = timezone.now()
    for state in ("queued", "running", "cancelling", "cancelled"):
        row = {"team": first.team, "output_set": first.output_set, "name": state}
        Run.objects.create(**row, state=RunState(state))
    Run.objects.create(**row | {"name": "away"}, state=RunState.FINISHED, archived_at=now)
    Run.objects.create(**row | {"name": "gone"}, state=RunState.FINISHED, deleted_at=now)
    lists: dict[str, Any] = {
        "unfinished": Run.objects.unfinished(),
        "ended": Run.objects.ended(),
        "shown": Run.objects.ended().unarchived(),
        "gone": Run.with_deleted.deleted(),
    }
    assert {name: [run.name for run in rows.order_by("pk")] for name, rows in lists.items()} == {
        "unfinished": ["queued", "running", "cancelling"],
        "ended": ["finished", "cancelled", "away"],
        "shown": ["finished", "cancelled"],
        "gone": ["gone"],
    }
