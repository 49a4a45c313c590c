"""Scorers that compare texts: exact_match, includes, regex, levenshtein."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal

from annotated_types import Ge, Le

from scoring.core.config import About
from scoring.core.contract import Case, ConfigError, Result, scored
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
from scoring.core.scorers.js_pattern import posix_warnings
from scoring.core.scorers.pattern import compile_pattern
from scoring.core.scorers.selection import (
    EXCERPT_LENGTH,
    EXTRACTS,
    EXTRACTS_EXPECTED,
    NEGATES,
    TAKES_PARTS,
    ExtractingConfig,
    NegatableConfig,
    apply_negate,
    expected_text,
    is_met,
    quote_excerpt,
    score_each,
    select_target,
)
from scoring.core.wording.numbers import MINUS

MAX_EXPLAINED_VALUES: Final = 100

# Shared by many cases, so that the caller compares it with the threshold once.
FOUND: Final = scored(1.0)
DIFFERENT: Final = scored(0.0, "the output differs from the expected text")
NOT_INCLUDED: Final = scored(0.0, "the output does not include the expected text")
NONE_EQUAL: Final = "the output equals none of {} right answers"
NONE_INCLUDED: Final = "the output includes none of {} right answers"

CaseSensitive = Annotated[
    bool, About("Case-sensitive", "Off: both texts are lower-cased before they are compared.")
]


@dataclass(frozen=True, kw_only=True)
class ExactMatchConfig(AnswersConfig, NegatableConfig):
    case_sensitive: CaseSensitive = True
    trim: Annotated[
        bool, About("Trim", "Ignore white space at the start and the end of both texts.")
    ] = False
    classes: Annotated[
        tuple[str, ...],
        About(
            "Classes",
            "Labels for the confusion matrix, precision, recall and F1 of a run, which count the"
            " expected value alone. They do not change the score.",
        ),
    ] = ()


def exact_match(cases: Sequence[Case], config: ExactMatchConfig) -> list[Result]:
    """1.0 when both texts are equal."""

    def compare(case: Case) -> Result:
        output, expected = to_text(case.output), expected_text(case.expected)
        if not config.case_sensitive:
            output, expected = output.lower(), expected.lower()
        if config.trim:
            output, expected = output.strip(), expected.strip()
        if output == expected:
            return FOUND
        if len(output) + len(expected) > EXCERPT_LENGTH:
            return DIFFERENT
        return scored(0.0, f"expected {quote_excerpt(expected)}, got {quote_excerpt(output)}")

    def first_equal(output: str, texts: Sequence[str]) -> int | None:
        return texts.index(output) if output in texts else None

    is_plain = config.case_sensitive and not config.trim
    first_met = first_equal if is_plain else None
    return apply_negate(score_best(compare, cases, config, NONE_EQUAL, first_met), config)


def explain_exact_match(stored: StoredResult) -> Derivation:
    how = [] if stored.config.case_sensitive else ["both texts in lower case"]
    how += ["white space at both ends ignored"] if stored.config.trim else []
    return Derivation([*how, "the texts are equal" if is_met(stored) else "the texts differ"])


@dataclass(frozen=True, kw_only=True)
class IncludesConfig(AnswersConfig, NegatableConfig):
    case_sensitive: CaseSensitive = True
    values: Annotated[
        tuple[str, ...],
        About("Values", "Texts to look for. Empty: the expected value of each case."),
    ] = ()
    mode: Annotated[
        Literal["all", "any"], About("Mode", "Whether all values must be there or any of them.")
    ] = "all"

    def needs_expected(self) -> bool:
        return not self.values

    def check(self) -> None:
        super().check()
        if "" in self.values:
            raise ConfigError({"values": ["an empty text is inside every output; remove it"]})


def includes(cases: Sequence[Case], config: IncludesConfig) -> list[Result]:
    """1.0 when the expected text, or all or any of `values`, is inside the output."""

    def search(case: Case) -> Result:
        output = _fold(to_text(case.output), config)
        wanted = config.values or (expected_text(case.expected),)
        missing = [value for value in wanted if _fold(value, config) not in output]
        if not missing or (config.mode == "any" and len(missing) < len(wanted)):
            return FOUND
        if not config.values:
            return NOT_INCLUDED
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return scored(0.0, f"the output does not include {quote_excerpt(missing[0])}{more}")

    def first_included(output: str, texts: Sequence[str]) -> int | None:
        folded = _fold(output, config)
        found = (i for i, text in enumerate(texts) if _fold(text, config) in folded)
        return next(found, None)

    return apply_negate(score_best(search, cases, config, NONE_INCLUDED, first_included), config)


def explain_includes(stored: StoredResult) -> Derivation | None:
    config = stored.config
    chosen = select_target(stored.case, config)
    if isinstance(chosen, Result):
        return None
    wanted = config.values or (to_text(chosen.expected),)
    output = _fold(to_text(chosen.output), config)
    is_included = [_fold(value, config) in output for value in wanted]
    findings = [
        f"{quote_excerpt(value)} {'found' if included else 'not found'}"
        for value, included in zip(wanted[:MAX_EXPLAINED_VALUES], is_included, strict=False)
    ]
    if len(wanted) > 1:
        findings.append(f"{sum(is_included)} of {len(wanted)} found, {config.mode} wanted")
    if not config.case_sensitive:
        findings.append("upper and lower case alike")
    return Derivation(findings)


def _fold(text: str, config: IncludesConfig) -> str:
    return text if config.case_sensitive else text.lower()


@dataclass(frozen=True, kw_only=True)
class RegexConfig(ExtractingConfig, NegatableConfig):
    pattern: Annotated[
        str,
        About(
            "Pattern",
            "A JavaScript regular expression, found anywhere in the output; `/yes|no/i` works too.",
        ),
    ]
    flags: Annotated[
        str,
        About(
            "Flags",
            "Some of `imsugy`: i ignores case, m lets ^ and $ match at lines, s lets . match line"
            " ends, y matches at the start only; u and g change nothing.",
        ),
    ] = ""

    def check(self) -> None:
        super().check()
        compile_pattern(self.pattern, self.flags)

    def warnings(self) -> list[str]:
        return [*super().warnings(), *posix_warnings(self.pattern)]


def regex(cases: Sequence[Case], config: RegexConfig) -> list[Result]:
    """1.0 when the pattern is found anywhere in the output."""
    pattern = compile_pattern(config.pattern, config.flags)
    not_found = scored(0.0, f"no match for {quote_excerpt(config.pattern)}")

    def search(case: Case) -> Result:
        return FOUND if pattern.is_in(to_text(case.output)) else not_found

    return apply_negate(score_each(search, cases, config), config)


def explain_regex(stored: StoredResult) -> Derivation:
    flags = f" with flags {stored.config.flags}" if stored.config.flags else ""
    found = "found" if is_met(stored) else "not found"
    return Derivation([f"pattern {stored.config.pattern}{flags}: {found}"])


def _is_linear(config: RegexConfig) -> bool:
    return compile_pattern(config.pattern, config.flags).linear is not None


@dataclass(frozen=True, kw_only=True)
class LevenshteinConfig(AnswersConfig):
    case_sensitive: CaseSensitive = False
    decimals: Annotated[
        int | None,
        Ge(0),
        Le(9),
        About("Decimals", "The score is rounded half up to so many decimals. Empty: unrounded."),
    ] = 2
    max_chars: Annotated[
        int,
        Ge(1),
        Le(100_000),
        About("Longest text", "Each text is cut at so many characters before comparing."),
    ] = 10_000


def levenshtein(cases: Sequence[Case], config: LevenshteinConfig) -> list[Result]:
    """1 - distance / longer length, in code points. Source: 2Signal's evaluator.

    Lower-casing comes before cutting, as there: it may lengthen a text.
    """
    from rapidfuzz.distance import Levenshtein

    measure = Levenshtein.distance
    limit, decimals, keeps_case = config.max_chars, config.decimals, config.case_sensitive

    def compare(case: Case) -> Result:
        output, expected = case.output, case.expected
        if not (isinstance(output, str) and isinstance(expected, str)):
            output, expected = to_text(output), expected_text(expected)
        if not keeps_case:
            output, expected = output.lower(), expected.lower()
        longest = max(len(output), len(expected))
        if longest <= limit:
            return _similarity(measure(output, expected), longest, False, decimals)
        return _similarity(measure(output[:limit], expected[:limit]), limit, True, decimals)

    return score_best(compare, cases, config)


@lru_cache(maxsize=20_000)
def _similarity(distance: int, longest: int, truncated: bool, decimals: int | None) -> Result:
    """The result of one distance, shared by all cases that have it."""
    score = _half_up(longest - distance, longest, decimals) if longest else 1.0
    arithmetic = {"distance": distance, "max_length": longest, "truncated": truncated}
    return scored(score, "", arithmetic)


def _half_up(part: int, whole: int, decimals: int | None) -> float:
    """The fraction rounded half up, exactly; None leaves it unrounded."""
    if decimals is None:
        return part / whole
    scale: int = 10**decimals
    return (2 * part * scale + whole) // (2 * whole) / scale


def explain_levenshtein(stored: StoredResult) -> Derivation | None:
    config, facts = stored.config, stored.facts
    findings = [] if config.case_sensitive else ["both texts in lower case"]
    if facts.get("truncated"):
        findings.append(f"each text cut at {config.max_chars:,} characters")
    if "distance" not in facts:
        return None
    distance, longest = facts["distance"], facts["max_length"]
    if not longest:
        return Derivation([*findings, "both texts are empty"])
    edits = "1 edit" if distance == 1 else f"{distance:,} edits"
    findings.append(f"{edits}, longer text {longest:,} character{'s' * (longest > 1)}")
    if config.decimals is not None and (longest - distance) * 10**config.decimals % longest:
        findings.append(f"rounded half up to {config.decimals} decimals")
    return Derivation(findings, f"1 {MINUS} {distance} / {longest}")


SCORER_TYPES: Final = (
    ScorerType(
        name="exact_match",
        label="Exact match",
        summary="1.0 when the output's text equals the expected text, else 0.0.",
        use_when="The output is one of a few labels, or has to be the very text; not for prose.",
        config=ExactMatchConfig,
        score=exact_match,
        default_threshold=1.0,
        expected_as="text",
        explain=explain_exact_match,
        is_quick=lambda _: True,
        semantics=(
            "Both values are compared by their text: a number by its shortest decimal "
            "form, an object or a list as compact JSON with sorted keys. So the text 4 "
            "equals the number 4.",
            "With `classes` the run's page has a confusion matrix with precision, recall and F1.",
            BEST_ANSWER,
            LISTS_ANSWERS,
            LEAVES_OUT,
            NEEDS_ANSWER,
            TAKES_PARTS,
            EXTRACTS,
            EXTRACTS_EXPECTED,
            NEGATES,
        ),
        examples=(
            Example({}, Case("Paris", "Paris"), 1.0, "The texts are the same."),
            Example({}, Case("paris", "Paris"), 0.0, "Case matters unless you turn that off."),
            Example(
                {"trim": True}, Case("Paris\n", "Paris"), 1.0, "White space at the ends is cut."
            ),
            Example({}, Case("4", 4), 1.0, "A number is compared by its text."),
            Example(
                {},
                Case("NYC", "New York", references=("New York City", "NYC")),
                1.0,
                "The second reference is right too.",
            ),
            Example(
                {}, Case("NYC", ["New York", "NYC"]), 1.0, "Two right answers in a list of texts."
            ),
            Example(
                {"use_references": False},
                Case("NYC", "New York", references=("NYC",)),
                0.0,
                "The expected value alone.",
            ),
        ),
    ),
    ScorerType(
        name="includes",
        label="Includes",
        summary="1.0 when the expected text, or a list of values, is inside the output.",
        use_when="A short right answer may be anywhere in a sentence: a name, a date.",
        config=IncludesConfig,
        score=includes,
        default_threshold=1.0,
        expected_as="text",
        explain=explain_includes,
        is_quick=lambda _: True,
        semantics=(
            "The expected text has to be somewhere in the output; upper and lower case "
            "differ unless `case_sensitive` is off.",
            "`values` replace the expected value: all of them must be there, or with `mode` any, "
            "one.",
            BEST_ANSWER,
            LISTS_ANSWERS,
            LEAVES_OUT,
            NEEDS_ANSWER,
            TAKES_PARTS,
            EXTRACTS,
            EXTRACTS_EXPECTED,
            NEGATES,
        ),
        examples=(
            Example({}, Case("It is Paris.", "Paris"), 1.0, "The expected text is inside."),
            Example(
                {"case_sensitive": False},
                Case("It ended in November 1918.", "11 November 1918", references=("1918",)),
                1.0,
                "Not the expected text, but a reference is inside.",
            ),
            Example(
                {"negate": True},
                Case("Ask our support.", ["ask support", "our support"]),
                0.0,
                "One of two unwanted texts is inside; negated, the best score is turned round.",
            ),
            Example(
                {"values": ["refund", "30 days"]},
                Case("A refund is possible."),
                0.0,
                "All values must be there.",
            ),
            Example(
                {"values": ["refund", "30 days"], "mode": "any"},
                Case("A refund is possible."),
                1.0,
                "One of them is enough.",
            ),
        ),
    ),
    ScorerType(
        name="regex",
        label="Regular expression",
        summary="1.0 when a JavaScript pattern is found anywhere in the output.",
        use_when="The output has to have a form, or must not hold something, whatever is expected.",
        config=RegexConfig,
        score=regex,
        default_threshold=1.0,
        expected_as="verbatim",
        explain=explain_regex,
        is_quick=_is_linear,
        semantics=(
            "The pattern is searched anywhere in the output, with JavaScript's meaning of "
            "the flags; a literal such as `/yes|no/i` may be pasted.",
            "Most patterns run in linear time. Those with look-around or back-references "
            "run on a second engine for at most a second, and then are an error with the "
            "code `pattern_timeout`.",
            TAKES_PARTS,
            EXTRACTS,
            NEGATES,
        ),
        examples=(
            Example({"pattern": r"^\d{4}-\d\d-\d\d$"}, Case("2026-01-31"), 1.0, "A date."),
            Example({"pattern": "/yes|no/i"}, Case("Yes!"), 1.0, "Flags after the slash."),
            Example(
                {"pattern": "sorry", "negate": True},
                Case("I am sorry."),
                0.0,
                "The word is unwanted.",
            ),
        ),
    ),
    ScorerType(
        name="levenshtein",
        label="Levenshtein similarity",
        summary="1 - edit distance / longer length: how much of the text is the same.",
        use_when="The spelling counts: texts that are copied, transcribed or corrected.",
        config=LevenshteinConfig,
        score=levenshtein,
        default_threshold=0.7,
        expected_as="text",
        decimals=None,  # it rounds exactly, as its config says
        explain=explain_levenshtein,
        is_quick=lambda _: True,
        semantics=(
            "The score is 1 - distance / longer length, counted in Unicode code points. "
            "Two empty texts score 1.",
            "Texts are lower-cased unless `case_sensitive` is on, cut at `max_chars`, and "
            "the score is rounded half up to `decimals` from the exact fraction, before "
            "it meets the threshold.",
            BEST_ANSWER,
            LISTS_ANSWERS,
            LEAVES_OUT,
            NEEDS_ANSWER,
            TAKES_PARTS,
            EXTRACTS,
            EXTRACTS_EXPECTED,
        ),
        examples=(
            Example(
                {"case_sensitive": True},
                Case("hello world", "Hello World"),
                0.82,
                "Two of eleven characters differ.",
            ),
            Example(
                {}, Case("customer service", "customer support"), 0.63, "0.625 is rounded half up."
            ),
            Example({}, Case("helo", "hello"), 0.8, "One of five characters is missing."),
            Example(
                {},
                Case("helo there", "hello", references=("hi", "hello there")),
                0.91,
                "The reference that is closest: one of eleven characters is missing.",
            ),
        ),
    ),
)
