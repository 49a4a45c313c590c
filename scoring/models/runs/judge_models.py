"""The models that answered the judges of a run, inside combinations too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Replace

from scoring.models.runs.run import Run, RunScorer

ELLIPSIS = "…"  # ends a name that had no room in a score's metadata


class JudgePlace(NamedTuple):
    """A judge of a run: the scorer it belongs to, and where that one's metadata speak of it."""

    name: str
    scorer: RunScorer
    path: tuple[str, ...]


def judge_models(run: Run) -> dict[str, set[str]]:
    """The models that answered each judge, as its scores tell; of an only judge, paid calls too."""
    scorers = run.scorers.select_related("version")
    judges = [judge for scorer in scorers for judge in _judges_in(scorer)]
    answered = {judge.name: _models_of_scores(judge) for judge in judges}
    if len(judges) == 1:
        calls = run.model_calls.filter(purpose="judge", cache_key__isnull=False)
        answered[judges[0].name].update(calls.values_list("model", flat=True).distinct())
    return answered


def collect_models(scorer: RunScorer) -> list[str]:
    """The models that answered the judges of one scorer of a run, in order."""
    return sorted(set[str]().union(*map(_models_of_scores, _judges_in(scorer))))


def _judges_in(scorer: RunScorer) -> Iterator[JudgePlace]:
    for names, path in _metadata_paths(scorer.version.config):
        yield JudgePlace(" in ".join([*reversed(names), scorer.name]), scorer, path)


def _metadata_paths(
    config: Mapping[str, Any],
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Of each judge in a config: the names of the parts down to it, and its metadata's path."""
    if config.get("model"):
        yield (), ()
    for index, part in enumerate(config.get("scorers") or ()):
        name = part.get("name") or part["type"]
        for names, path in _metadata_paths(part.get("config") or {}):
            yield (name, *names), ("children", str(index), "metadata", *path)


def _models_of_scores(judge: JudgePlace) -> set[str]:
    # Older rows may quote NUL, with which PostgreSQL reads no JSON at all.
    text = Replace("metadata_json", Value(r"\u0000"), Value(r"\ufffd"))
    metadata: Any = Cast(text, models.JSONField())
    for step in judge.path:
        metadata = KeyTransform(step, metadata)
    rows = judge.scorer.scores.order_by().values_list(KeyTextTransform("model", metadata))
    models_named = {str(name) for (name,) in rows.distinct() if name}
    return {name for name in models_named if not _is_cut_from_another(name, models_named)}


def _is_cut_from_another(name: str, others: set[str]) -> bool:
    """Whether a cut name stands for one of the others."""
    start = name.removesuffix(ELLIPSIS)
    return start != name and any(other.startswith(start) for other in others - {name})
