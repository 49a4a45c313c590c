"""The scorer that compares two numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Final

from annotated_types import Ge

from scoring.core.config import About
from scoring.core.contract import Case, CaseProblem, Json, OutsideProblem, Result, scored
from scoring.core.json_text import text_of
from scoring.core.selection import ReferenceConfig, each, excerpt

_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
MAX_LENGTH: Final = 400  # characters of a written number
MAX_EXPONENT: Final = 300


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
        difference = abs(expected - output)
        arithmetic = {"output": float(output), "expected": float(expected)}
        arithmetic["difference"] = float(difference)
        return scored(_credit(expected, output, config), "", arithmetic)

    return each(measure, cases, config)


def number_of(value: Json) -> Fraction:
    """The exact number a JSON number or a text such as " -1.5e3 " stands for.

    Raises CaseProblem `not_a_number` or `number_too_long`.
    """
    text = value if isinstance(value, str) else text_of(value)
    if isinstance(value, bool) or not _NUMBER.fullmatch(text.strip()):
        raise CaseProblem("not_a_number", f"{excerpt(text)} is not a number")
    if len(text) > MAX_LENGTH or abs(Decimal(text.strip()).adjusted()) > MAX_EXPONENT:
        raise CaseProblem("number_too_long", f"{excerpt(text)} is too long a number")
    return Fraction(text.strip())


def _expected_number(expected: Json) -> Fraction:
    try:
        return number_of(expected)
    except CaseProblem as problem:
        raise OutsideProblem(f"expected_{problem.code}", f"expected: {problem.text}") from None


def _credit(expected: Fraction, output: Fraction, config: NumericConfig) -> float:
    difference = abs(expected - output)
    if config.tolerance is not None:
        allowed = Fraction(repr(config.tolerance))
        allowed *= abs(expected) if config.relative else 1
        return float(difference <= allowed)
    sizes = abs(expected) + abs(output)
    return float(1 - difference / sizes) if sizes else 1.0
