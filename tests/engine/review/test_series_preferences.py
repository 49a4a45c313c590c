"""Preferences between several series: each pair either way round, and an order from three on."""

from __future__ import annotations

import pytest

from scoring.core.stats.bradley_terry import Unranked
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.engine.review.series_preferences import compare_series, has_open_pairs
from scoring.models import Output, Preference, PreferenceVerdict, QueueOrder, Run, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db
BETTER, SAME, WORSE = PreferenceVerdict.BETTER, PreferenceVerdict.SAME, PreferenceVerdict.WORSE
CASES = 24

Runs = dict[str, Run]


@pytest.fixture
def runs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Runs:
    """Runs of four series over the same cases, and a second one of the first series."""
    version = make_dataset([{"input": f"q{n}", "expected": "x"} for n in range(CASES)])
    return {
        name: finished_run(
            make_outputs(version, [f"{name} {n}" for n in range(CASES)], name[0]), name=name
        )
        for name in ("a", "b", "c", "d", "a2")
    }


def prefer(run: Run, baseline: Run, wins: int, person: User, count: int = CASES) -> None:
    """The first outputs of the run win, one is a tie, and the others lose."""
    outputs = [
        list(Output.objects.filter(output_set=each.output_set).order_by("case__position"))
        for each in (run, baseline)
    ]
    for number, pair in enumerate(list(zip(*outputs, strict=True))[:count]):
        verdict = BETTER if number < wins else SAME if number == wins else WORSE
        Preference.objects.prefer(run, pair, verdict, by=person)


def test_pairs_count_both_directions_and_every_run_of_a_series(runs: Runs, rita: User) -> None:
    dataset = runs["a"].output_set.version.dataset
    assert compare_series(dataset).series == []
    prefer(runs["a"], runs["b"], 15, rita)
    prefer(runs["b"], runs["a2"], 3, rita, count=5)
    prefer(runs["a"], runs["a2"], 9, rita)
    found = compare_series(dataset)
    assert found.series == ["a", "b"]
    assert not found.has_ranking
    (pair,) = found.pairs
    assert pair.is_met
    assert pair.counts == (15 + 1, 1 + 1, 8 + 3, CASES + 5)


def test_three_series_are_ranked_and_what_never_met_is_said(runs: Runs, rita: User) -> None:
    dataset = runs["a"].output_set.version.dataset
    prefer(runs["a"], runs["b"], 15, rita)
    prefer(runs["b"], runs["c"], 14, rita)
    prefer(runs["c"], runs["d"], 3, rita, count=4)
    found = compare_series(dataset)
    assert found.has_ranking
    ranking = found.ranking
    assert [each.name for each in ranking] == ["a", "b", "c", "d"]
    assert [each.unranked for each in ranking] == [None, None, None, Unranked.TOO_FEW]
    never = [(pair.first, pair.second) for pair in found.pairs if not pair.is_met]
    assert never == [("a", "c"), ("a", "d"), ("b", "d")]


def test_whoever_has_pairs_to_compare_is_found(runs: Runs, rita: User, alice: User) -> None:
    dataset = runs["a"].output_set.version.dataset
    plan = QueuePlan("pairs", [rita], 3, QueueOrder.RANDOM, baseline=runs["b"])
    create_queue(runs["a"], plan, alice)
    assert has_open_pairs(rita, dataset)
    assert not has_open_pairs(alice, dataset)
