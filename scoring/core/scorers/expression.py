"""The scorer whose rule is an expression that people write in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final

from scoring.core.cel.program import Program, read
from scoring.core.cel.syntax import SyntaxProblemError
from scoring.core.cel.values import EvaluationError
from scoring.core.config import About
from scoring.core.contract import Case, ConfigError, Json, OutsideProblem, Result, scored
from scoring.core.json_text import text_of
from scoring.core.selection import TargetConfig, each, output_json, plain

VARIABLES: Final = ("input", "output", "output_json", "expected", "metadata")


@dataclass(frozen=True, kw_only=True)
class ExpressionConfig(TargetConfig):
    expression: Annotated[
        str,
        About(
            "Expression",
            "CEL over `input`, `output` (its text), `output_json`, `expected` and `metadata`, with"
            " lower, words, matches, similarity, json, size, contains. true is 1, false is 0, a"
            " number is the score.",
            "long text",
        ),
    ]

    def reads_expected(self) -> bool:
        return True

    def check(self) -> None:
        super().check()
        _program(self.expression)


def expression(cases: Sequence[Case], config: ExpressionConfig) -> list[Result]:
    """The value of the expression: true is 1.0, false 0.0, a number from 0 to 1 itself."""
    program = _program(config.expression)

    def evaluate(case: Case) -> Result:
        try:
            return scored(_score(program.evaluate(_Variables(case))))
        except EvaluationError as fault:
            raise OutsideProblem("expression_failed", str(fault)) from None

    return each(evaluate, cases, config)


class _Variables(dict[str, Any]):
    """The variables of a case; the JSON of the output is read only when it is asked for."""

    def __init__(self, case: Case) -> None:
        expected = plain(case.expected)
        super().__init__(input=case.input, expected=expected, metadata=dict(case.metadata))
        self.case = case

    def __missing__(self, name: str) -> Json:
        output = self.case.output
        self[name] = text_of(plain(output)) if name == "output" else output_json(output)
        return self[name]


def _score(value: Json) -> float:
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, int | float):
        kind = "null" if value is None else type(value).__name__
        raise OutsideProblem("not_a_score", f"the expression gives {kind}, not a number or boolean")
    if not 0 <= value <= 1:
        raise OutsideProblem("score_out_of_range", f"{text_of(value)} is not between 0 and 1")
    return float(value)


@lru_cache(maxsize=256)
def _program(source: str) -> Program:
    try:
        return read(source, VARIABLES)
    except SyntaxProblemError as refused:
        raise ConfigError({"expression": [str(refused)]}) from None
