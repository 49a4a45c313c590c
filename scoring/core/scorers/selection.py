"""The selection of what is compared: target keys, default and missing expected values, `negate`.

Every scorer type but the combinators passes its cases through here, so the rules for missing and
unreadable values are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Annotated, Any, ClassVar, Final

from scoring.core.config import About, Config
from scoring.core.contract import (
    Case,
    CaseProblem,
    ConfigError,
    Json,
    OutsideProblem,
    Result,
    error,
    forced_fail,
    scored,
)
from scoring.core.json_path import parse_path
from scoring.core.json_text import (
    JsonText,
    check_value,
    parse,
    parse_exact,
    to_exact,
    to_text,
    unmark_json,
)
from scoring.core.registry import StoredResult

WHOLE: Final = "*"
EXCERPT_LENGTH: Final = 80

# Sentences of a help page that several types share.
NEEDS_EXPECTED: Final = (
    "A case without an expected value takes `default_expected`; without that too it fails "
    "whatever the threshold, with the code `expected_missing`. An empty text is a value, "
    "not a missing one."
)
TAKES_PARTS: Final = (
    "`target_output_key` compares a part of a JSON output: a key, a path such as "
    "`result.items[0].name`, or several keys."
)
READS_JSON: Final = "An output that is not valid JSON scores 0 and fails whatever the threshold."
NEGATES: Final = "`negate` turns the score round; results that fail whatever the threshold stay."


@dataclass(frozen=True, kw_only=True)
class TargetConfig(Config):
    """A config of a scorer that can look at a part of a JSON output."""

    target_output_key: Annotated[
        str | tuple[str, ...],
        About(
            "Target output key",
            "`*` compares the whole output. A key or a path such as `result.items[0].name`"
            " compares that part of a JSON output; several keys compare an object of them.",
            "keys",
        ),
    ] = WHOLE

    keeps_partial: ClassVar[bool] = False  # of several keys, those missing in the output may be

    def needs_expected(self) -> bool:
        """Whether a case without expected value fails."""
        return False

    def reads_expected(self) -> bool:
        """Whether a target key selects from the expected value too."""
        return self.needs_expected()

    def check(self) -> None:
        if not self.target_output_key:
            raise ConfigError({"target_output_key": ["name at least one key, or * for all"]})


@dataclass(frozen=True, kw_only=True)
class ReferenceConfig(TargetConfig):
    """A config of a scorer that compares the output with an expected value."""

    default_expected: Annotated[
        Json,
        About(
            "Default expected value",
            "Used for the cases that have none. Without it such a case fails.",
            "value",
        ),
    ] = None

    def needs_expected(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class NegatableConfig(Config):
    """A config of a scorer whose answer can be turned round."""

    negate: Annotated[
        bool, About("Negate", "Score 1 minus the score. Missing or unreadable values still fail.")
    ] = False


def score_each(
    score: Callable[[Case], Result], cases: Sequence[Case], config: TargetConfig
) -> list[Result]:
    """Score every case after selecting what to compare.

    `score` may raise CaseProblem: a forced fail, or an error when it is an OutsideProblem.
    """
    is_whole = config.target_output_key == WHOLE
    needs_expected = config.needs_expected()
    results: list[Result] = []
    for case in cases:
        try:
            if is_whole and (case.expected is not None or not needs_expected):
                results.append(score(case))  # the usual case, kept short
            else:
                target = select_target(case, config)
                results.append(target if isinstance(target, Result) else score(target))
        except CaseProblem as problem:
            results.append(problem_result(problem))
    return results


def apply_negate(results: list[Result], config: NegatableConfig) -> list[Result]:
    """The opposite scores if the config negates; problems do not change."""
    return [_negate(result) for result in results] if config.negate else results


def is_met(stored: StoredResult) -> bool:
    """Whether what the scorer looks for is there, before `negate`."""
    return (stored.result.score == 1.0) != getattr(stored.config, "negate", False)


def problem_result(problem: CaseProblem) -> Result:
    """A forced fail for a fault in the output, an error for any other."""
    to_result = error if isinstance(problem, OutsideProblem) else forced_fail
    return to_result(problem.code, problem.text)


def select_target(case: Case, config: TargetConfig) -> Case | Result:
    """The case with only the values to compare, or the result that is already decided."""
    key = config.target_output_key
    expected = case.expected
    if expected is None and isinstance(config, ReferenceConfig):
        expected = config.default_expected
    if expected is None and config.needs_expected():
        return forced_fail("expected_missing", "no expected output")
    if key == WHOLE:
        return case if expected is case.expected else case._replace(expected=expected)
    try:
        if config.reads_expected():
            expected = select_expected(expected, key)
        output = select_output(case.output, key, partial=config.keeps_partial)
    except CaseProblem as problem:
        return problem_result(problem)
    if expected is None and config.needs_expected():
        return forced_fail("expected_missing", "no expected output")
    return case._replace(output=output, expected=expected)


def _negate(result: Result) -> Result:
    if result.score is None or result.code:
        return result
    reason = "the opposite is wanted (negate)" if result.score == 1.0 else ""
    return scored(1.0 - result.score, reason, result.metadata)


def output_json(output: Json, *, or_text: bool = False, exact: bool = False) -> Json:
    """The JSON value of an output given as text or as JSON. Raises CaseProblem.

    With `or_text` a text that is not JSON is a string. With `exact` floats are Decimals.
    """
    try:
        return _json_value(output, or_text, exact)
    except CaseProblem as problem:
        text = f"output is not valid JSON: {problem.text}"
        raise CaseProblem(problem.code, text) from None


def expected_json(expected: Json, *, or_text: bool = False, exact: bool = False) -> Json:
    """As `output_json`, but raises OutsideProblem, its code starting with `expected_`."""
    try:
        return _json_value(expected, or_text, exact)
    except CaseProblem as problem:
        text = f"expected is not valid JSON: {problem.text}"
        raise OutsideProblem(f"expected_{problem.code}", text) from None


def _json_value(value: Json, or_text: bool, exact: bool) -> Json:
    if isinstance(value, JsonText) or not isinstance(value, str):
        check_value(value)
        plain = unmark_json(value)
        return to_exact(plain) if exact else plain
    try:
        return parse_exact(value) if exact else parse(value)
    except CaseProblem as problem:
        if or_text and problem.code == "invalid_json":
            return value
        raise


def expected_text(expected: Json) -> str:
    """The text of an expected value."""
    try:
        return to_text(expected)
    except CaseProblem as problem:
        code, text = f"expected_{problem.code}", f"expected has no text: {problem.text}"
        raise OutsideProblem(code, text) from None


def quote_excerpt(text: str) -> str:
    """A text short enough for a reason, quoted, line ends escaped."""
    cut = text if len(text) <= EXCERPT_LENGTH else text[: EXCERPT_LENGTH - 1] + "…"
    return encode_basestring(cut)


def select_output(output: Json, key: str | tuple[str, ...], *, partial: bool) -> Json:
    """The part of an output that a target key names. Raises CaseProblem.

    With `partial`, those of several keys that are not there are left out.
    """
    value = output_json(output)
    if isinstance(key, str):
        return _as_json(_part_of_output(value, key))
    if partial:
        return {name: part for name in key if (part := _find(value, name)) is not _ABSENT}
    return {name: _part_of_output(value, name) for name in key}


def select_expected(expected: Json, key: str | tuple[str, ...]) -> Json:
    """The part of an expected value that a target key names; all of one that is no object.

    Raises OutsideProblem.
    """
    value = expected_json(expected, or_text=True)
    if not isinstance(value, dict):
        is_plain_text = isinstance(expected, str) and value == expected
        return JsonText(expected) if is_plain_text else expected
    if isinstance(key, str):
        return _as_json(_part_of_expected(value, key))
    return {name: _part_of_expected(value, name) for name in key}


_ABSENT: Final[Any] = object()  # a key that is not there, unlike one that holds null


def _part_of_output(output: Json, key: str) -> Json:
    if (part := _find(output, key)) is _ABSENT:
        raise CaseProblem("target_not_in_output", f"the output has nothing at {quote_excerpt(key)}")
    return part


def _part_of_expected(expected: Json, key: str) -> Json:
    if (part := _find(expected, key)) is _ABSENT:
        text = f"the expected value has nothing at {quote_excerpt(key)}"
        raise OutsideProblem("target_not_in_expected", text)
    return part


def _find(value: Json, key: str) -> Json:
    """The value at a literal key, else at a path; `_ABSENT` when neither is there."""
    if isinstance(value, dict) and key in value:
        return value[key]
    try:
        steps = parse_path(key)
    except ValueError:
        return _ABSENT
    for step in steps:
        if isinstance(step, int):
            is_there = isinstance(value, list) and step < len(value)
        else:
            is_there = isinstance(value, dict) and step in value
        if not is_there:
            return _ABSENT
        value = value[step]
    return value


def _as_json(value: Json) -> Json:
    return JsonText(value) if isinstance(value, str) else value
