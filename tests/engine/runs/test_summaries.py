from __future__ import annotations

import statistics
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.engine.runs.summaries import histogram, moments, summarize_run
from scoring.models import ModelCall, Run, RunSummary, Score
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.judge_doubles import Model, model
from tests.support.finished_runs import run_with
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy
from tests.support.run_states import finished_run

__all__ = ["model"]

unit = st.floats(0, 1, allow_nan=False)


@given(st.lists(unit, min_size=2, max_size=50))
def test_mean_and_variance_are_those_of_the_standard_library(scores: list[float]) -> None:
    mean, variance = moments(Counter(scores))
    assert mean == pytest.approx(statistics.fmean(scores), abs=1e-12)
    assert variance == pytest.approx(statistics.variance(scores), abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "mean", "variance"),
    [([], None, None), ([0.25], 0.25, None), ([0.0, 1.0], 0.5, 0.5), ([0.1] * 10, 0.1, 0.0)],
)
def test_few_scores(scores: list[float], mean: float | None, variance: float | None) -> None:
    found = moments(Counter(scores))
    assert found[0] == mean
    assert found[1] == pytest.approx(variance)


@pytest.mark.parametrize(
    ("score", "bin_"),
    [(0.0, 0), (0.049, 0), (0.05, 1), (0.15, 3), (0.35, 7), (0.999, 19), (1.0, 19)],
)
def test_a_bin_holds_its_lower_edge_and_the_last_one_holds_1(score: float, bin_: int) -> None:
    assert [place for place, count in enumerate(histogram(Counter([score]))) if count] == [bin_]


@given(st.lists(unit, max_size=50))
def test_every_score_is_in_one_bin(scores: list[float]) -> None:
    assert (len(histogram(Counter(scores))), sum(histogram(Counter(scores)))) == (20, len(scores))


