"""The selection of what is compared: target keys, default and missing expected values, `negate`.

Every scorer type but the combinators passes its cases through here, so the rules for missing and
unreadable values are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Annotated, ClassVar, Final

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
from scoring.core.json_path import NO_VALUE, find_key
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
from scoring.core.scorers.extraction import Extraction, describe_json_inside, read_extraction

WHOLE: Final = "*"
#: What a result says of the texts that were extracted, beside the arithmetic.
EXTRACTED: Final = "extracted"
EXTRACTED_EXPECTED: Final = "extracted_expected"
EXTRACTION_FACTS: Final = (EXTRACTED, EXTRACTED_EXPECTED)
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
EXTRACTS: Final = (
    "`extract` compares only what is found in the output: `last_number` (separators between "
    "thousands are read), what follows the last of a marker (`after`), what the first group of a "
    "`pattern` captures in its first match, the first whole `json` object or list in prose or a "
    "fenced block, or the value at a `path`. Nothing found is 0 and fails whatever the threshold, "
    "with the code `nothing_extracted`. A target key selects from the JSON that is found; anything "
    "else is looked for in what the key selects."
)
EXTRACTS_EXPECTED: Final = (
    "`extract_expected` does the same to the expected value and each reference; one in which "
    "nothing is found cannot be used."
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

    @property
    def extraction(self) -> Extraction | None:
        """How the answer is found inside the output; None where all of it counts."""
        return None

    @property
    def expected_extraction(self) -> Extraction | None:
        """As `extraction`, of the expected value."""
        return None

    @property
    def is_whole(self) -> bool:
        """Whether output and expected value are compared as they are."""
        parts = (self.extraction, self.expected_extraction)
        return self.target_output_key == WHOLE and parts == (None, None)

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
class ExtractingConfig(TargetConfig):
    """A config of a scorer that can find the answer inside a text."""

    extract: Annotated[
        Json,
        About(
            "Extract",
            "Compare only what is found in the output: its last number, what follows a marker, what"
            " a pattern captures, the first JSON object or list, or the value at a path.",
            "extraction",
        ),
    ] = None

    @property
    def extraction(self) -> Extraction | None:
        return read_extraction("extract", self.extract)

    def check(self) -> None:
        super().check()
        read_extraction("extract", self.extract)


@dataclass(frozen=True, kw_only=True)
class ReferenceConfig(ExtractingConfig):
    """A config of a scorer that compares the output with an expected value."""

    default_expected: Annotated[
        Json,
        About(
            "Default expected value",
            "Used for the cases that have none. Without it such a case fails.",
            "value",
        ),
    ] = None
    extract_expected: Annotated[
        Json,
        About(
            "Extract expected",
            "The same for the expected value and each reference.",
            "extraction",
        ),
    ] = None

    @property
    def expected_extraction(self) -> Extraction | None:
        return read_extraction("extract_expected", self.extract_expected)

    def check(self) -> None:
        super().check()
        read_extraction("extract_expected", self.extract_expected)

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
    is_whole, needs_expected = config.is_whole, config.needs_expected()
    results: list[Result] = []
    for case in cases:
        try:
            if is_whole and (case.expected is not None or not needs_expected):
                results.append(score(case))  # the usual case, kept short
            else:
                results.append(score_target(score, select_target(case, config), config))
        except CaseProblem as problem:
            results.append(problem_result(problem))
    return results


def score_target(
    score: Callable[[Case], Result], target: Case | Result, config: TargetConfig
) -> Result:
    """The result of what was selected, with what was extracted in its metadata."""
    if isinstance(target, Result):
        return target
    try:
        result = score(target)
    except CaseProblem as problem:
        result = problem_result(problem)
    return note_extracted(result, target, config)


def note_extracted(result: Result, target: Case, config: TargetConfig) -> Result:
    """The result with the short texts that were extracted in its metadata."""
    sides = (
        (config.extraction, EXTRACTED, target.output),
        (config.expected_extraction, EXTRACTED_EXPECTED, target.expected),
    )
    notes = {
        name: _excerpt(value)
        for extraction, name, value in sides
        if extraction is not None and value is not None
    }
    return result._replace(metadata={**result.metadata, **notes}) if notes else result


def _excerpt(value: Json) -> str:
    try:
        return shorten(to_text(value))
    except CaseProblem:  # nested too deeply to be written; the result says so
        return "…"


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
    expected = case.expected
    if expected is None and isinstance(config, ReferenceConfig):
        expected = config.default_expected
    if expected is None and config.needs_expected():
        return forced_fail("expected_missing", "no expected output")
    if config.is_whole:
        return case if expected is case.expected else case._replace(expected=expected)
    try:
        if config.reads_expected():
            expected = extract_expected(select_expected(expected, config), config)
        output = select_output(case.output, config)
    except CaseProblem as problem:
        return problem_result(problem)
    if expected is None and config.needs_expected():
        return forced_fail("expected_missing", "no expected output")
    return case._replace(output=output, expected=expected)


def select_searched(output: Json, config: TargetConfig) -> Json:
    """The part of an output in which the config's extraction looks. Raises CaseProblem."""
    if config.target_output_key == WHOLE or (config.extraction and config.extraction.is_json):
        return output
    value = output_json(output)
    return _select_keys(value, config.target_output_key, partial=config.keeps_partial)


