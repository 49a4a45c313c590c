"""Scores calculated a second time, slowly and plainly, to hold the product's own against."""

from __future__ import annotations

import json
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
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return 0.0
        return sum(matched(part, actual[key]) for key, part in expected.items() if key in actual)
    if isinstance(expected, list):
        if not isinstance(actual, list):
            return 0.0
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
