"""What a run's scorers need: whom they ask, and so where and in which portions they score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scoring.core.contract import ConfigError
from scoring.core.registry import scorer_type
from scoring.models import AttemptKind, Generation, Run, ScorerVersion

SERVICES: Final = frozenset({"embedding", "llm"})  # families whose scorers ask `services`


def families(type_name: str, config: Mapping[str, Any]) -> set[str]:
    """The families of a scorer and of all scorers inside it; a type that is gone has none."""
    try:
        found: set[str] = {scorer_type(type_name).family}
    except ConfigError:
        return set()
    children = config.get("scorers") if "combinator" in found else None
    for child in children or ():
        found |= families(child["type"], child.get("config", {}))
    return found


def families_of(run: Run) -> set[str]:
    """Those of all scorers of the run."""
    versions = ScorerVersion.objects.filter(run_scorers__run=run)
    return set().union(*(families(version.type, version.config) for version in versions))


def makes_outputs(run: Run) -> bool:
    """Whether outputs of the run are to be made, or made again, by calling a model."""
    if not Generation.objects.filter(output_set=run.output_set_id).exists():
        return False
    attempt = run.attempts.last()
    return attempt is None or attempt.kind != AttemptKind.SCORE


def asks(version: ScorerVersion) -> bool:
    """Whether this scorer asks services."""
    return not SERVICES.isdisjoint(families(version.type, version.config))


def needs_services(run: Run) -> bool:
    """Whether any scorer of the run asks services, or the run makes outputs with them."""
    return makes_outputs(run) or not SERVICES.isdisjoint(families_of(run))
