"""Suggested scorers of a dataset, chosen by its cases and newest outputs, and the suite of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Coalesce, Length

from scoring.core.contract import Case as ScoredCase
from scoring.core.suggested_scorers import SuggestedScorers, suggest_scorers
from scoring.engine.runs.execution import cases_of_outputs
from scoring.models import (
    Case,
    Dataset,
    Output,
    OutputSet,
    OutputSetState,
    Scorer,
    Suite,
    Team,
    User,
)

SAMPLE_SIZE: Final = 100  # outputs, or cases without any
MAX_IDS: Final = 2_000  # of which they are drawn
MAX_CHARS: Final = 20_000  # of a case's texts together, else it is left out


class CaseSample(NamedTuple):
    """Cases of a dataset's latest version with outputs of its newest set, else with none ("")."""

    cases: Sequence[ScoredCase]
    outputs: OutputSet | None = None

    @property
    def suggested(self) -> SuggestedScorers:
        return suggest_scorers(self.cases)


def sample_cases(dataset: Dataset) -> CaseSample:
    """The sample by which scorers are suggested, the same as long as there is no newer set."""
    if dataset.latest is None:
        return CaseSample(())
    ready = OutputSet.objects.filter(version=dataset.latest, state=OutputSetState.READY)
    newest = ready.order_by("-pk").first()
    if newest is not None and (drawn := _draw_outputs(newest)):
        return CaseSample(cases_of_outputs(drawn), newest)
    rows = dataset.latest.cases.annotate(chars=_chars("")).filter(chars__lte=MAX_CHARS)
    return CaseSample([_without_output(case) for case in rows[:SAMPLE_SIZE]])


def create_suggested_suite(dataset: Dataset, by: User | None = None) -> Suite:
    """A suite that suits the dataset's cases; it becomes the dataset's own unless it has one.

    The team's suite of that name is used where there is one, so a second call creates none.
    """
    with transaction.atomic():
        team = Team.objects.lock(dataset.team)
        chosen = sample_cases(dataset).suggested
        suite = Suite.objects.filter(team=team, name=chosen.suite).first()
        if suite is None:
            suite = Suite.objects.define(team, chosen.suite, _scorers(team, chosen, by), by)
        if dataset.suite is None:
            suite.assign_to(dataset, by=by)
    return suite


def _draw_outputs(outputs: OutputSet) -> list[int]:
    """Outputs that hold a text and are short, in a random order that stays the same."""
    rows = Output.objects.filter(output_set=outputs).exclude(text=None).order_by("pk")
    ids = list(rows.values_list("pk", flat=True)[:MAX_IDS])
    generator = random.Random(outputs.pk)  # noqa: S311  a sample, not a secret
    drawn = generator.sample(ids, min(SAMPLE_SIZE, len(ids)))
    chars: Any = Coalesce(Length("text"), 0) + _chars("case__")
    short = rows.filter(pk__in=drawn).annotate(chars=chars).filter(chars__lte=MAX_CHARS)
    return sorted(short.values_list("pk", flat=True))


def _chars(to_case: str) -> Any:
    """The length of a case's texts; `to_case` leads to the case."""
    names = ("input_json", "expected_json", "references_json")
    return sum((Coalesce(Length(f"{to_case}{name}"), 0) for name in names), Value(0))


def _without_output(case: Case) -> ScoredCase:
    return ScoredCase("", case.expected, references=tuple(case.references))


def _scorers(
    team: Team, chosen: SuggestedScorers, by: User | None
) -> Iterable[tuple[Scorer, float | None]]:
    """Those that need no model, with default thresholds; those the team has by name are used."""
    names = [scorer.name for scorer in chosen.computed]
    known = {scorer.name: scorer for scorer in Scorer.objects.filter(team=team, name__in=names)}
    for name, kind, config, *_ in chosen.computed:
        yield known.get(name) or Scorer.objects.define(team, name, kind, config, by=by), None
