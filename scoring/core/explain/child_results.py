"""The results of a combination's parts, also where its row has no room to store them."""

from __future__ import annotations

from typing import Final

from scoring.core.configured import ConfiguredScorer
from scoring.core.contract import Case, Json, Result
from scoring.core.scorers.answers import ANSWER_FACTS
from scoring.core.scorers.combinations import CombineConfig

MAX_CHARS: Final = 20_000  # of output and expected text up to which parts are scored again


def complete_child_results(scorer: ConfiguredScorer, case: Case, result: Result) -> Result:
    """A stored result with every part of its combination.

    Missing parts are scored again, unless one of them is slow, calls a model or is a custom one.
    The stored result stays as it is where scoring it again gives another.
    """
    config = scorer.config
    if not isinstance(config, CombineConfig):
        return result
    stored = result.metadata.get("children", ())
    if len(stored) == len(config.children) and not result.metadata.get("trimmed"):
        return result
    again = _score_again(scorer, case, result)
    return result._replace(metadata=again.metadata) if again else result


def complete_child_result(scorer: ConfiguredScorer, case: Case, result: Result) -> Result:
    """The result of a part with reason and metadata, where its row stored the score alone.

    Under the same conditions, for each part by itself.
    """
    if isinstance(scorer.config, CombineConfig) or result.metadata.keys() - ANSWER_FACTS:
        return result
    if result.reason:
        return result
    return _score_again(scorer, case, result) or result


def _score_again(scorer: ConfiguredScorer, case: Case, result: Result) -> Result | None:
    """The same result with all that led to it; None where it would differ or take long."""
    if not (scorer.is_quick and _is_short(case.output) and _is_short(case.expected)):
        return None
    if not _is_short("".join(case.references)):
        return None
    (again,) = scorer.score([case])
    is_same = (again.status, again.score, again.code) == (result.status, result.score, result.code)
    return again if is_same else None


def _is_short(value: Json) -> bool:
    """A page never reads more of a value that is not a text."""
    return not isinstance(value, str) or len(value) <= MAX_CHARS
