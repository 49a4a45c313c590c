"""What generating is said to cost before it does, against what it then costs."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.llm.endpoint import Endpoint, Price
from scoring.core.services import CallFailure
from scoring.engine.estimates import generation_estimate
from scoring.engine.estimates.generation_estimate import estimate_generation
from scoring.engine.estimates.scoring_estimate import ASSUMED_TOKENS_OUT
from scoring.engine.outputs.generation import OutputRecipe
from scoring.models import DatasetVersion, Generation, ModelCall, OutputSet, Team
from tests.conftest import MakeDataset
from tests.engine.judge_doubles import Model, model
from tests.support.fixtures.runs import MakeScorer

__all__ = ["model"]

pytestmark = pytest.mark.django_db


def recipe(**told: Any) -> OutputRecipe:
    return OutputRecipe(**{"model": "m", "template": "Answer {{ input }}", **told})


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"input": f"question {n}", "expected": "yes"} for n in range(10, 20)])


def test_every_case_and_trial_is_a_call(version: DatasetVersion, model: Model) -> None:
    outputs = estimate_generation(version, recipe(trials=3, system="four")).outputs
    assert (outputs.calls, outputs.cached, outputs.is_exact) == (30, 0, True)
    # "four" and "Answer question 10" are 22 bytes, six tokens of four
    assert outputs.tokens_in == 30 * 6
    assert outputs.tokens_out == 30 * ASSUMED_TOKENS_OUT
    assert outputs.cost_usd == pytest.approx(30 * (6 + ASSUMED_TOKENS_OUT) / 1e6)
    assert outputs.is_time_assumed
    assert outputs.seconds == pytest.approx(30 * 2.0 / 8)


def test_nothing_is_asked_and_nothing_stored(version: DatasetVersion, model: Model) -> None:
    estimate_generation(version, recipe())
    assert model.asked == []
    assert not OutputSet.objects.exists()
    assert not Generation.objects.exists()


def test_cases_that_lack_a_place_cost_nothing(make_dataset: MakeDataset, model: Model) -> None:
    version = make_dataset([{"input": {"q": "a"}}, {"input": "b"}])
    assert estimate_generation(version, recipe(template="{{ input.q }}")).outputs.calls == 1


def test_a_large_version_is_sampled_and_scaled(
    version: DatasetVersion, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = estimate_generation(version, recipe(trials=2)).outputs
    monkeypatch.setattr(generation_estimate, "EXACT_OUTPUTS", 4)
    monkeypatch.setattr(generation_estimate, "SAMPLE", 5)
    first, again = (estimate_generation(version, recipe(trials=2)).outputs for _ in range(2))
    assert first == again
    assert not first.is_exact
    assert (first.calls, first.tokens_in) == (whole.calls, whole.tokens_in)


def test_recent_replies_tell_time_and_length(
    team: Team, version: DatasetVersion, model: Model
) -> None:
    kept: dict[str, Any] = {"team": team, "purpose": "generate", "connection_name": "stub"}
    ModelCall.objects.create(**kept, model="m", tokens_out=40, latency_ms=500)
    outputs = estimate_generation(version, recipe()).outputs
    assert (outputs.tokens_out, outputs.is_time_assumed) == (400, False)
    assert outputs.seconds == pytest.approx(10 * 0.5 / 8)


class TestJudges:
    def test_each_output_is_judged_though_it_does_not_exist_yet(
        self, version: DatasetVersion, make_scorer: MakeScorer, model: Model
    ) -> None:
        scorers = [make_scorer("verdict"), make_scorer("exact_match")]
        found = estimate_generation(version, recipe(trials=2), scorers)
        assert (found.judges.calls, found.judges.is_exact) == (20, False)
        # the judge reads the output alone, 480 characters of it
        assert found.judges.tokens_in == 20 * ASSUMED_TOKENS_OUT
        assert found.cost_usd == pytest.approx(
            (found.outputs.cost_usd or 0) + (found.judges.cost_usd or 0)
        )
        assert found.seconds == found.outputs.seconds + found.judges.seconds

    def test_a_limit_of_tokens_shortens_what_judges_read(
        self, version: DatasetVersion, make_scorer: MakeScorer, model: Model
    ) -> None:
        short = recipe(parameters={"max_tokens": 5})
        found = estimate_generation(version, short, [make_scorer("verdict")])
        assert found.judges.tokens_in == 10 * 5

    def test_without_judges_their_part_is_exactly_nothing(
        self, version: DatasetVersion, make_scorer: MakeScorer, model: Model
    ) -> None:
        judges = estimate_generation(version, recipe(), [make_scorer("exact_match")]).judges
        assert (judges.calls, judges.cost_usd, judges.is_exact) == (0, 0.0, True)


@pytest.mark.parametrize(
    ("endpoint", "cost_usd", "problems"),
    [
        (Endpoint("stub", "http://stub/v1"), None, ()),
        (CallFailure("connection_missing", "add one"), None, ("add one",)),
        (Endpoint("s", "http://stub/v1", prices={"m": Price(0.0, 0.0)}), 0.0, ()),
    ],
)
def test_a_missing_price_or_connection_is_told(
    version: DatasetVersion,
    model: Model,
    endpoint: Endpoint | CallFailure,
    cost_usd: float | None,
    problems: tuple[str, ...],
) -> None:
    model.endpoint = endpoint
    found = estimate_generation(version, recipe())
    assert (found.outputs.cost_usd, found.cost_usd) == (cost_usd, cost_usd)
    assert found.outputs.problems == problems
