"""Scorers that compare texts: exact_match, includes, regex, levenshtein."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import Ge, Le

from scoring.core.config import About
from scoring.core.contract import Case, ConfigError, Result, scored
from scoring.core.json_text import text_of
from scoring.core.pattern import compile_pattern
from scoring.core.selection import (
    NegatableConfig,
    ReferenceConfig,
    TargetConfig,
    excerpt,
    expected_text,
    one_by_one,
)

FOUND: Final = scored(1.0)

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


@one_by_one
def exact_match(case: Case, config: ExactMatchConfig) -> Result:
    """1.0 when both texts are equal."""
    output, expected = text_of(case.output), expected_text(case.expected)
    if output == expected:
        return FOUND
    if not config.case_sensitive:
        output, expected = output.lower(), expected.lower()
    if config.trim:
        output, expected = output.strip(), expected.strip()
    if output == expected:
        return FOUND
    return scored(0.0, f"expected {excerpt(expected)}, got {excerpt(output)}")


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


@one_by_one
def includes(case: Case, config: IncludesConfig) -> Result:
    """1.0 when the wanted text, or all or any of `values`, is inside the output."""
    output = text_of(case.output)
    wanted = config.values or (expected_text(case.expected),)
    if config.case_sensitive:
        missing = [value for value in wanted if value not in output]
    else:
        output = output.lower()
        missing = [value for value in wanted if value.lower() not in output]
    if not missing or (config.mode == "any" and len(missing) < len(wanted)):
        return FOUND
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return scored(0.0, f"the output does not include {excerpt(missing[0])}{more}")


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


@one_by_one
def regex(case: Case, config: RegexConfig) -> Result:
    """1.0 when the pattern is found anywhere in the output."""
    is_found = compile_pattern(config.pattern, config.flags).is_in(text_of(case.output))
    return FOUND if is_found else scored(0.0, f"no match for {excerpt(config.pattern)}")


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


@one_by_one
def levenshtein(case: Case, config: LevenshteinConfig) -> Result:
    """1 - distance / longer length, in code points. Source: 2Signal's evaluator.

    Lower-casing comes before cutting, as there: it may lengthen a text.
    """
    from rapidfuzz.distance import Levenshtein

    output, expected = text_of(case.output), expected_text(case.expected)
    if not config.case_sensitive:
        output, expected = output.lower(), expected.lower()
    longest = max(len(output), len(expected))
    if truncated := longest > config.max_chars:
        longest = config.max_chars
        output, expected = output[:longest], expected[:longest]
    distance = Levenshtein.distance(output, expected)
    score = _half_up(longest - distance, longest, config.decimals) if longest else 1.0
    arithmetic = {"distance": distance, "max_length": longest, "truncated": truncated}
    return scored(score, "", arithmetic)


def _half_up(part: int, whole: int, decimals: int | None) -> float:
    """The fraction rounded half up, exactly; None leaves it unrounded."""
    if decimals is None:
        return part / whole
    scale: int = 10**decimals
    return (2 * part * scale + whole) // (2 * whole) / scale
