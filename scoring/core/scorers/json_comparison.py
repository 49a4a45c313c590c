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
    Result,
    forced_fail,
    scored,
    skipped,
)
from scoring.core.json_path import parse_path
from scoring.core.json_text import compact
from scoring.core.registry import Derivation, Example, ScorerType, StoredResult
from scoring.core.scorers.answers import (
    BEST_ANSWER,
    LEAVES_OUT,
    NEEDS_ANSWER,
    AnswersConfig,
    score_best,
)
from scoring.core.scorers.json_leaves import (
    FoundLeaf,
    Leaf,
    Rules,
    compare,
    to_leaves,
    total_credit,
)
from scoring.core.scorers.selection import (
    EXTRACTS,
    EXTRACTS_EXPECTED,
    NEGATES,
    READS_JSON,
    TAKES_PARTS,
    NegatableConfig,
    apply_negate,
    expected_json,
    is_met,
    output_json,
    select_target,
)
from scoring.core.wording.numbers import score_text

WORST_LEAVES: Final = 5
VALUE_LENGTH: Final = 40  # of a value in the stored metadata
#: Of a text, up to which a page tells what its leaves scored.
MAX_TABLE_CHARS: Final = 200_000

EQUAL: Final = scored(1.0)
NOT_EQUAL: Final = scored(0.0, "the JSON values differ")
NONE_EQUAL: Final = "the output equals none of {} right answers as JSON"
TAKES_JSON: Final = (
    "The expected value is one answer, also where it is a list; each reference is another, read "
    "as JSON."
)


@dataclass(frozen=True, kw_only=True)
class JsonMatchConfig(AnswersConfig, NegatableConfig):
    splits_lists: ClassVar[bool] = False


def json_match(cases: Sequence[Case], config: JsonMatchConfig) -> list[Result]:
    """1.0 when both are equal as JSON: key order is free, array order is not."""

    def match(case: Case) -> Result:
        expected = expected_json(case.expected, exact=True)
        return EQUAL if is_equal(output_json(case.output, exact=True), expected) else NOT_EQUAL

    return apply_negate(score_best(match, cases, config, NONE_EQUAL), config)


def explain_json_match(stored: StoredResult) -> Derivation:
    return Derivation(["equal as JSON" if is_met(stored) else "the JSON values differ"])


def is_equal(left: Json, right: Json) -> bool:
    """Deep equality of JSON values with exact numbers: 1 equals 1.0, but true is not 1."""
    return bool(left == right) and _same_booleans(left, right)


def _same_booleans(left: Json, right: Json) -> bool:
    """Whether two values that Python holds equal have their booleans at the same places."""
    if isinstance(left, dict):
        return all(_same_booleans(part, right[key]) for key, part in left.items())
    if isinstance(left, list):
        return all(map(_same_booleans, left, right))
    return isinstance(left, bool) is isinstance(right, bool)


