"""The scorer whose rule is a CEL expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final

from scoring.core.config import About
from scoring.core.contract import (
    Case,
    CaseProblem,
    ConfigError,
    Json,
    OutsideProblem,
    Result,
    scored,
)
from scoring.core.json_text import to_text, unmark_json
from scoring.core.registry import Derivation, Example, ScorerType, StoredResult
from scoring.core.scorers.cel.functions import EvaluationError
from scoring.core.scorers.cel.lexer import SyntaxProblemError
from scoring.core.scorers.cel.parser import Program, compile_expression
from scoring.core.scorers.js_pattern import posix_warnings
from scoring.core.scorers.selection import (
    TAKES_PARTS,
    TargetConfig,
    output_json,
    score_each,
    select_expected,
)

VARIABLES: Final = ("input", "output", "output_json", "expected", "references", "metadata")


@dataclass(frozen=True, kw_only=True)
class ExpressionConfig(TargetConfig):
    expression: Annotated[
        str,
        About(
            "Expression",
            "CEL over `input`, `output` (its text), `output_json`, `expected`, `references` (texts)"
            " and `metadata`, with lower, words, matches, similarity, json, size, contains. true is"
            " 1, false is 0, a number is the score.",
            "long text",
        ),
    ]

    def reads_expected(self) -> bool:
        return True

    def check(self) -> None:
        super().check()
        _program(self.expression)

    def warnings(self) -> list[str]:
        return [*super().warnings(), *posix_warnings(self.expression)]


def expression(cases: Sequence[Case], config: ExpressionConfig) -> list[Result]:
    """The value of the expression: true is 1.0, false 0.0, a number from 0 to 1 itself."""
    program = _program(config.expression)

    def evaluate(case: Case) -> Result:
        try:
            return scored(_score(program.evaluate(_Variables(case, config))))
        except EvaluationError as fault:
            raise OutsideProblem("expression_failed", str(fault)) from None

    return score_each(evaluate, cases, config)


def explain_expression(stored: StoredResult) -> Derivation:
    return Derivation([f"value of {stored.config.expression}"])


class _Variables(dict[str, Any]):
    """The variables of a case; JSON is parsed only where it is used."""

    def __init__(self, case: Case, config: ExpressionConfig) -> None:
        expected = unmark_json(case.expected)
        super().__init__(input=case.input, expected=expected, metadata=dict(case.metadata))
        self.case, self.config = case, config

    def __missing__(self, name: str) -> Json:
        if name == "references":
            self[name] = list(_references(self.case.references, self.config))
            return self[name]
        output = self.case.output
        self[name] = (
            to_text(unmark_json(output))
            if name == "output"
            else output_json(output, may_extract=False)
        )
        return self[name]


def _references(texts: Sequence[str], config: ExpressionConfig) -> Iterator[Json]:
    """The references, or what the target key selects of them; objects without it are left out."""
    for text in texts:
        try:
            yield unmark_json(select_expected(text, config))
        except CaseProblem:
            continue


def _score(value: Json) -> float:
    if isinstance(value, bool):
        return float(value)
    if not isinstance(value, int | float):
        kind = "null" if value is None else type(value).__name__
        raise OutsideProblem("not_a_score", f"the expression gives {kind}, not a number or boolean")
    if not 0 <= value <= 1:
        raise OutsideProblem("score_out_of_range", f"{to_text(value)} is not between 0 and 1")
    return float(value)


@lru_cache(maxsize=256)
def _program(source: str) -> Program:
    try:
        return compile_expression(source, VARIABLES)
    except SyntaxProblemError as refused:
        raise ConfigError({"expression": [str(refused)]}) from None


SCORER_TYPES: Final = (
    ScorerType(
        name="expression",
        label="Expression",
        summary="The result of a short CEL expression over the case.",
        use_when="A rule of your own fits into one line.",
        config=ExpressionConfig,
        score=expression,
        default_threshold=0.5,
        explain=explain_expression,
        is_quick=lambda _: True,
        semantics=(
            "A CEL expression over `input`, `output`, `output_json`, `expected`, `references` "
            "and `metadata`. true is 1, false is 0, a number is the score itself; one outside "
            "0 to 1 is an error.",
            "Beside CEL's own functions there are lower, words, matches, similarity and json.",
            TAKES_PARTS,
        ),
        examples=(
            Example(
                {"expression": "size(output) > 10 ? 1.0 : 0.5"},
                Case("0123456789"),
                0.5,
                "The length of the output.",
            ),
            Example(
                {
                    "expression": 'size(["paris", "france", "capital"].filter(word,'
                    " lower(output).contains(word))) / 3"
                },
                Case("Paris is the capital."),
                0.666666667,
                "The share of keywords found.",
            ),
            Example(
                {"expression": "references.exists(answer, output.contains(answer))"},
                Case("It ended in 1918.", references=("11 November", "1918")),
                1.0,
                "One of the references is in the output.",
            ),
            Example({"expression": "2"}, Case(""), None, "Not a score.", "score_out_of_range"),
        ),
    ),
)
