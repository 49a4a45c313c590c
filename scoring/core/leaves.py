"""Leaf by leaf comparison of two JSON values: how much of the expected one is there.

Source: UiPath's JSON similarity. Only what is expected counts; extra keys and items are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import fsum
from typing import Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.json_path import ANY, Path, Step, path_text

MAX_UNORDERED: Final = 200  # items; longer arrays are compared by position
MAX_PAIRS: Final = 4_000_000  # of leaves in two unordered arrays, about two seconds
MAX_TEXT: Final = 100_000  # characters of one text that are compared
_ZERO: Final = 1e-12
_NOISE: Final = 1 + 1e-9  # keeps 1.1 within 10 % of 1.0


class Leaf(NamedTuple):
    """One value of the expected side, what stood in its place, and the credit from 0 to 1."""

    path: str
    expected: Json
    actual: Json
    credit: float
    is_missing: bool


@dataclass(frozen=True)
class Rules:
    """What a comparison allows."""

    unordered: bool = False
    number_tolerance: float | None = None
    ignored: tuple[Path, ...] = ()


class _Nothing:
    """Stands where a value is missing, or where an expected value does not count."""


_MISSING: Final = _Nothing()
_IGNORED: Final = _Nothing()

# The way to a value as (way to its parent, step): cheaper than a new path for every value.
_Trail = tuple["_Trail", Step] | None
Found = tuple[_Trail, Json, Json, float]  # way, expected, actual, credit


def compare(expected: Json, actual: Json, rules: Rules) -> list[Found]:
    """Every leaf of expected with its credit, the last item of each tuple, in document order."""
    for path in rules.ignored:
        expected = _without(expected, path)
    found: list[Found] = []
    _walk(expected, actual, None, rules, found)
    return found


def leaf(found: Found) -> Leaf:
    """A found leaf in a form to show."""
    trail, expected, actual, credit = found
    is_missing = actual is _MISSING
    return Leaf(_path(trail), expected, None if is_missing else actual, credit, is_missing)


def _path(trail: _Trail) -> str:
    steps: list[Step] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return path_text(steps[::-1])


def _walk(expected: Json, actual: Json, trail: _Trail, rules: Rules, found: list[Found]) -> None:
    if isinstance(expected, dict):
        other = actual if isinstance(actual, dict) else {}
        for key, part in expected.items():
            _walk(part, other.get(key, _MISSING), (trail, key), rules, found)
    elif isinstance(expected, list):
        items = _aligned(expected, actual, rules) if isinstance(actual, list) else []
        for place, part in enumerate(expected):
            item = items[place] if place < len(items) else _MISSING
            _walk(part, item, (trail, place), rules, found)
    elif expected is not _IGNORED:
        found.append((trail, expected, actual, _credit(expected, actual, rules)))


def _credit(expected: Json, actual: Json, rules: Rules) -> float:
    if isinstance(expected, str):
        return text_similarity(expected, actual) if isinstance(actual, str) else 0.0
    if expected is None or isinstance(expected, bool):
        return 1.0 if actual is expected else 0.0
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return 0.0
    return _number_credit(expected, actual, rules.number_tolerance)


def _number_credit(expected: float, actual: float, tolerance: float | None) -> float:
    if abs(expected) <= _ZERO:
        return 1.0 if abs(actual) <= _ZERO else 0.0
    try:
        difference = abs(expected - actual) / abs(expected)
    except OverflowError:  # an integer beyond the range of floats
        exact = abs(Fraction(expected) - Fraction(actual)) / abs(Fraction(expected))
        difference = float(min(exact, Fraction(2)))
    if tolerance is not None and difference <= tolerance * _NOISE:
        return 1.0
    return max(0.0, 1.0 - difference)


def text_similarity(left: str, right: str) -> float:
    """1 - edit distance / longer length, unrounded; 1.0 when both are empty."""
    if left == right:
        return 1.0
    return _similarity_function()(left[:MAX_TEXT], right[:MAX_TEXT])


@cache
def _similarity_function() -> Callable[[str, str], float]:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity


def _aligned(expected: list[Json], actual: list[Json], rules: Rules) -> list[Json]:
    """The actual items in the order that fits the expected ones best."""
    if not rules.unordered or not expected or not actual or _is_too_large(expected, actual):
        return actual
    from scipy.optimize import linear_sum_assignment

    fits = [[_credit_of(part, item, rules) for item in actual] for part in expected]
    aligned: list[Json] = [_MISSING] * len(expected)
    for row, column in zip(*linear_sum_assignment(fits, maximize=True), strict=True):
        aligned[row] = actual[column]
    return aligned


def _credit_of(expected: Json, actual: Json, rules: Rules) -> float:
    found: list[Found] = []
    _walk(expected, actual, None, rules, found)
    return fsum(credit for _, _, _, credit in found)


def _is_too_large(expected: list[Json], actual: list[Json]) -> bool:
    if max(len(expected), len(actual)) > MAX_UNORDERED:
        return True
    leaves, characters = _weight(expected)
    other_leaves, other_characters = _weight(actual)
    pairs, steps = leaves * other_leaves, characters * other_characters
    return pairs > MAX_PAIRS or steps > MAX_TEXT**2


def _weight(value: Json) -> tuple[int, int]:
    """How many leaves a value has, and how many characters their texts."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        weights = [_weight(part) for part in parts]
        return sum(leaves for leaves, _ in weights), sum(length for _, length in weights)
    return 1, len(value) if isinstance(value, str) else 0


def _without(value: Json, path: Path) -> Json:
    """A copy of the value in which everything at the path does not count."""
    if not path:
        return _IGNORED
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
        keys = [key for key in value if step in (ANY, key)]
        return {**value, **{key: _without(value[key], rest) for key in keys}}
    if isinstance(value, list):
        places = enumerate(value)
        return [_without(item, rest) if step in (ANY, place) else item for place, item in places]
    return value
