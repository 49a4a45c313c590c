"""A configured scorer: type, config and threshold together, and the verdict they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

from scoring.core.config import Config, config_mapping, read_config
from scoring.core.contract import EMPTY, Case, ConfigError, Json, Result, ServiceError, error
from scoring.core.json_text import to_text
from scoring.core.registry import SERVICE_FAMILIES, ScorerType, scorer_type
from scoring.core.services import AvailableServices

_SLACK = 1e-9  # float noise beyond 0 and 1 that rounding removes


def round_score(score: float, decimals: int) -> float:
    """The score rounded to so many decimals, a half upwards."""
    scale: int = 10**decimals
    return floor(score * scale + 0.5) / scale


@dataclass(frozen=True)
class ConfiguredScorer:
    """A scorer type with its config and the threshold that decides pass or fail."""

    type: ScorerType
    config: Config
    threshold: float

    @property
    def needs_services(self) -> bool:
        """Whether it asks for embeddings or replies of models."""
        if self.type.needs_services is not None:
            return self.type.needs_services(self.config)
        return self.type.family in SERVICE_FAMILIES

    @property
    def is_quick(self) -> bool:
        """Whether a case can be scored again while a page waits."""
        return self.type.is_quick is not None and self.type.is_quick(self.config)

    @property
    def warnings(self) -> list[str]:
        """What its config allows but probably does not mean."""
        return self.config.warnings()

    def score(self, cases: Sequence[Case]) -> list[Result]:
        """One result with a verdict per case, in order. Only ServiceError is ever raised."""
        live = [case for case in cases if not case.failure]
        results = iter(self._judge_all(self._score_batch(live)))
        return [
            error("no_output", f"no output: {case.failure[:200]}")
            if case.failure
            else next(results)
            for case in cases
        ]

    def _score_batch(self, cases: Sequence[Case]) -> list[Result]:
        try:
            results = self.type.score(cases, self.config)
        except ServiceError:
            raise
        except Exception:  # noqa: BLE001 - one case's bug must not sink the batch
            results = []
        if len(results) == len(cases):
            return results
        return [self._score_alone(case) for case in cases]

    def _score_alone(self, case: Case) -> Result:
        try:
            (result,) = self.type.score([case], self.config)
        except ServiceError:
            raise
        except Exception as fault:  # noqa: BLE001 - the fault becomes this case's result
            return error("scorer_failed", f"{type(fault).__name__}: {str(fault)[:200]}")
        return result

    def _judge_all(self, results: Sequence[Result]) -> list[Result]:
        """Judge each result object once: scorers return the same one for many cases."""
        by_identity = {id(result): result for result in results}
        judged = {key: self._judge(result) for key, result in by_identity.items()}
        return [judged[id(result)] for result in results]

    def _judge(self, result: Result) -> Result:
        score = result.score
        if score is None or result.verdict is not None:
            return result
        if not -_SLACK <= score <= 1 + _SLACK:  # also true of NaN
            return error("score_out_of_range", f"the score {score} is not between 0 and 1")
        if self.type.decimals is not None:
            score = round_score(score, self.type.decimals)
        return _with_verdict(score, result.reason, result.metadata, self.threshold)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its mapping, because custom types may hold functions."""
        return configure_scorer, (self.type.name, config_mapping(self.config), self.threshold)


def configure_scorer(
    type_name: str, config: Mapping[str, Json] = EMPTY, threshold: float | None = None
) -> ConfiguredScorer:
    """The scorer of that type and config.

    The threshold is the argument, else the config's `threshold` key, else the type's default.
    Raises ConfigError.
    """
    kind = scorer_type(type_name)
    if not isinstance(config, Mapping):
        raise ConfigError({"config": ["must be an object"]})
    settings = dict(config)
    own_threshold = settings.pop("threshold", None)
    if threshold is None:
        threshold = kind.default_threshold if own_threshold is None else own_threshold
    return ConfiguredScorer(kind, read_config(kind.config, settings), read_threshold(threshold))


def configure_child(type_name: str, config: Mapping[str, Json]) -> ConfiguredScorer:
    """A scorer inside a combination, with the default threshold of its type."""
    kind = scorer_type(type_name)
    return ConfiguredScorer(kind, read_config(kind.config, config), kind.default_threshold)


def resolve_defaults(scorer: ConfiguredScorer, available: AvailableServices) -> ConfiguredScorer:
    """The scorer with a value for all that its config leaves open. Raises ConfigError."""
    if scorer.type.resolve_defaults is None:
        return scorer
    return replace(scorer, config=scorer.type.resolve_defaults(scorer.config, available))


def read_threshold(value: Json) -> float:
    """A threshold from 0 to 1. Raises ConfigError."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= 1):
        raise ConfigError({"threshold": ["must be a number from 0 to 1"]})
    return float(value)


def apply_threshold(result: Result, threshold: float) -> Result:
    """A stored result under another threshold; forced fails, errors and skips do not change."""
    if result.score is None or result.code:
        return result
    is_fallback = result.reason.startswith(_below(result.score))
    reason = "" if is_fallback else result.reason
    return _with_verdict(result.score, reason, result.metadata, threshold)


def _with_verdict(
    score: float, reason: str, metadata: Mapping[str, Json], threshold: float
) -> Result:
    if score >= threshold:
        return Result("scored", score, "pass", reason, metadata)
    if not reason:
        reason = _below(score) + to_text(threshold)
    return Result("scored", score, "fail", reason, metadata)


def _below(score: float) -> str:
    return f"{to_text(score)} is below the threshold "
