"""Which services the scorers of a run call."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.runs.requirements import needs_generation, run_needs_services, scorer_families
from scoring.models import AttemptKind, Generation
from tests.support.fixtures.runs import MakeRun, MakeScorer

EXACT = {"type": "exact_match"}
JUDGE = {"type": "factuality", "config": {"model": "m"}}


@pytest.mark.parametrize(
    ("type_name", "config", "found"),
    [
        ("exact_match", {}, {"deterministic"}),
        ("all", {"scorers": [EXACT, JUDGE]}, {"combinator", "deterministic", "llm"}),
        (
            "all",
            {"scorers": [{"type": "any", "config": {"scorers": [JUDGE]}}]},
            {"combinator", "llm"},
        ),
        ("no_such_type", {}, set()),
        ("exact_match", {"scorers": [JUDGE]}, {"deterministic"}),
    ],
)
def test_families_are_those_of_inner_scorers_too(
    type_name: str, config: dict[str, Any], found: set[str]
) -> None:
    assert scorer_families(type_name, config) == found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kinds", "is_needed"),
    [
        ([], True),
        ([AttemptKind.GENERATE], True),
        ([AttemptKind.GENERATE, AttemptKind.SCORE], False),
        ([AttemptKind.GENERATE, AttemptKind.SCORE, AttemptKind.RETRY], True),
    ],
)
def test_outputs_are_made_before_they_are_scored_and_in_a_retry(
    make_run: MakeRun, make_scorer: MakeScorer, kinds: list[AttemptKind], is_needed: bool
) -> None:
    run = make_run(["yes"], make_scorer("exact_match"))
    assert not run_needs_services(run)
    Generation.objects.create(output_set=run.output_set, model="m", template="{{ input }}")
    for number, kind in enumerate(kinds, start=1):
        run.attempts.create(number=number, kind=kind)
    assert needs_generation(run) == run_needs_services(run) == is_needed
