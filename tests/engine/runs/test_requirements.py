"""Which services the scorers of a run call."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.runs.requirements import (
    needs_generation,
    queue_of,
    run_needs_services,
    scorer_families,
)
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


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kinds", "queue"),
    [
        (["exact_match"], "scoring"),
        (["exact_match", "factuality"], "judges"),
        (["reference_match", "exact_match"], "embeddings"),
        (["reference_match", "factuality"], "embeddings"),
    ],
)
def test_a_run_is_taken_by_workers_that_can_do_all_of_it(
    make_run: MakeRun, make_scorer: MakeScorer, kinds: list[str], queue: str
) -> None:
    configs: dict[str, dict[str, str]] = {"factuality": {"model": "m"}}
    run = make_run(["yes"], *(make_scorer(kind, **configs.get(kind, {})) for kind in kinds))
    assert queue_of(run) == queue


@pytest.mark.django_db
def test_a_run_that_makes_its_outputs_changes_its_queue(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes"], make_scorer("exact_match"))
    Generation.objects.create(output_set=run.output_set, model="m", template="{{ input }}")
    assert queue_of(run) == "judges"
    for number, kind in enumerate((AttemptKind.GENERATE, AttemptKind.SCORE), start=1):
        run.attempts.create(number=number, kind=kind)
    assert queue_of(run) == "scoring"
