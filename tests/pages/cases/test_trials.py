"""The trials of one case side by side."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from scoring.models import Run
from tests.pages.runs.test_trials import outputs, tried

__all__ = ["outputs", "tried"]


class TestCasePage:
    def at(self, run: Run, position: int, query: str = "") -> str:
        return reverse("run_case", args=[run.uuid, position]) + query

    def test_trials_stand_side_by_side_with_links(self, bobs: Client, tried: Run) -> None:
        answer = bobs.get(self.at(tried, 2, "?trial=1&verdict=fail&n=3"))
        trials = answer.context["trials"]
        assert [trial.row.output for trial in trials.listed] == ["yes", "yet", "no"]
        assert [trial.row.verdict for trial in trials.listed] == ["pass", "fail", "fail"]
        assert [trial.is_here for trial in trials.listed] == [False, True, False]
        assert trials.is_unsteady
        assert trials.listed[0].url == self.at(tried, 2, "?verdict=fail")
        assert trials.listed[2].url == self.at(tried, 2, "?verdict=fail&trial=2")
        for trial in trials.listed:
            there = bobs.get(trial.url).context["view"].output
            assert (there.trial, there.text) == (trial.row.place.trial, trial.row.output)

    def test_a_steady_case_is_not_called_unsteady(self, bobs: Client, tried: Run) -> None:
        answer = bobs.get(self.at(tried, 1))
        assert not answer.context["trials"].is_unsteady
        assert "Trials of this case" in answer.text

    def test_a_case_with_one_trial_has_no_such_table(self, bobs: Client, run: Run) -> None:
        assert "Trials of this case" not in bobs.get(self.at(run, 1)).text