@pytest.mark.django_db
class TestSummarise:
    def test_errors_and_skips_count_for_nothing_but_n(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["1", "0.5", "0", "error", "error", "skip", None], make_scorer("spy"))
        finish(run)
        found = RunSummary.objects.get()
        assert (found.n, found.scored, found.errors, found.skipped) == (7, 3, 3, 1)
        assert (found.mean, found.variance, found.passed) == (0.5, 0.25, 2)
        assert found.pass_rate == pytest.approx(2 / 3)
        assert found.causes == {"service_down": 2, "no_output": 1, "nothing": 1}
        assert found.error_causes == {"service_down": 2, "no_output": 1}
        assert [n for n in found.histogram if n] == [1, 1, 1]
        counts = run.pass_count, run.fail_count, run.error_count, run.skipped_count
        assert counts == (2, 1, 3, 1)
        assert run.missing_expected_count == 0

    def test_nothing_scored_has_no_mean_and_no_pass_rate(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        finish(make_run(["error"], make_scorer("spy")))
        found = RunSummary.objects.get()
        assert (found.mean, found.variance, found.pass_rate) == (None, None, None)

    def test_missing_expected_is_counted_once_per_case(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        scorers = make_scorer("exact_match"), make_scorer("levenshtein")
        run = make_run(["a", "b"], *scorers, expected=[..., "b"])
        finish(run)
        assert run.missing_expected_count == 1

    def test_summarising_again_gives_the_same_row(
        self, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
    ) -> None:
        run = make_run(["1", "0"], make_scorer("spy"))
        finish(run)
        before = RunSummary.objects.values().get()
        summarize_run(run)
        assert RunSummary.objects.values().get() == before


class TestJudgeFigures:
    """Rebuilt from the calls a run has paid, whatever became of the scores."""

    def paid(self, run: Run, **told: Any) -> None:
        row = {"purpose": "judge", "tokens_in": 10, "tokens_out": 2, "cost_usd": 0.5, **told}
        ModelCall.objects.create(team=run.team, run=run, model="m", **row)

    def figures(self, run: Run) -> tuple[Any, ...]:
        summarize_run(run)
        return run.judge_calls, run.judge_tokens_in, run.judge_tokens_out, run.judge_cost_usd

    def test_a_run_without_judges_has_none(
        self, make_run: MakeRun, make_scorer: MakeScorer
    ) -> None:
        assert self.figures(make_run(["yes"], make_scorer("exact_match"))) == (None,) * 4

    def test_a_judge_that_paid_nothing_made_no_calls(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model
    ) -> None:
        assert self.figures(make_run(["1"], make_scorer("verdict"))) == (0, None, None, None)

    def test_every_paid_call_counts_and_no_other_runs(
        self, make_run: MakeRun, make_scorer: MakeScorer, model: Model
    ) -> None:
        scorer = make_scorer("verdict")
        run, other = make_run(["1"], scorer), make_run(["1"], scorer, name="other")
        self.paid(run)
        self.paid(run, fault="reply_empty", cost_usd=None)
        self.paid(run, purpose="generate", cost_usd=9.0)
        self.paid(other, cost_usd=7.0)
        assert self.figures(run) == (2, 20, 4, 0.5)


@pytest.mark.django_db
def test_latencies_are_percentiles_of_the_outputs_that_have_one(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes"] * 6, make_scorer("exact_match"))
    summarize_run(run)
    assert run.latencies_ms == {}
    taken = [120.0, 80.0, 3000.0, None, 95.5, 101.0]
    for output, latency_ms in zip(run.output_set.outputs.all(), taken, strict=True):
        output.latency_ms = latency_ms
        output.save()
    summarize_run(run)
    known = [latency for latency in taken if latency is not None]
    expected = {f"p{share}": np.percentile(known, share) for share in (50, 90, 95, 99)}
    assert run.latencies_ms == pytest.approx(expected)


@pytest.mark.django_db
def test_tokens_and_cost_are_those_of_the_outputs_that_tell_them(
    make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    run = make_run(["yes"] * 3, make_scorer("exact_match"))
    summarize_run(run)
    assert (run.output_tokens_in, run.output_tokens_out, run.cost_usd) == (None, None, None)
    told = [(30, 5, 0.25), (None, None, None), (12, None, 0.5)]
    for output, figures in zip(run.output_set.outputs.all(), told, strict=True):
        output.tokens_in, output.tokens_out, output.cost_usd = figures
        output.save()
    summarize_run(run)
    assert (run.output_tokens_in, run.output_tokens_out, run.cost_usd) == (42, 5, 0.75)


INNER = [{"name": "in", "type": "includes"}, {"name": "same", "type": "exact_match"}]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "config", "count"),
    [
        ("includes", {}, 3),
        ("includes", {"values": ["Paris"]}, 0),
        ("exact_match", {}, 0),
        ("all", {"scorers": INNER}, 3),
    ],
)
def test_empty_expected_texts_are_counted_where_they_pass_anything(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, kind: str, config: Any, count: int
) -> None:
    cases: list[dict[str, Any]] = [
        *({"expected": ""}, {"expected": ""}, {"expected": "yes"}, {}),
        *({"expected": "a", "references": [""]}, {"expected": "a", "references": ["b,", "c"]}),
    ]
    run = finished_run(make_outputs(make_dataset(cases), ["yes"] * 6), ("one", kind, config))
    assert run.empty_expected_count == count


@pytest.mark.django_db
def test_the_first_trial_has_the_verdict_of_its_case(make_dataset: MakeDataset) -> None:
    """As it is after the latest summary, whatever was kept before."""
    version = make_dataset([{}, {}])
    run = run_with(version, {"close": [1, 1, 1, 0, 1, 0]}, trials=3)

    def kept() -> list[tuple[int, int | None]]:
        return list(run.verdicts.order_by("position", "trial").values_list("trial", "of_case"))

    assert kept() == [(0, 0), (1, None), (2, None), (0, 1), (1, None), (2, None)]
    first, second = run.verdicts.order_by("position", "trial")[:2]
    Score.objects.filter(output__in=(first.output_id, second.output_id)).update(score=0, verdict=1)
    run.verdicts.filter(pk=second.pk).update(of_case=0)
    summarize_run(run)
    assert kept() == [(0, 1), (1, None), (2, None), (0, 1), (1, None), (2, None)]
    once = run_with(version, {"close": [1, 0]})
    assert list(once.verdicts.values_list("of_case", flat=True)) == [None, None]
    assert (run.has_trials, once.has_trials) == (True, False)
