from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import pytest

from scoring.core.services import Message, Question, Reply
from scoring.engine.estimates import scoring_estimate
from scoring.engine.estimates.scoring_estimate import CostEstimate, estimate_calls, estimate_scoring
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs.execution import cases_of_outputs
from scoring.engine.services.reply_store import StoredReplies
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Connection, Output, OutputSet, Scorer, Team
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.judge_doubles import Model, model
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.fixtures.spy import Spy

__all__ = ["model"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def outputs_of(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Callable[..., OutputSet]:
    def make(*texts: str | None) -> OutputSet:
        return make_outputs(make_dataset([{"expected": "yes"}] * len(texts)), texts)

    return make


OutputsOf = Callable[..., OutputSet]


class TestCounts:
    def test_without_judges_there_is_nothing_to_pay(
        self, outputs_of: OutputsOf, make_scorer: MakeScorer
    ) -> None:
        assert (
            estimate_scoring(outputs_of("yes", "no"), [make_scorer("exact_match")])
            == CostEstimate()
        )

    def test_each_distinct_question_is_one_call(
        self, outputs_of: OutputsOf, make_scorer: MakeScorer, model: Model
    ) -> None:
        found = estimate_scoring(outputs_of("0.1", "0.2", "0.1", None), [make_scorer("verdict")])
        assert (found.calls, found.cached, found.is_exact) == (2, 0, True)
        assert model.asked == []

    def test_it_comes_to_what_the_run_then_pays(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model
    ) -> None:
        scorer = make_scorer("verdict")
        run = make_run([f"0.{n}" for n in range(1, 8)], scorer)
        promised = estimate_scoring(run.output_set, [scorer])
        run_to_end(run, InlineExecutor())
        assert promised.calls == run.judge_calls == 7

    def test_kept_replies_are_told_apart(
        self, team: Team, outputs_of: OutputsOf, make_scorer: MakeScorer, model: Model
    ) -> None:
        from scoring.core.llm.reply_cache import reply_key

        outputs, scorer = outputs_of("0.1", "0.2", "0.3"), make_scorer("verdict")
        asked = Question("m", (Message("user", "0.2"),))
        StoredReplies(team).keep(reply_key("http://stub/v1", asked), asked, Reply("0.2"))
        found = estimate_scoring(outputs, [scorer])
        assert (found.calls, found.cached) == (2, 1)

    def test_judges_inside_combinations_count_and_nothing_else_is_scored(
        self, outputs_of: OutputsOf, make_scorer: MakeScorer, model: Model, spy: Spy
    ) -> None:
        inner = {"type": "any", "config": {"scorers": [{"type": "verdict"}, {"type": "spy"}]}}
        scorer = make_scorer("all", scorers=[inner, {"type": "exact_match"}])
        assert estimate_scoring(outputs_of("0.1", "0.2"), [scorer]).calls == 2
        assert spy.asked == []

    def test_samples_multiply(
        self, team: Team, outputs_of: OutputsOf, make_scorer: MakeScorer, model: Model
    ) -> None:
        rubric: dict[str, Any] = {"rubric": "Is it so?", "choices": {"yes": 1, "no": 0}}
        Connection.objects.define(team, "stub", "https://example.org/v1", by=None)
        scorer = make_scorer("llm_judge", model="m", samples=3, **rubric)
        assert estimate_scoring(outputs_of("a", "b"), [scorer]).calls == 6

    def test_many_outputs_are_estimated_from_a_sample(
        self,
        outputs_of: OutputsOf,
        make_scorer: MakeScorer,
        model: Model,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(scoring_estimate, "EXACT_OUTPUTS", 8)
        monkeypatch.setattr(scoring_estimate, "SAMPLE", 5)
        outputs, scorer = outputs_of(*(f"0.{n}" for n in range(10, 20))), make_scorer("verdict")
        found = estimate_scoring(outputs, [scorer])
        assert (found.calls, found.tokens_in, found.is_exact) == (10, 10, False)
        assert estimate_scoring(outputs, [scorer]) == found


class TestMoneyAndTime:
    """At a dollar a million tokens each way, in `judged`."""

    def test_tokens_are_counted_by_a_rule_of_thumb(self, team: Team, model: Model) -> None:
        asked = [
            Question("m", (Message("system", "a" * 10), Message("user", "b" * 10))),
            Question("m", (Message("user", "☃" * 10),)),
        ]
        assert estimate_calls(team, asked).tokens_in == ceil(20 / 4) + ceil(30 / 4)

    def test_without_experience_it_says_what_it_assumes(self, team: Team, model: Model) -> None:
        asked = [Question("m", (Message("user", str(n)),)) for n in range(40)]
        found = estimate_calls(team, asked)
        assert (found.tokens_in, found.tokens_out) == (40, 40 * 120)
        assert found.cost_usd == pytest.approx((40 + 4_800) / 1e6)
        assert (found.seconds, found.is_time_assumed) == (40 * 2 / 8, True)

    def test_it_goes_by_the_latest_calls_of_that_model(self, team: Team, model: Model) -> None:
        kept = StoredReplies(team)
        kept.names["main"] = "stub"
        told = [("m", 400.0, 10), ("m", 600.0, 20), ("m-2026-01-31", 8_000.0, 30)]
        for name, latency, tokens in [*told, ("m-mini", 1.0, 9_999)]:
            reply = Reply("x", model=name, latency_ms=latency, tokens_out=tokens)
            kept.keep(None, Question(name, (), connection="main"), reply)
        found = estimate_calls(team, [Question("m", (Message("user", "x"),))])
        assert (found.seconds, found.tokens_out, found.is_time_assumed) == (0.6 / 8, 20, False)

    def test_calls_of_another_team_are_none_of_our_experience(
        self, team: Team, model: Model
    ) -> None:
        other = StoredReplies(Team.objects.create(name="Other", slug="other"))
        other.names[None] = "stub"
        other.keep(None, Question("m", ()), Reply("x", latency_ms=1.0))
        assert estimate_calls(team, [Question("m", ())]).is_time_assumed

    def test_an_unknown_price_makes_an_unknown_cost(self, team: Team, model: Model) -> None:
        known, unknown = Question("m", ()), Question("other", ())
        assert estimate_calls(team, [known, unknown]).cost_usd is None
        assert estimate_calls(team, [known]).cost_usd is not None

    def test_where_nobody_can_be_asked_it_says_why(self, team: Team) -> None:
        found = estimate_calls(team, [Question("m", ()), Question("m", (), connection="gone")])
        assert (found.calls, found.cost_usd) == (2, None)
        assert found.problems == (
            "there is no default connection; set one, or set OPENAI_API_KEY",
            "the team has no connection called 'gone' any more; add one of that name",
        )


def test_cases_come_in_the_order_asked_for(outputs_of: OutputsOf) -> None:
    ids = list(Output.objects.filter(output_set=outputs_of("a", None, "c")).values_list("pk"))
    wanted = [ids[2][0], ids[0][0], ids[1][0]]
    found = cases_of_outputs(wanted)
    assert [case.output for case in found] == ["c", "a", None]
    assert [case.failure for case in found] == ["", "", "failed"]


def test_a_scorer_without_a_version_asks_nothing(outputs_of: OutputsOf, team: Team) -> None:
    assert (
        estimate_scoring(outputs_of("a"), [Scorer(team=team, name="x", type="verdict")])
        == CostEstimate()
    )
