"""A scorer ready to use: type, config and threshold together, and the verdict they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

from scoring.core.config import Config, as_mapping, read_config
from scoring.core.contract import EMPTY, Case, ConfigError, Json, Result, ServiceError, error
from scoring.core.json_text import text_of
from scoring.core.registry import ScorerType, needs_services, scorer_type
from scoring.core.services import Available

_SLACK = 1e-9  # float noise beyond 0 and 1 that rounding removes


@dataclass(frozen=True)
class BoundScorer:
    """A scorer type with its config and the threshold that decides pass or fail."""

    type: ScorerType
    config: Config
    threshold: float

    @property
    def needs_services(self) -> bool:
        """Whether it asks for embeddings or replies of models."""
        return needs_services(self.type, self.config)

    def score(self, cases: Sequence[Case]) -> list[Result]:
        """One judged result per case, in order. Only ServiceError is ever raised."""
        live = [case for case in cases if not case.failure]
        judged = self._judged_all(self._scored(live))
        if len(live) == len(cases):
            return judged
        results = iter(judged)
        return [_no_output(case) if case.failure else next(results) for case in cases]

    def _scored(self, cases: Sequence[Case]) -> list[Result]:
        try:
            results = self.type.score(cases, self.config)
        except ServiceError:
            raise
        except Exception:  # noqa: BLE001 - one case's bug must not sink the batch
            return [self._scored_alone(case) for case in cases]
        if len(results) != len(cases):
            return [self._scored_alone(case) for case in cases]
        return results

    def _scored_alone(self, case: Case) -> Result:
        try:
            (result,) = self.type.score([case], self.config)
        except ServiceError:
            raise
        except Exception as fault:  # noqa: BLE001 - the fault becomes this case's result
            return error("scorer_failed", f"{type(fault).__name__}: {str(fault)[:200]}")
        return result

    def _judged_all(self, results: Sequence[Result]) -> list[Result]:
        """Scorers give many cases the very same result object; each is judged once."""
        by_identity = {id(result): result for result in results}
        judged = {key: self._reported(result) for key, result in by_identity.items()}
        return [judged[id(result)] for result in results]

    def _reported(self, result: Result) -> Result:
        score = result.score
        if score is None or result.verdict is not None:
            return result
        if not -_SLACK <= score <= 1 + _SLACK:  # also true of NaN
            return error("score_out_of_range", f"the score {score} is not between 0 and 1")
        if self.type.decimals is not None:
            score = _half_up(score, self.type.decimals)
        return _judged(score, result.reason, result.metadata, self.threshold)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its mapping, because custom types may hold functions."""
        return bind, (self.type.name, as_mapping(self.config), self.threshold)


def bind(
    type_name: str, config: Mapping[str, Json] = EMPTY, threshold: float | None = None
) -> BoundScorer:
    """The scorer of that type and config.

    The threshold is the given one, else the config's `threshold` key, else the type's default.
    Raises ConfigError.
    """
    chosen = scorer_type(type_name)
    if not isinstance(config, Mapping):
        raise ConfigError({"config": ["must be an object"]})
    settings = dict(config)
    pasted = settings.pop("threshold", None)
    if threshold is None:
        threshold = chosen.default_threshold if pasted is None else pasted
    return BoundScorer(chosen, read_config(chosen.config, settings), read_threshold(threshold))


def bind_child(type_name: str, config: Mapping[str, Json]) -> BoundScorer:
    """A scorer inside a combination: its threshold is its type's own."""
    chosen = scorer_type(type_name)
    return BoundScorer(chosen, read_config(chosen.config, config), chosen.default_threshold)


def settled(scorer: BoundScorer, available: Available) -> BoundScorer:
    """The scorer with whatever its config leaves open chosen. Raises ConfigError."""
    if scorer.type.settle is None:
        return scorer
    return replace(scorer, config=scorer.type.settle(scorer.config, available))


def read_threshold(value: Json) -> float:
    """A threshold from 0 to 1. Raises ConfigError."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= 1):
        raise ConfigError({"threshold": ["must be a number from 0 to 1"]})
    return float(value)


def judge(result: Result, threshold: float) -> Result:
    """A stored result under another threshold; forced fails, errors and skips stay."""
    if result.score is None or result.code:
        return result
    is_fallback = result.reason.startswith(_below(result.score))
    reason = "" if is_fallback else result.reason
    return _judged(result.score, reason, result.metadata, threshold)


def _judged(score: float, reason: str, metadata: Mapping[str, Json], threshold: float) -> Result:
    if score >= threshold:
        return Result("scored", score, "pass", reason, metadata)
    if not reason:
        reason = _below(score) + text_of(threshold)
    return Result("scored", score, "fail", reason, metadata)


def _below(score: float) -> str:
    return f"{text_of(score)} is below the threshold "


def _half_up(score: float, decimals: int) -> float:
    scale: int = 10**decimals
    return floor(score * scale + 0.5) / scale


def _no_output(case: Case) -> Result:
    return error("no_output", f"no output: {case.failure[:200]}")
