"""The scorer that compares two numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Annotated, Final

from annotated_types import Ge

from scoring.core.config import About
from scoring.core.contract import Case, CaseProblem, Json, OutsideProblem, Result, scored
from scoring.core.json_text import to_text
from scoring.core.registry import Derivation, Example, ScorerType, StoredResult
from scoring.core.scorers.answers import (
    BEST_ANSWER,
    LEAVES_OUT,
    LISTS_ANSWERS,
    NEEDS_ANSWER,
    AnswersConfig,
    score_best,
)
from scoring.core.scorers.selection import (
    EXTRACTS,
    EXTRACTS_EXPECTED,
    TAKES_PARTS,
    quote_excerpt,
)
from scoring.core.scorers.written_numbers import is_decimal_comma, read_written
from scoring.core.wording.numbers import MINUS, TIMES

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
MAX_LENGTH: Final = 400  # characters of a written number
MAX_EXPONENT: Final = 400
MAX_NUMBER: Final = Decimal(sys.float_info.max)
_EXACT: Final = Context(prec=2_000)  # more digits than two allowed numbers can need
_ROUGH: Final = Context(prec=30)


@dataclass(frozen=True, kw_only=True)
class NumericConfig(AnswersConfig):
    tolerance: Annotated[
        float | None,
        Ge(0),
        About(
            "Tolerance",
            "Score 1 when the difference is at most this, else 0. Empty: the closer, the higher.",
        ),
    ] = None
    relative: Annotated[
        bool, About("Relative", "The tolerance is a share of the expected number: 0.01 is 1 %.")
    ] = False
    lenient: Annotated[
        bool,
        About(
            "Lenient",
            "Also read 1,234.50 and 1 234, 50% as 0.5, ½, and other minus signs than the hyphen.",
        ),
    ] = False


def numeric(cases: Sequence[Case], config: NumericConfig) -> list[Result]:
    """1 - |e - o| / (|e| + |o|), or 1 or 0 by a tolerance; decimals are exact, 1.1 - 1 is 0.1."""

    def measure(case: Case) -> Result:
        expected = _expected_number(case.expected, config)
        output = read_number(case.output, lenient=config.lenient)
        difference = _EXACT.subtract(expected, output).copy_abs()
        arithmetic = {
            "output": float(output),
            "expected": float(expected),
            "difference": float(difference),
        }
        return scored(_credit(difference, expected, output, config), "", arithmetic)

    return score_best(measure, cases, config)


def explain_numeric(stored: StoredResult) -> Derivation | None:
    facts, config = stored.facts, stored.config
    if "difference" not in facts:
        return None
    expected, output = to_text(facts["expected"]), to_text(facts["output"])
    difference = to_text(facts["difference"])
    if config.tolerance is not None:
        sign = "≤" if stored.result.score else ">"
        allowed = to_text(config.tolerance) + (f" {TIMES} |{expected}|" if config.relative else "")
        return Derivation([f"|{expected} {MINUS} {output}| = {difference} {sign} {allowed}"])
    if not facts["expected"] and not facts["output"]:
        return Derivation(["both numbers are 0"])
    sizes = f"{to_text(abs(facts['expected']))} + {to_text(abs(facts['output']))}"
    return Derivation(
        [f"e expected, o output: 1 {MINUS} |e {MINUS} o| / (|e| + |o|)"],
        f"1 {MINUS} {difference} / ({sizes})",
    )


def read_number(value: Json, *, lenient: bool = False) -> Decimal:
    """The exact number a JSON number or a text such as " -1.5e3 " stands for.

    With `lenient`, also what `read_written` reads. Raises CaseProblem `not_a_number`, which says
    what of the spelling is not read, or `number_too_long`.
    """
    text = to_text(value)
    digits = text.strip()
    number: Decimal | None = None
    if not isinstance(value, bool) and _NUMBER.fullmatch(digits):
        number = Decimal(digits) if len(digits) <= MAX_LENGTH else Decimal("inf")
    elif isinstance(value, str) and lenient and (written := read_written(digits)):
        number = written.value
    if number is None:
        hint = "" if lenient else _hint(value)
        raise CaseProblem("not_a_number", f"{quote_excerpt(text)} is not a number{hint}")
    if abs(number.adjusted()) > MAX_EXPONENT or number.copy_abs() > MAX_NUMBER:
        raise CaseProblem("number_too_long", f"{quote_excerpt(text)} is too long a number")
    return number


def _hint(value: Json) -> str:
    """What of a number's spelling is not read, and what would read it."""
    if not isinstance(value, str):
        return ""
    if is_decimal_comma(value) and not read_written(value):
        return ": a comma is no decimal sign, write a point"
    if written := read_written(value):
        return f": {' and '.join(written.notes)}; “lenient” reads {to_text(float(written.value))}"
    return ""


def _expected_number(expected: Json, config: NumericConfig) -> Decimal:
    try:
        return read_number(expected, lenient=config.lenient)
    except CaseProblem as problem:
        raise OutsideProblem(f"expected_{problem.code}", f"expected: {problem.text}") from None


def _credit(
    difference: Decimal, expected: Decimal, output: Decimal, config: NumericConfig
) -> float:
    if config.tolerance is not None:
        allowed = Decimal(repr(config.tolerance))
        if config.relative:
            allowed = _EXACT.multiply(allowed, expected.copy_abs())
        return float(difference <= allowed)
    sizes = _EXACT.add(expected.copy_abs(), output.copy_abs())
    return 1 - float(_ROUGH.divide(difference, sizes)) if sizes else 1.0


SCORER_TYPES: Final = (
    ScorerType(
        name="numeric",
        label="Numeric closeness",
        summary="How close two numbers are, or whether they are within a tolerance.",
        use_when="The answer is a number.",
        config=NumericConfig,
        score=numeric,
        default_threshold=1.0,
        expected_as="verbatim",
        explain=explain_numeric,
        is_quick=lambda _: True,
        semantics=(
            "Without a tolerance the score is 1 - |e - o| / (|e| + |o|), and 1 where both are 0.",
            "With `tolerance` it is 1 inside and 0 outside; with `relative` the tolerance "
            "is a share of the expected number.",
            "With `lenient` digits may be grouped by spaces, commas or apostrophes, `50%` and `½` "
            "are 0.5, and other minus signs than the hyphen are one. A comma is no decimal sign.",
            BEST_ANSWER,
            LISTS_ANSWERS,
            LEAVES_OUT,
            NEEDS_ANSWER,
            TAKES_PARTS,
            EXTRACTS,
            EXTRACTS_EXPECTED,
        ),
        examples=(
            Example({}, Case("42", 42), 1.0, "The same number."),
            Example({}, Case("3", 5), 0.75, "1 - 2 / 8."),
            Example(
                {"tolerance": 0.01, "relative": True}, Case("99.5", 100), 1.0, "Within 1 % of 100."
            ),
            Example({"lenient": True}, Case("1,234.50", 1234.5), 1.0, "Commas between thousands."),
            Example(
                {},
                Case("18", "20", references=("a dozen and a half", "18.0")),
                1.0,
                "The second reference; the first is no number and left out.",
            ),
        ),
    ),
)
