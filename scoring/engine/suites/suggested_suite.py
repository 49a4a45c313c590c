"""Suggested scorers, chosen by what the cases of a dataset expect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db import transaction

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_text import parse
from scoring.core.scorers.numeric import read_number
from scoring.models import Dataset, Scorer, Suite, Team, User

CASES_EXAMINED: Final = 200  # cases


class SuggestedScorers(NamedTuple):
    """A suggested suite: its name, and its scorers by name with type and config."""

    suite: str
    scorers: Mapping[str, tuple[str, Mapping[str, Any]]]


NO_ANSWERS: Final = SuggestedScorers(
    "starter without answers", {"says something": ("regex", {"pattern": r"\S"})}
)
TEXTS: Final = SuggestedScorers(
    "starter for texts",
    {
        "exact match": ("exact_match", {"case_sensitive": False, "trim": True}),
        "close enough": ("levenshtein", {}),
    },
)
NUMBERS: Final = SuggestedScorers(
    "starter for numbers",
    {"same number": ("numeric", {"tolerance": 0}), "close number": ("numeric", {})},
)
JSON: Final = SuggestedScorers(
    "starter for JSON", {"same JSON": ("json_match", {}), "fields right": ("json_similarity", {})}
)


def create_suggested_suite(dataset: Dataset, by: User | None = None) -> Suite:
    """A suite that suits the dataset's cases; it becomes the dataset's own unless it has one.

    The team's suite of that name is used where there is one, so a second call creates none.
    """
    with transaction.atomic():
        team = Team.objects.select_for_update().get(pk=dataset.team_id)
        chosen = suggest_scorers(_expected_values(dataset))
        suite = Suite.objects.filter(team=team, name=chosen.suite).first()
        if suite is None:
            suite = Suite.objects.define(team, chosen.suite, _scorers(team, chosen, by), by)
        if dataset.suite is None:
            suite.assign_to(dataset, by=by)
    return suite


def suggest_scorers(expected: Sequence[Json]) -> SuggestedScorers:
    """What to score with where these values are expected; a mixture is compared as text."""
    if not expected:
        return NO_ANSWERS
    if all(map(_is_structure, expected)):
        return JSON
    return NUMBERS if all(map(_is_number, expected)) else TEXTS


def _expected_values(dataset: Dataset) -> list[Json]:
    if dataset.latest is None:
        return []
    cases = dataset.latest.cases.filter(expected_json__isnull=False)
    return [case.expected for case in cases[:CASES_EXAMINED]]


def _scorers(
    team: Team, chosen: SuggestedScorers, by: User | None
) -> Iterable[tuple[Scorer, float | None]]:
    """The chosen scorers with their default thresholds; those the team has by name are used."""
    scorers = Scorer.objects.filter(team=team, name__in=chosen.scorers)
    known = {scorer.name: scorer for scorer in scorers}
    for name, (kind, config) in chosen.scorers.items():
        yield known.get(name) or Scorer.objects.define(team, name, kind, config, by=by), None


def _is_structure(value: Json) -> bool:
    if not isinstance(value, str):
        return isinstance(value, dict | list)
    try:
        return isinstance(parse(value), dict | list)
    except CaseProblem:
        return False


def _is_number(value: Json) -> bool:
    try:
        read_number(value)
    except CaseProblem:
        return False
    return True
