"""What a list says of a drift line, and where the line stands."""

from __future__ import annotations

import pytest

from scoring.core.stats.change_points import MIN_RUNS, DecidedRun, Outcome
from scoring.core.wording.drift_status import (
    MAX_NAMED,
    Severity,
    Status,
    find_drift_status,
    find_line_status,
    join_names,
)

OUTCOMES = {"f": Outcome.FIRST, ".": Outcome.STEADY, "C": Outcome.CHANGED, "R": Outcome.RETURNED}


def runs(outcomes: str, means: dict[int, float]) -> list[DecidedRun]:
    """A run a letter at 0.9, but for those given; "R" leaves one level behind."""
    return [
        DecidedRun(means.get(n, 0.9), OUTCOMES[each], int(each == "R"), 0.001, 0.001)
        for n, each in enumerate(outcomes)
    ]


def said(outcomes: str, means: dict[int, float]) -> tuple[Severity, str] | None:
    labels = [f"w{number}" for number in range(len(outcomes))]
    news = find_drift_status(labels, runs(outcomes, means))
    return (news.severity, news.text) if news else None


LOW = dict.fromkeys(range(4, 20), 0.7)


@pytest.mark.parametrize(
    ("outcomes", "means", "news"),
    [
        ("", {}, None),
        ("f", {}, None),
        ("f...........", {}, None),
        ("f...C", LOW, (Severity.DRIFTS, "decreased with w4: 0.900 → 0.700")),
        ("f...C......", LOW, (Severity.DRIFTS, "decreased with w4: 0.900 → 0.700")),
        ("f...C.......", LOW, None),
        ("f...C", {4: 0.95}, (Severity.ROSE, "increased with w4: 0.900 → 0.950")),
        ("f...CR", {4: 0.7}, (Severity.PAST, "decreased in w4, back since w5")),
        ("f...C.R", {4: 0.7, 5: 0.6}, (Severity.PAST, "decreased in w4 and w5, back since w6")),
        ("f...CR......", {4: 0.7}, (Severity.PAST, "decreased in w4, back since w5")),
        ("f...CR.......", {4: 0.7}, None),
        ("f...CR", {4: 0.99}, None),
        ("f...CRCR", {4: 0.7, 6: 0.7}, None),
    ],
)
def test_news_names_the_run_and_what_happened(
    outcomes: str, means: dict[int, float], news: tuple[Severity, str] | None
) -> None:
    assert said(outcomes, means) == news


def test_a_newest_run_that_is_not_judged_is_no_news() -> None:
    judged = runs("f...C", LOW)
    assert find_drift_status([f"w{n}" for n in range(6)], judged) is None
    assert find_line_status(judged, 6).status == Status.UNTESTED


@pytest.mark.parametrize("count", range(1, MIN_RUNS + 2))
def test_a_new_level_is_the_usual_one_from_eight_runs_on(count: int) -> None:
    status = find_line_status(runs("f..." + "C" + "." * (count - 1), LOW), 4 + count).status
    assert status == (Status.DECREASED if count < MIN_RUNS else Status.STEADY)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d"], "a, b and 2 more"),
        (["a"] * 1_234, "a, a and 1,232 more"),
    ],
)
def test_names_are_listed_as_in_a_sentence(names: list[str], text: str) -> None:
    assert join_names(names) == text
    assert len(text.replace(" and ", ", ").split(", ")) <= MAX_NAMED
