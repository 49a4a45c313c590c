"""Figures of a comparison come back from JSON as they were, and name what may be named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.core.wording.comparison import UnjudgedCases
from scoring.engine.compare.figures import (
    METHODS,
    SHAPE,
    Cell,
    Figures,
    FlipFigures,
    ScorerFigures,
    Slice,
)


def scorer(name: str, **given: Any) -> ScorerFigures:
    fields: dict[str, Any] = {
        "versions": (1, 2),
        "thresholds": (0.5, 0.7),
        "n": 9,
        "means": (0.4, 0.5),
        "delta": 0.1,
        "interval": (0.0, 0.2),
        "p": 0.04,
        "standard_error": 0.05,
        "is_one_claim": False,
        "method": "exact",
        "improved": 3,
        "regressed": 1,
        "flips": FlipFigures(9, 1, 3, 0.6),
        "noise": None,
        "histogram": (0, 9),
        "scatter": (Cell(1, 2, 9, 4, 0),),
    }
    return ScorerFigures(name, **fields | given)


def a_slice(tag: str, q: float, q_corrected: float = 1.0) -> Slice:
    return Slice(tag, "close", 5, 0.1, (0.0, 0.2), q, q, "exact", q_corrected)


def figures(**given: Any) -> Figures:
    counts = ("pairs", "judged", "broke", "fixed", "unchanged", "unclear", "judged_in_neither")
    zero: dict[str, Any] = dict.fromkeys((*counts, "only_baseline", "only_candidate", "edited"), 0)
    fields: dict[str, Any] = {
        "unjudged": UnjudgedCases(1),
        "p": 0.6,
        "has_one_scorer": False,
        "warnings": ("w",),
    }
    return Figures(**zero | fields | {"scorers": (), "slices": ()} | given)


@pytest.mark.parametrize("nothing", [{}, {"means": None, "interval": None, "delta": None}])
def test_what_is_kept_comes_back(nothing: dict[str, Any]) -> None:
    one = figures(scorers=(scorer("close", **nothing),), slices=(a_slice("a", 0.1),), pairs=9)
    kept = json.loads(json.dumps(one.as_json()))
    assert kept["shape"] == SHAPE
    assert Figures.read(kept) == one


def test_only_significant_slices_are_named_the_surest_first() -> None:
    slices = (a_slice("a", 0.04, 0.3), a_slice("b", 0.03, 0.04), a_slice("c", 0.01, 0.02))
    one = figures(slices=slices)
    assert [each.tag for each in one.ranked_slices()] == ["c", "b", "a"]
    assert [each.tag for each in one.changed_slices] == ["c", "b"]


def test_each_method_names_its_scorers() -> None:
    scorers = (scorer("a"), scorer("b", method="normal"), scorer("c"), scorer("d", n=1))
    assert list(figures(scorers=scorers).methods()) == [
        (METHODS["exact"], "a, c"),
        (METHODS["normal"], "b"),
    ]
