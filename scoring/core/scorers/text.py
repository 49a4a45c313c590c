"""Scorers that compare texts: exact_match, includes, regex, levenshtein."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal

from annotated_types import Ge, Le

from scoring.core.config import About
from scoring.core.contract import Case, ConfigError, Result, scored
from scoring.core.json_text import text_of
from scoring.core.pattern import compile_pattern
from scoring.core.selection import (
    EXCERPT_LENGTH,
    NegatableConfig,
    ReferenceConfig,
    TargetConfig,
    each,
    excerpt,
    expected_text,
    negated,
)

# One object for many cases: the caller judges it once.
FOUND: Final = scored(1.0)
DIFFERENT: Final = scored(0.0, "the output differs from the expected text")
NOT_INCLUDED: Final = scored(0.0, "the output does not include the expected text")

CaseSensitive = Annotated[
    bool, About("Case-sensitive", "Off: both texts are lower-cased before they are compared.")
]


@dataclass(frozen=True, kw_only=True)
class ExactMatchConfig(ReferenceConfig, NegatableConfig):
    case_sensitive: CaseSensitive = True
    trim: Annotated[
        bool, About("Trim", "Ignore white space at the start and the end of both texts.")
    ] = False
    classes: Annotated[
        tuple[str, ...],
        About(
            "Classes",
            "Labels for the confusion matrix, precision, recall and F1 of a run. They do not"
            " change the score.",
        ),
    ] = ()


def exact_match(cases: Sequence[Case], config: ExactMatchConfig) -> list[Result]:
    """1.0 when both texts are equal."""

    def compare(case: Case) -> Result:
        output, expected = text_of(case.output), expected_text(case.expected)
        if not config.case_sensitive:
            output, expected = output.lower(), expected.lower()
        if config.trim:
            output, expected = output.strip(), expected.strip()
        if output == expected:
            return FOUND
        if len(output) + len(expected) > EXCERPT_LENGTH:
            return DIFFERENT
        return scored(0.0, f"expected {excerpt(expected)}, got {excerpt(output)}")

    return negated(each(compare, cases, config), config)


@dataclass(frozen=True, kw_only=True)
class IncludesConfig(ReferenceConfig, NegatableConfig):
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
    """1.0 when the wanted text, or all or any of `values`, is inside the output."""

    def search(case: Case) -> Result:
        output = text_of(case.output)
        wanted = config.values or (expected_text(case.expected),)
        if config.case_sensitive:
            missing = [value for value in wanted if value not in output]
        else:
            output = output.lower()
            missing = [value for value in wanted if value.lower() not in output]
        if not missing or (config.mode == "any" and len(missing) < len(wanted)):
            return FOUND
        if not config.values:
            return NOT_INCLUDED
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return scored(0.0, f"the output does not include {excerpt(missing[0])}{more}")

    return negated(each(search, cases, config), config)


@dataclass(frozen=True, kw_only=True)
class RegexConfig(TargetConfig, NegatableConfig):
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


def regex(cases: Sequence[Case], config: RegexConfig) -> list[Result]:
    """1.0 when the pattern is found anywhere in the output."""
    pattern = compile_pattern(config.pattern, config.flags)
    not_found = scored(0.0, f"no match for {excerpt(config.pattern)}")

    def search(case: Case) -> Result:
        return FOUND if pattern.is_in(text_of(case.output)) else not_found

    return negated(each(search, cases, config), config)


@dataclass(frozen=True, kw_only=True)
class LevenshteinConfig(ReferenceConfig):
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
            output, expected = text_of(output), expected_text(expected)
        if not keeps_case:
            output, expected = output.lower(), expected.lower()
        longest = max(len(output), len(expected))
        if longest <= limit:
            return _similarity(measure(output, expected), longest, False, decimals)
        return _similarity(measure(output[:limit], expected[:limit]), limit, True, decimals)

    return each(compare, cases, config)


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
