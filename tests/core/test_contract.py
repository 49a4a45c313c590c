"""What scorers answer with: statuses, scores, verdicts and codes."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.contract import (
    ConfigError,
    OutsideProblem,
    Result,
    error,
    forced_fail,
    scored,
    skipped,
)


@pytest.mark.parametrize(
    ("result", "said", "code"),
    [
        (scored(0.5), ("scored", 0.5, None), ""),
        (scored(1.0, "same", {"code": "close"}), ("scored", 1.0, None), "close"),
        (forced_fail("no_json", "why"), ("scored", 0.0, "fail"), "no_json"),
        (error("timeout", "why"), ("error", None, None), "timeout"),
        (skipped("nothing", "why"), ("skipped", None, None), "nothing"),
    ],
)
def test_only_a_forced_fail_has_a_verdict_of_its_own(
    result: Result, said: tuple[Any, ...], code: str
) -> None:
    assert (result.status, result.score, result.verdict) == said
    assert result.code == code


@pytest.mark.parametrize("make", [forced_fail, error, skipped])
def test_the_code_is_added_to_metadata_that_stay_as_they_were(make: Any) -> None:
    given = {"code": "another", "seen": 1}
    assert make("odd", "why", given).metadata == {"code": "odd", "seen": 1}
    assert given == {"code": "another", "seen": 1}


def test_problems_say_what_and_where() -> None:
    assert str(ConfigError({"a": ["Too long.", "Odd."], "b": ["Missing."]})) == (
        "a: Too long. Odd.; b: Missing."
    )
    problem = OutsideProblem("bad_json", "no JSON", where="a[0]")
    assert (problem.code, str(problem), problem.where) == ("bad_json", "no JSON", "a[0]")