def explain_extraction(config: TargetConfig, result: Result) -> Iterator[str]:
    """What a result says of the texts that were extracted, in sentences."""
    sides = (
        (config.extraction, EXTRACTED, "output"),
        (config.expected_extraction, EXTRACTED_EXPECTED, "expected"),
    )
    for extraction, name, side in sides:
        if extraction is not None and name in result.metadata:
            key = config.target_output_key if extraction.is_json else WHOLE
            at = "" if key == WHOLE else f", at {key if isinstance(key, str) else ', '.join(key)}"
            found = quote_excerpt(str(result.metadata[name]))
            yield f"{side}: {extraction.label}{at}: {found}"


def _negate(result: Result) -> Result:
    if result.score is None or result.code:
        return result
    reason = "the opposite is wanted (negate)" if result.score == 1.0 else ""
    return scored(1.0 - result.score, reason, result.metadata)


def output_json(
    output: Json, *, or_text: bool = False, exact: bool = False, may_extract: bool = True
) -> Json:
    """The JSON value of an output given as text or as JSON. Raises CaseProblem.

    With `or_text` a text that is not JSON is a string. With `exact` floats are Decimals. The
    problem says of a text that holds JSON how to read it, unless nothing `may_extract` it.
    """
    try:
        return _json_value(output, or_text, exact)
    except CaseProblem as problem:
        text = f"output is not valid JSON: {problem.text}"
        if may_extract and problem.code == "invalid_json":
            where = describe_json_inside(output)
            text += f"; {where} holds JSON: extract it?" if where else ""
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


def shorten(text: str) -> str:
    """A text short enough for a reason."""
    return text if len(text) <= EXCERPT_LENGTH else text[: EXCERPT_LENGTH - 1] + "…"


def quote_excerpt(text: str) -> str:
    """A text short enough for a reason, quoted, line ends escaped."""
    return encode_basestring(shorten(text))


def select_output(output: Json, config: TargetConfig) -> Json:
    """The part of an output that is compared. Raises CaseProblem.

    The JSON found inside a text is what a target key selects from; anything else is looked for in
    what the key selects. Where the config `keeps_partial`, those of several keys that are not there
    are left out.
    """
    key, extraction = config.target_output_key, config.extraction
    if extraction is not None and extraction.is_json:
        output = _extract(output, extraction, "output")
    if key != WHOLE:
        may_extract = isinstance(config, ExtractingConfig)
        value = output_json(output, may_extract=may_extract)
        output = _select_keys(value, key, partial=config.keeps_partial)
    if extraction is not None and not extraction.is_json:
        output = _extract(output, extraction, "output")
    return output


def select_expected(expected: Json, config: TargetConfig) -> Json:
    """The part of an expected value that a target key names; all of one that is no object.

    As `select_output`, but what is extracted from the part is left to `extract_expected`. Raises
    OutsideProblem.
    """
    key, extraction = config.target_output_key, config.expected_extraction
    if extraction is not None and extraction.is_json:
        expected = _extract_expected(expected, extraction)
    if key == WHOLE:
        return expected
    value = expected_json(expected, or_text=True)
    if not isinstance(value, dict):
        is_plain_text = isinstance(expected, str) and value == expected
        return JsonText(expected) if is_plain_text else expected
    if isinstance(key, str):
        return _as_json(_part_of_expected(value, key))
    return {name: _part_of_expected(value, name) for name in key}


def extract_expected(expected: Json, config: TargetConfig) -> Json:
    """What is extracted from the selected part of an expected value. Raises OutsideProblem."""
    extraction = config.expected_extraction
    if extraction is None or extraction.is_json or expected is None:
        return expected
    return _extract_expected(expected, extraction)


def _extract(value: Json, extraction: Extraction, side: str) -> Json:
    found = extraction.find(value)
    if found is None:
        raise CaseProblem("nothing_extracted", f"{side} has nothing to extract: {extraction.label}")
    return found.value


def _extract_expected(expected: Json, extraction: Extraction) -> Json:
    try:
        return _extract(expected, extraction, "expected")
    except CaseProblem as problem:
        raise OutsideProblem(f"expected_{problem.code}", problem.text) from None


def _select_keys(value: Json, key: str | tuple[str, ...], *, partial: bool) -> Json:
    if isinstance(key, str):
        return _as_json(_part_of_output(value, key))
    if partial:
        return {name: part for name in key if (part := find_key(value, name)) is not NO_VALUE}
    return {name: _part_of_output(value, name) for name in key}


def _part_of_output(output: Json, key: str) -> Json:
    if (part := find_key(output, key)) is NO_VALUE:
        raise CaseProblem("target_not_in_output", f"the output has nothing at {quote_excerpt(key)}")
    return part


def _part_of_expected(expected: Json, key: str) -> Json:
    if (part := find_key(expected, key)) is NO_VALUE:
        text = f"the expected value has nothing at {quote_excerpt(key)}"
        raise OutsideProblem("target_not_in_expected", text)
    return part


def _as_json(value: Json) -> Json:
    return JsonText(value) if isinstance(value, str) else value
