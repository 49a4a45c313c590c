"""Which services the scorers of a run call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scoring.core.contract import ConfigError
from scoring.core.registry import scorer_type
from scoring.models import AttemptKind, Generation, Run, ScorerVersion, WorkQueue

SERVICES: Final = frozenset({"embedding", "llm"})  # families whose scorers call services


def scorer_families(type_name: str, config: Mapping[str, Any]) -> set[str]:
    """The families of a scorer and of all scorers inside it; a removed type has none."""
    try:
        family: str = scorer_type(type_name).family
    except ConfigError:
        return set()
    children = config.get("scorers") if family == "combinator" else None
    inner = (scorer_families(child["type"], child.get("config", {})) for child in children or ())
    return {family}.union(*inner)


def includes_expected(type_name: str, config: Mapping[str, Any]) -> bool:
    """Whether the scorer, or one inside it, looks for the expected text in the output."""
    if type_name == "includes":
        return not config.get("values")
    if "combinator" not in scorer_families(type_name, config):
        return False
    return any(
        includes_expected(each["type"], each.get("config", {})) for each in config["scorers"]
    )


def run_includes_expected(run: Run) -> bool:
    versions = (scorer.version for scorer in run.frozen_scorers)
    return any(includes_expected(version.type, version.config) for version in versions)


def run_families(run: Run) -> set[str]:
    """The families of all scorers of the run."""
    versions = (scorer.version for scorer in run.frozen_scorers)
    return set().union(*(scorer_families(version.type, version.config) for version in versions))


def needs_generation(run: Run) -> bool:
    """Whether the run will make outputs, or make some again, by calling a model."""
    if not Generation.objects.filter(output_set=run.output_set_id).exists():
        return False
    attempt = run.attempts.last()
    return attempt is None or attempt.kind != AttemptKind.SCORE


def calls_models(version: ScorerVersion) -> bool:
    """Whether the scorer calls a service."""
    return not SERVICES.isdisjoint(scorer_families(version.type, version.config))


def run_needs_services(run: Run) -> bool:
    """Whether any scorer of the run calls a service, or the run makes outputs with one."""
    return needs_generation(run) or not SERVICES.isdisjoint(run_families(run))


def queue_of(run: Run) -> WorkQueue:
    """The workers that may take the run now: whoever embeds for it asks its models, too."""
    families = run_families(run)
    if "embedding" in families:
        return WorkQueue.EMBEDDINGS
    asks_models = "llm" in families or needs_generation(run)
    return WorkQueue.JUDGES if asks_models else WorkQueue.SCORING
