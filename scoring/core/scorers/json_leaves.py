"""Comparison of two JSON values leaf by leaf.

Source: UiPath's JSON similarity. Only what is expected counts; extra keys and items are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import fsum, inf
from operator import itemgetter
from typing import Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.import_lock import IMPORT_LOCK
from scoring.core.json_path import ANY, Path, Step, StepTexts, whole_path

MAX_UNORDERED: Final = 200  # items; longer arrays are compared by position
MAX_PAIRS: Final = 1_000_000  # of leaves compared for unordered arrays, about a second
CHARACTERS_PER_PAIR: Final = 10_000  # of text length times text length, in the time of one pair
MAX_TEXT: Final = 100_000  # characters of one text that are compared
_ZERO: Final = 1e-12
_NOISE: Final = 1 + 1e-9  # keeps 1.1 within 10 % of 1.0


class Leaf(NamedTuple):
    """A leaf of the expected value, its counterpart in the output, and its credit, 0 to 1."""

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
    """A marker for a missing value, or for an expected value that does not count."""


_MISSING: Final = _Nothing()
_IGNORED: Final = _Nothing()

_LEAF_KINDS: Final = frozenset({str, int, float, bool, type(None)})

# The path to a value as (path to its parent, step): cheaper than a tuple of all its steps.
_Trail = tuple["_Trail", Step] | None
FoundLeaf = tuple[_Trail, Json, Json, float]  # path, expected, actual, credit


def compare(expected: Json, actual: Json, rules: Rules) -> list[FoundLeaf]:
    """Every leaf of expected with its credit, the last item of each tuple, in document order."""
    for path in rules.ignored:
        expected = _without(expected, path)
    comparison = _Comparison(rules, MAX_PAIRS)
    comparison.walk(expected, actual, None)
    return comparison.leaves


def total_credit(leaves: list[FoundLeaf]) -> float:
    """The number of matched leaves, a partly matched one counting by its credit."""
    return fsum(map(itemgetter(3), leaves))


def to_leaves(leaves: Iterable[FoundLeaf]) -> list[Leaf]:
    """Found leaves in a form to show."""
    texts = _TrailTexts()
    return [
        Leaf(
            whole_path(texts[trail]),
            expected,
            None if actual is _MISSING else actual,
            credit,
            actual is _MISSING,
        )
        for trail, expected, actual, credit in leaves
    ]


class _TrailTexts(dict[_Trail, str]):
    """The text of each trail, written once for all values below it."""

    def __init__(self) -> None:
        super().__init__({None: ""})
        self.steps = StepTexts()

    def __missing__(self, trail: tuple[_Trail, Step]) -> str:
        parent, step = trail
        text = self[trail] = self[parent] + self.steps[step]
        return text


class _Comparison:
    """One walk over two values. `pairs` is how many leaf pairs unordered arrays may still cost."""

    def __init__(self, rules: Rules, pairs: float) -> None:
        self.rules = rules
        self.pairs = pairs
        self.leaves: list[FoundLeaf] = []

    def walk(self, expected: Json, actual: Json, trail: _Trail) -> None:
        if isinstance(expected, dict):
            other = actual if isinstance(actual, dict) else {}
            for key, part in expected.items():
                self.step(part, other.get(key, _MISSING), (trail, key))
        elif isinstance(expected, list):
            items = self.aligned(expected, actual) if isinstance(actual, list) else []
            for place, part in enumerate(expected):
                item = items[place] if place < len(items) else _MISSING
                self.step(part, item, (trail, place))
        elif expected is not _IGNORED:
            self.leaves.append((trail, expected, actual, _credit(expected, actual, self.rules)))

    def step(self, expected: Json, actual: Json, trail: _Trail) -> None:
        """Walk on, with a short way for the usual leaf that is simply equal."""
        kind = type(expected)
        if kind is type(actual) and kind in _LEAF_KINDS and expected == actual:
            self.leaves.append((trail, expected, actual, 1.0))
        else:
            self.walk(expected, actual, trail)

    def aligned(self, expected: list[Json], actual: list[Json]) -> list[Json]:
        """The actual items in the order that fits the expected ones best."""
        if not self.rules.unordered or not expected or not actual:
            return actual
        if not self.may_pair(expected, actual):
            return actual
        with IMPORT_LOCK:
            from scipy.optimize import linear_sum_assignment

        fits = [[self.fit(part, item) for item in actual] for part in expected]
        aligned: list[Json] = [_MISSING] * len(expected)
        for row, column in zip(*linear_sum_assignment(fits, maximize=True), strict=True):
            aligned[row] = actual[column]
        return aligned

    def fit(self, expected: Json, actual: Json) -> float:
        # What lies inside these two has been paid for with the arrays around them.
        inner = _Comparison(self.rules, inf)
        inner.walk(expected, actual, None)
        return total_credit(inner.leaves)

    def may_pair(self, expected: list[Json], actual: list[Json]) -> bool:
        """Whether pairing these arrays is affordable; if so, it is paid for."""
        if max(len(expected), len(actual)) > MAX_UNORDERED:
            return False
        if self.pairs == inf:
            return True
        leaves, characters = _weight(expected)
        other_leaves, other_characters = _weight(actual)
        steps = leaves * other_leaves + characters * other_characters // CHARACTERS_PER_PAIR
        if steps > self.pairs:
            return False
        self.pairs -= steps
        return True


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
