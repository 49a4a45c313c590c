"""Scorers that compare JSON values: json_match and json_similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated, ClassVar, Final, Literal

from annotated_types import Ge, Le

from scoring.core.config import About
from scoring.core.contract import (
    Case,
    CaseProblem,
    ConfigError,
    Json,
    OutsideProblem,
    Result,
    scored,
    skipped,
)
from scoring.core.json_path import parse_path
from scoring.core.json_text import compact
from scoring.core.leaves import Found, Leaf, Rules, as_leaves, compare, total_credit
from scoring.core.number_text import short_text
from scoring.core.selection import (
    NegatableConfig,
    ReferenceConfig,
    each,
    expected_json,
    negated,
    output_json,
    selected,
)

WORST_LEAVES: Final = 5
VALUE_LENGTH: Final = 40  # of a value in the stored metadata
LAID_OUT: Final = 200_000  # characters of a text up to which a page tells what its leaves scored

EQUAL: Final = scored(1.0)
NOT_EQUAL: Final = scored(0.0, "the JSON values differ")


@dataclass(frozen=True, kw_only=True)
class JsonMatchConfig(ReferenceConfig, NegatableConfig):
    """Nothing beyond what all reference types have."""


def json_match(cases: Sequence[Case], config: JsonMatchConfig) -> list[Result]:
    """1.0 when both are equal as JSON: key order is free, array order is not."""

    def match(case: Case) -> Result:
        expected = expected_json(case.expected)
        return EQUAL if equal(output_json(case.output), expected) else NOT_EQUAL

    return negated(each(match, cases, config), config)


def equal(left: Json, right: Json) -> bool:
    """Deep equality of JSON values: 1 equals 1.0, but true is not 1."""
    return bool(left == right) and _same_booleans(left, right)


def _same_booleans(left: Json, right: Json) -> bool:
    """Whether two values that Python holds equal have their booleans at the same places."""
    if isinstance(left, dict):
        return all(_same_booleans(part, right[key]) for key, part in left.items())
    if isinstance(left, list):
        return all(map(_same_booleans, left, right))
    return isinstance(left, bool) is isinstance(right, bool)


@dataclass(frozen=True, kw_only=True)
class JsonSimilarityConfig(ReferenceConfig):
    array_mode: Annotated[
        Literal["index", "unordered"],
        About(
            "Arrays",
            "`index` compares items by position; `unordered` pairs each item with the one that"
            " fits best (up to 200 items).",
        ),
    ] = "index"
    ignore_paths: Annotated[
        tuple[str, ...],
        About("Ignored paths", "Parts that do not count, such as `meta.id` or `items[*].date`."),
    ] = ()
    number_tolerance: Annotated[
        float | None,
        Ge(0),
        Le(1),
        About("Number tolerance", "A relative difference up to this counts as equal."),
    ] = None

    keeps_partial: ClassVar[bool] = True

    def check(self) -> None:
        super().check()
        try:
            self.rules()
        except ValueError as unreadable:
            raise ConfigError({"ignore_paths": [str(unreadable)]}) from None

    def rules(self) -> Rules:
        """The comparison that this config asks for."""
        ignored = tuple(parse_path(path) for path in self.ignore_paths)
        return Rules(self.array_mode == "unordered", self.number_tolerance, ignored)


def json_similarity(cases: Sequence[Case], config: JsonSimilarityConfig) -> list[Result]:
    """Matched leaves / total leaves of the expected value. Source: UiPath's evaluator.

    We depart from it where expected has no leaf: it gives 1.0, we skip.
    """
    rules = config.rules()

    def measure(case: Case) -> Result:
        leaves = _compared(case, rules)
        if not leaves:
            return skipped("no_leaves", "expected has no values to compare")
        matched = total_credit(leaves)
        if matched == len(leaves):
            return scored(1.0, "", {"matched": matched, "total": len(leaves)})
        return _partial(matched, leaves)

    return each(measure, cases, config)


def is_laid_out(output: Json, expected: Json) -> bool:
    """Whether neither is too long a text for a table of its leaves."""
    return not any(isinstance(each, str) and len(each) > LAID_OUT for each in (output, expected))


def leaf_table(output: Json, expected: Json, config: JsonSimilarityConfig) -> list[Leaf]:
    """Every leaf of the expected value with its credit, for the page of a case.

    Empty where the output or the expected value cannot be compared at all, or is so long a text
    that nobody reads it leaf by leaf.
    """
    if not is_laid_out(output, expected):
        return []
    try:
        chosen = selected(Case(output, expected), config)
        return [] if isinstance(chosen, Result) else _table(chosen, config)
    except CaseProblem:
        return []


def why_not_by_leaf(
    output: Json, expected: Json, config: JsonSimilarityConfig, matched: float
) -> str:
    """Why no leaf has a counterpart to be seen beside it; "" where they have."""
    if not is_laid_out(output, expected):
        return "too long to be laid out leaf by leaf"
    if matched or not isinstance(output, str):
        return ""
    try:
        chosen = selected(Case(output, expected), config)
        if isinstance(chosen, Result) or not isinstance(
            expected_json(chosen.expected), dict | list
        ):
            return ""
        output_json(chosen.output)
    except OutsideProblem:
        return ""
    except CaseProblem as problem:
        return f"{problem.text}; it counts as one text"
    return ""


def _table(case: Case, config: JsonSimilarityConfig) -> list[Leaf]:
    return as_leaves(_compared(case, config.rules()))


def _compared(case: Case, rules: Rules) -> list[Found]:
    expected = expected_json(case.expected, or_text=True)
    return compare(expected, output_json(case.output, or_text=True), rules)


def _partial(matched: float, leaves: list[Found]) -> Result:
    total = len(leaves)
    worst = sorted((found for found in leaves if found[-1] < 1), key=itemgetter(-1))
    metadata = {
        "matched": matched,
        "total": total,
        "worst": [_shown(leaf) for leaf in as_leaves(worst[:WORST_LEAVES])],
    }
    reason = f"Matched leaves: {short_text(matched, 4, total)}, Total leaves: {total}"
    return scored(matched / total, reason, metadata)


def _shown(shown: Leaf) -> dict[str, Json]:
    """A leaf in few bytes: values as cut JSON text, `actual` left out where it is missing."""
    entry = {"path": shown.path[:VALUE_LENGTH], "expected": _cut(shown.expected)}
    if not shown.is_missing:
        entry["actual"] = _cut(shown.actual)
    return {**entry, "credit": round(shown.credit, 4)}


def _cut(value: Json) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = compact(value[:VALUE_LENGTH] if isinstance(value, str) else value)
    return text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 1] + "…"
