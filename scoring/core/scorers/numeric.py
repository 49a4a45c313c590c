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
from scoring.core.json_text import text_of
from scoring.core.selection import ReferenceConfig, each, excerpt

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
MAX_LENGTH: Final = 400  # characters of a written number
MAX_EXPONENT: Final = 400
LARGEST: Final = Decimal(sys.float_info.max)
_EXACT: Final = Context(prec=2_000)  # more digits than two allowed numbers can need
_ROUGH: Final = Context(prec=30)


@dataclass(frozen=True, kw_only=True)
class NumericConfig(ReferenceConfig):
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


def numeric(cases: Sequence[Case], config: NumericConfig) -> list[Result]:
    """1 - |e - o| / (|e| + |o|), or 1 or 0 by a tolerance; decimals are exact, 1.1 - 1 is 0.1."""

    def measure(case: Case) -> Result:
        expected = _expected_number(case.expected)
        output = number_of(case.output)
        difference = _EXACT.subtract(expected, output).copy_abs()
        arithmetic = {
            "output": float(output),
            "expected": float(expected),
            "difference": float(difference),
        }
        return scored(_credit(difference, expected, output, config), "", arithmetic)

    return each(measure, cases, config)


def number_of(value: Json) -> Decimal:
    """The exact number a JSON number or a text such as " -1.5e3 " stands for.

    Raises CaseProblem `not_a_number` or `number_too_long`.
    """
    text = value if isinstance(value, str) else text_of(value)
    written = text.strip()
    if isinstance(value, bool) or not _NUMBER.fullmatch(written):
        raise CaseProblem("not_a_number", f"{excerpt(text)} is not a number")
    if len(written) <= MAX_LENGTH:
        number = Decimal(written)
        if abs(number.adjusted()) <= MAX_EXPONENT and number.copy_abs() <= LARGEST:
            return number
    raise CaseProblem("number_too_long", f"{excerpt(text)} is too long a number")


def _expected_number(expected: Json) -> Decimal:
    try:
        return number_of(expected)
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
