"""What the test of case verdicts found, what it could find, and which cases are unstable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.gate_power import Setting, measure_shares
from scoring.core.stats import paired_tests
from scoring.core.stats.descriptive import rate_estimate
from scoring.engine.compare.regressions import count_regressions
from scoring.engine.compare.verdict_changes import MAX_LISTED, FlipTest, count_judge_flips
from scoring.models import JudgeVariance, Run
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with


def flips_of(baseline: Run, run: Run) -> FlipTest:
    found = count_regressions(run, baseline, is_tested=True).flips
    assert found is not None
    return found


def check(run: Run, pairs: list[list[float]], scorer: str = "close") -> None:
    version = run.scorers.get(name=scorer).version
    given: dict[str, Any] = {"n": len(pairs), "band": 0.1, "deviation": 0.1}
    JudgeVariance.objects.create(run=run, version=version, pairs=pairs, **given)


@pytest.mark.django_db
class TestOnRuns:
    def test_trials_count_by_the_share_that_passes(self, make_dataset: MakeDataset) -> None:
        version = make_dataset([{"key": key} for key in "abcd"])
        before = run_with(version, {"close": [1, 1, 1, 1, 0, 0, 1, 0]}, trials=2)
        after = run_with(version, {"close": [1, 1, 0, 0, 0, 1, 1, 0]}, trials=2)
        found = flips_of(before, after)
        assert (found.n, found.broke, found.fixed) == (4, 1, 1)
        assert found.change == pytest.approx((-1 + 0.5) / 4)
        assert found.discordance == pytest.approx((1 + 0.25) / 4)

    def test_a_case_judged_only_by_all_its_trials_together_has_its_verdict_s_share(
        self, make_dataset: MakeDataset
    ) -> None:
        """Each output has an error by one of the scorers, the case by none."""
        version = make_dataset([{}])
        parts = {"close": [1, "error"], "same": ["error", 1]}
        tried = run_with(version, parts, trials=2)
        once = run_with(version, {"close": [1], "same": [1]})
        worse = run_with(version, {"close": [0], "same": [1]})
        assert flips_of(tried, once)[:5] == (1, 0, 0, 1.0, 0.0)
        assert flips_of(tried, worse)[:5] == (1, 1, 0, 1.0, -1.0)

    def test_unstable_are_changed_and_split_cases_largest_change_first(
        self, make_dataset: MakeDataset
    ) -> None:
        version = make_dataset([{"key": key} for key in "abcde"])
        before = run_with(version, {"close": [1, 1, 0, 0, 1, 0, 0, 1, 1, 1]}, trials=2)
        after = run_with(version, {"close": [1, 1, 0, 1, 1, 0, 0, 1, 0, 0]}, trials=2)
        found = flips_of(before, after)
        assert found.unstable_keys == [
            "e",
            "b",
            "c",
            "d",
        ]  # c and d pass in one trial, in both runs
        assert [case.position for case in found.unstable] == [5, 2, 3, 4]
        assert found.unstable_count == 4
        assert found.leave_out({2, 4}).unstable_keys == ["e", "c"]
        assert found.leave_out({2, 4}).unstable_count == 4

    def test_only_the_first_unstable_cases_are_listed(self, make_dataset: MakeDataset) -> None:
        version = make_dataset([{}] * (MAX_LISTED + 3))
        before = run_with(version, {"close": [1] * (MAX_LISTED + 3)})
        after = run_with(version, {"close": [0] * (MAX_LISTED + 3)})
        found = flips_of(before, after)
        assert (len(found.unstable), found.unstable_count) == (MAX_LISTED, MAX_LISTED + 3)

    def test_cases_without_a_verdict_are_left_out(self, make_dataset: MakeDataset) -> None:
        version = make_dataset([{"key": key} for key in "abc"])
        before, after = (
            run_with(version, {"close": given}) for given in (["skip", 1, 1], [1, 1, 0])
        )
        assert flips_of(before, after)[:3] == (2, 1, 0)
        assert flips_of(before, after).unstable_keys == ["c"]
        errors = run_with(version, {"close": ["error"] * 3})
        assert flips_of(before, errors) == FlipTest()
        assert FlipTest().state(0.1) == "undecided"

    def test_judges_that_waver_take_power(self, make_dataset: MakeDataset) -> None:
        """As measured on unchanged outputs, at the threshold of the run."""
        version = make_dataset([{}] * 150)
        before, after = (run_with(version, {"close": [1] * 150}) for _ in "xy")
        assert flips_of(before, after).judge_flips is None
        assert flips_of(before, after).state(0.1) == "passed"
        check(after, [[0.4, 0.6], [0.6, 0.9], [0.5, 0.5], [0.9, 0.4]])
        found = flips_of(before, after)
        assert (found.judge_flips, found.chance_flips, found.discordance) == (0.5, 0.5, 0.0)
        assert found.state(0.1) == "undecided"

    def test_several_judges_waver_independently(self, make_dataset: MakeDataset) -> None:
        run = run_with(make_dataset([{}]), {"close": [1], "kind": [1], "other": [1]})
        check(run, [[0, 1], [1, 1]])
        check(run, [[0, 1], [1, 1], [1, 1], [1, 1]], "kind")
        assert count_judge_flips(run) == pytest.approx(1 - 0.5 * 0.75)

    def test_of_several_trials_judges_move_the_mean_less(self, make_dataset: MakeDataset) -> None:
        version = make_dataset([{}] * 4)
        before, after = (run_with(version, {"close": [1] * 8}, trials=2) for _ in "xy")
        check(after, [[0, 1], [1, 1]])
        assert flips_of(before, after).judge_flips == 0.25


def test_a_rise_is_no_drop() -> None:
    assert FlipTest(100, 1, 12, p=0.01, change=0.11, discordance=0.13).has_dropped is False
    assert FlipTest(100, 12, 1, p=0.01, change=-0.11, discordance=0.13).has_dropped is True
    assert FlipTest(100, 12, 6, p=0.2, change=-0.06, discordance=0.18).has_dropped is False


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [Setting(100, 0.97), Setting(200, 0.8), Setting(200, 0.8, (3, 3)), Setting(200, 0.8, (3, 1))],
)
def test_equal_runs_rarely_fail_and_stated_drops_are_found(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paired_tests, "RESAMPLES", 500)
    monkeypatch.setattr(paired_tests, "_bootstrap_interval", lambda _: (-1.0, 1.0))
    shares = measure_shares(setting, 500, np.random.default_rng(31))
    failed = rate_estimate(shares.failed, 500)
    assert failed is not None
    assert failed.interval is not None
    assert failed.interval[1] <= 0.05
    assert len(shares.drops) > 400
    assert shares.found / len(shares.drops) >= 0.8
