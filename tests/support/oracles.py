"""Scores calculated a second time, slowly and plainly, to hold the product's own against."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Any


def levenshtein(left: str, right: str) -> int:
    """Edit distance by the textbook table, two rows at a time."""
    above = list(range(len(right) + 1))
    for row, a in enumerate(left, start=1):
        current = [row]
        for column, b in enumerate(right, start=1):
            current.append(min(above[column] + 1, current[-1] + 1, above[column - 1] + (a != b)))
        above = current
    return above[-1]


def similarity(left: str, right: str) -> float:
    longer = max(len(left), len(right))
    return 1 - levenshtein(left, right) / longer if longer else 1.0


def parsed(text: Any) -> Any:
    """JSON where a text is JSON, else the text itself."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def leaves(value: Any) -> int:
    if isinstance(value, dict):
        return sum(leaves(part) for part in value.values())
    if isinstance(value, list):
        return sum(leaves(part) for part in value)
    return 1


def matched(expected: Any, actual: Any) -> float:
    """The credit for every leaf of `expected` that `actual` has too."""
    if isinstance(expected, dict | list) and type(expected) is not type(actual):
        return 0.0
    if isinstance(expected, dict):
        return sum(matched(part, actual[key]) for key, part in expected.items() if key in actual)
    if isinstance(expected, list):
        return sum(matched(part, other) for part, other in zip(expected, actual, strict=False))
    if isinstance(expected, bool) or expected is None or isinstance(actual, bool):
        return float(expected is actual)
    if isinstance(expected, str):
        return similarity(expected, actual) if isinstance(actual, str) else 0.0
    return _close(expected, actual) if isinstance(actual, int | float) else 0.0


def _close(expected: float, actual: float) -> float:
    if abs(expected) <= 1e-12:
        return float(abs(actual) <= 1e-12)
    return min(1.0, max(0.0, 1 - abs(expected - actual) / abs(expected)))


def json_similarity(expected: Any, actual: Any) -> float | None:
    """Matched leaves over leaves; None where there is nothing to compare."""
    expected, actual = parsed(expected), parsed(actual)
    total = leaves(expected)
    return matched(expected, actual) / total if total else None


def levenshtein_score(expected: str, output: str) -> float:
    """In lower case, rounded half up to two decimals on the exact fraction."""
    left, right = expected.lower(), output.lower()
    longer = max(len(left), len(right))
    exact = 1 - Fraction(levenshtein(left, right), longer) if longer else Fraction(1)
    return floor(exact * 100 + Fraction(1, 2)) / 100


def json_match(expected: Any, output: str) -> float:
    """1.0 for equal values; a text that is not JSON equals nothing."""
    try:
        return float(same(parsed(expected), json.loads(output)))
    except ValueError:
        return 0.0


def same(left: Any, right: Any) -> bool:
    """Deep equality in which true is not 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def mean(scores: Sequence[float]) -> float:
    return float(sum(map(Fraction, scores)) / len(scores))


def pass_rate(scores: Sequence[float], threshold: float) -> float:
    """The share of scores that, rounded to nine decimals as they are reported, reach it."""
    return sum(round(score, 9) >= threshold for score in scores) / len(scores)