@dataclass(frozen=True, kw_only=True)
class JsonSimilarityConfig(AnswersConfig):
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
    splits_lists: ClassVar[bool] = False

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

    We depart from it where expected has no leaf: it gives 1.0, we skip. An output that is not JSON
    is one string leaf, as there; where expected is more than a text, that is a fault of the output.
    """
    rules = config.rules()

    def measure(case: Case) -> Result:
        leaves = _compare(case, rules)
        if not leaves:
            return skipped("no_leaves", "expected has no values to compare")
        matched = total_credit(leaves)
        if matched == len(leaves):
            return scored(1.0, "", {"matched": matched, "total": len(leaves)})
        partial = _score_partly(matched, leaves)
        fault = None if matched else json_fault(case.output, case.expected)
        if fault is None:
            return partial
        why = fault.text if fault.text.endswith("?") else f"{fault.text}."
        return forced_fail(fault.code, f"{why} {partial.reason}", partial.metadata)

    return score_best(measure, cases, config)


def explain_json_similarity(stored: StoredResult) -> Derivation | None:
    facts = stored.facts
    if "total" not in facts:
        return None
    matched = score_text(facts["matched"], facts["total"])
    findings = ["matched leaves / all leaves of the expected value"]
    values = stored.case.output, stored.case.expected
    if why := leaf_table_problem(*values, stored.config, facts["matched"]):
        findings.append(why)
    return Derivation(findings, f"{matched} / {facts['total']}")


def has_leaf_table(output: Json, expected: Json) -> bool:
    """Whether neither is too long a text for a table of its leaves."""
    texts = (value for value in (output, expected) if isinstance(value, str))
    return all(len(text) <= MAX_TABLE_CHARS for text in texts)


def leaf_table(output: Json, expected: Json, config: JsonSimilarityConfig) -> list[Leaf]:
    """Every leaf of the expected value with its credit, for the page of a case.

    Empty where the values cannot be compared, or where one of them is not `has_leaf_table`.
    """
    if not has_leaf_table(output, expected):
        return []
    try:
        target = select_target(Case(output, expected), config)
        if isinstance(target, Result):
            return []
        return to_leaves(_compare(target, config.rules()))
    except CaseProblem:
        return []


def leaf_table_problem(
    output: Json, expected: Json, config: JsonSimilarityConfig, matched: float
) -> str:
    """Why the leaves are not shown side by side; "" where they are."""
    if not has_leaf_table(output, expected):
        return "too long to be laid out leaf by leaf"
    if matched or not isinstance(output, str):
        return ""
    try:
        target = select_target(Case(output, expected), config)
        fault = None if isinstance(target, Result) else json_fault(target.output, target.expected)
    except CaseProblem:
        return ""
    return f"{fault.text}; it counts as one text" if fault else ""


def json_fault(output: Json, expected: Json) -> CaseProblem | None:
    """Why a text output is not JSON, where expected is; None where a text is expected."""
    if not isinstance(output, str) or isinstance(expected_json(expected, or_text=True), str):
        return None
    try:
        output_json(output)
    except CaseProblem as fault:
        return fault
    return None


def _compare(case: Case, rules: Rules) -> list[FoundLeaf]:
    expected = expected_json(case.expected, or_text=True)
    return compare(expected, output_json(case.output, or_text=True), rules)


def _score_partly(matched: float, leaves: list[FoundLeaf]) -> Result:
    total = len(leaves)
    worst = sorted((leaf for leaf in leaves if leaf[-1] < 1), key=itemgetter(-1))[:WORST_LEAVES]
    metadata = {"matched": matched, "total": total, "worst": list(map(_shorten, to_leaves(worst)))}
    reason = f"Matched leaves: {score_text(matched, total)}, Total leaves: {total}"
    return scored(matched / total, reason, metadata)


def _shorten(leaf: Leaf) -> dict[str, Json]:
    """A leaf in few bytes: values as cut JSON text, `actual` left out where it is missing."""
    entry = {"path": leaf.path[:VALUE_LENGTH], "expected": _cut(leaf.expected)}
    if not leaf.is_missing:
        entry["actual"] = _cut(leaf.actual)
    return {**entry, "credit": round(leaf.credit, 4)}


def _cut(value: Json) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = compact(value[:VALUE_LENGTH] if isinstance(value, str) else value)
    return text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 1] + "…"


_BOOKING: Final = {"city": "Paris", "nights": 3, "guests": [{"name": "Ana"}, {"name": "Bo"}]}

SCORER_TYPES: Final = (
    ScorerType(
        name="json_match",
        label="JSON match",
        summary="1.0 when output and expected are equal as JSON; key order is free.",
        use_when="All of a JSON value has to be right: a function call, a record.",
        config=JsonMatchConfig,
        score=json_match,
        default_threshold=1.0,
        expected_as="verbatim",
        explain=explain_json_match,
        is_quick=lambda _: True,
        semantics=(
            "Both sides are read as JSON and have to be equal: the order of keys is free, "
            "that of items is not; true is not 1. Numbers are equal by the exact decimal "
            "value that is written: 1 is 1.0, and 1e23 is its 24 digits.",
            READS_JSON,
            "An expected value that is not valid JSON is an error, never a score, unless a "
            "reference can be compared.",
            BEST_ANSWER,
            TAKES_JSON,
            LEAVES_OUT,
            NEEDS_ANSWER,
            TAKES_PARTS,
            EXTRACTS,
            EXTRACTS_EXPECTED,
            NEGATES,
        ),
        examples=(
            Example({}, Case('{"b": 2, "a": 1.0}', {"a": 1, "b": 2}), 1.0, "Key order is free."),
            Example({}, Case("[1, 2]", [2, 1]), 0.0, "The order of items is not."),
            Example({}, Case("{'a': 1}", {"a": 1}), 0.0, "Not valid JSON.", "invalid_json"),
            Example(
                {},
                Case(
                    '{"unit": "km", "value": 1}',
                    {"unit": "m", "value": 1000},
                    references=('{"value": 1, "unit": "km"}',),
                ),
                1.0,
                "The reference is right too.",
            ),
        ),
    ),
    ScorerType(
        name="json_similarity",
        label="JSON similarity",
        summary="The share of the expected JSON values that the output holds, with partial credit.",
        use_when="Some fields of a JSON value may be right and others not: extracted data.",
        config=JsonSimilarityConfig,
        score=json_similarity,
        default_threshold=0.9,
        expected_as="verbatim",
        explain=explain_json_similarity,
        is_quick=lambda config: config.array_mode == "index",
        semantics=(
            "The score is the credit of all leaves of the expected value over their "
            "number. Keys that only the output has do not count; another type earns "
            "nothing for all leaves below.",
            "An output that is not JSON counts as one text leaf. Where the expected value is "
            "more than a text it scores 0 and fails with the code `invalid_json`; the reason "
            "says at which line and column.",
            "A text earns its unrounded similarity, a "
            "number 1 - |e - a| / |e|, a boolean and null all or nothing. With "
            "`number_tolerance` a number within that share of the expected one earns all.",
            "Lists are compared by position; with `array_mode` unordered their items are "
            "paired for the most credit, up to 200 of them.",
            "Bands of scores: 1 perfect, from 0.9 very high, from 0.7 good, from 0.5 "
            "moderate, below that low.",
            BEST_ANSWER,
            TAKES_JSON,
            LEAVES_OUT,
            NEEDS_ANSWER,
            TAKES_PARTS,
            EXTRACTS,
            EXTRACTS_EXPECTED,
        ),
        examples=(
            Example({}, Case(_BOOKING, _BOOKING), 1.0, "All four leaves are there."),
            Example(
                {},
                Case({"temperature": 19.8, "wet": True}, {"temperature": 20, "wet": True}),
                0.995,
                "A number 1 % off earns 0.99 of its leaf.",
            ),
            Example(
                {"array_mode": "unordered"}, Case(["b", "a"], ["a", "b"]), 1.0, "Items are paired."
            ),
            Example(
                {},
                Case({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}, references=('{"a": 1, "b": 4}',)),
                0.75,
                "1.5 of 2 leaves of the reference, more than 1.67 of 3 of the expected value.",
            ),
            Example({}, Case("a is 1", {"a": 1}), 0.0, "Not valid JSON.", "invalid_json"),
            Example({}, Case({"a": 1}, {}), None, "Nothing is expected.", "no_leaves"),
        ),
    ),
)
