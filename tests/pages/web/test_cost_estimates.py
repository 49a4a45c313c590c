"""Estimates of all kinds of calls, added up."""

from __future__ import annotations

from evalsite.pages.web.cost_estimates import combine_estimates
from scoring.engine.estimates.scoring_estimate import CostEstimate
from tests.pages.runs.test_estimate import outputs

__all__ = ["outputs"]


COSTLY = CostEstimate(calls=3, tokens_in=30, tokens_out=6, cost_usd=0.5, seconds=90.0)


class TestCostEstimate:
    def test_what_is_never_called_has_no_line(self) -> None:
        assert combine_estimates(judges=CostEstimate()) is None
        found = combine_estimates(outputs=COSTLY, judges=CostEstimate())
        assert found
        assert [line.title for line in found.lines] == ["outputs"]

    def test_lines_add_up(self) -> None:
        found = combine_estimates(outputs=COSTLY, judges=COSTLY)
        assert found
        assert (found.cost_usd, found.seconds, found.is_exact) == (1.0, 180.0, True)

    def test_one_unknown_price_leaves_the_sum_unknown(self) -> None:
        lacking = CostEstimate(
            calls=1, cost_usd=None, unpriced=(("m", "own"), ("m", "environment"))
        )
        found = combine_estimates(outputs=COSTLY, judges=lacking)
        assert found
        assert found.cost_usd is None
        own, site = found.unpriced()
        assert "in the connection own" in own
        assert "the site's own endpoint has none" in site

    def test_the_same_problem_is_told_once(self) -> None:
        broken = CostEstimate(calls=1, problems=("no key", "no key"))
        found = combine_estimates(outputs=broken, judges=broken)
        assert found
        assert found.problems == ["no key"]
