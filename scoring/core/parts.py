"""What the parts of a combination scored, also where its row had no room to keep all of it."""

from __future__ import annotations

from typing import Final

from scoring.core.bound import BoundScorer
from scoring.core.contract import Case, Json, Result
from scoring.core.pattern import compile_pattern
from scoring.core.scorers.combine import CombineConfig
from scoring.core.scorers.json_tree import JsonSimilarityConfig
from scoring.core.scorers.text import RegexConfig

MAX_CHARS: Final = 20_000  # of output and expected text up to which parts are scored again

#: Types that answer at once, always the same, and ask nobody.
_QUICK: Final = frozenset(
    {
        *("exact_match", "includes", "regex", "levenshtein", "numeric", "expression"),
        *("json_match", "json_schema", "json_similarity"),
    }
)


def completed(scorer: BoundScorer, case: Case, result: Result) -> Result:
    """A stored result with every part of its combination.

    Parts that are lacking are scored again, unless one of them is slow, asks a model or is a
    custom one. What comes out differently from what was stored is left as that is.
    """
    config = scorer.config
    if not isinstance(config, CombineConfig) or _is_whole(config, result):
        return result
    again = _again(scorer, case, result)
    return result._replace(metadata=again.metadata) if again else result


def retold(scorer: BoundScorer, case: Case, result: Result) -> Result:
    """What a part of a combination scored, with how, where its row kept the score alone.

    Under the same conditions: a part beside one that asked a model is told as well.
    """
    if isinstance(scorer.config, CombineConfig) or result.metadata or result.reason:
        return result
    return _again(scorer, case, result) or result


def _again(scorer: BoundScorer, case: Case, result: Result) -> Result | None:
    """The same result with all that led to it; None where it would differ or take long."""
    if not (_is_quick(scorer) and _is_short(case.output) and _is_short(case.expected)):
        return None
    (again,) = scorer.score([case])
    is_same = (again.status, again.score, again.code) == (result.status, result.score, result.code)
    return again if is_same else None


def _is_whole(config: CombineConfig, result: Result) -> bool:
    kept = result.metadata.get("children", ())
    return len(kept) == len(config.children) and not result.metadata.get("trimmed")


def _is_quick(scorer: BoundScorer) -> bool:
    config = scorer.config
    if isinstance(config, CombineConfig):
        return all(_is_quick(child.scorer) for child in config.children)
    if isinstance(config, RegexConfig):
        return compile_pattern(config.pattern, config.flags).linear is not None
    if isinstance(config, JsonSimilarityConfig):
        return config.array_mode == "index"
    return scorer.type.name in _QUICK


def _is_short(value: Json) -> bool:
    """Of any other value no more than that is read for a page."""
    return not isinstance(value, str) or len(value) <= MAX_CHARS
