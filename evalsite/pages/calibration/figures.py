"""Figures of a calibration with the lists of cases behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from evalsite.pages.calibration.advice import advise
from scoring.core.stats.descriptive import Estimate, rate_estimate
from scoring.engine.calibration.sample import CorrectedPassRate
from scoring.engine.calibration.scorers import RunCalibration, ScorerCalibration
from scoring.models import Run
from scoring.models.reviews.people_verdict import PeopleVerdict

SCORER_FIRST: Final = ("pass", "fail")
PEOPLE_FIRST: Final = ("fail", "pass")  # the dangerous outputs first: the scorer passes them
LEFT_OUT: Final = {
    PeopleVerdict.UNSURE: "unsure",
    PeopleVerdict.BAD_CASE: "bad case",
    PeopleVerdict.SPLIT: "tied",
}


class LinkedCount(NamedTuple):
    """How many outputs, what they are, and the list of them."""

    number: int
    text: str
    url: str


class ConfusionCell(NamedTuple):
    """The outputs of one verdict by the scorer and one by people, and the list of them."""

    people: str
    number: int
    url: str
    is_agreed: bool
    is_missed: bool  # a failure by people that the scorer passes


class ConfusionRow(NamedTuple):
    scorer: str
    cells: Sequence[ConfusionCell]


@dataclass(frozen=True)
class CalibrationFigure:
    """A scorer of a run against people; `is_as_good` as the best of the run's scorers."""

    calibration: ScorerCalibration
    is_best: bool = False
    is_as_good: bool = False

    @property
    def confusion(self) -> list[ConfusionRow]:
        """The scorer's verdicts by people's."""
        table = self.calibration.table
        numbers = {
            ("pass", "pass"): table.both_pass,
            ("pass", "fail"): table.only_scorer_passes,
            ("fail", "pass"): table.only_people_pass,
            ("fail", "fail"): table.both_fail,
        }
        return [
            ConfusionRow(scorer, [self._cell(scorer, people, numbers) for people in PEOPLE_FIRST])
            for scorer in SCORER_FIRST
        ]

    @property
    def pass_rate(self) -> Estimate | None:
        """The scorer's own, over the outputs that it scored; None before the run has ended."""
        summary = getattr(self.calibration.scorer, "summary", None)
        return rate_estimate(summary.passed, summary.scored) if summary else None

    @property
    def corrected(self) -> CorrectedPassRate | None:
        return self.calibration.corrected

    @property
    def advice(self) -> str:
        """What more reviews of a random sample would give; empty where they would give nothing."""
        return advise(self.corrected) if self.corrected else ""

    def _cell(self, scorer: str, people: str, numbers: dict[tuple[str, str], int]) -> ConfusionCell:
        named = self.calibration.scorer
        query = {"scorer": named.name, "verdict": scorer, "reviewed": people}
        url = cases_url(named.run, **query)
        is_missed = (scorer, people) == ("pass", "fail")
        number = numbers[scorer, people]
        return ConfusionCell(people, number, url, scorer == people, is_missed)


def calibration_figures(calibration: RunCalibration) -> list[CalibrationFigure]:
    """Of each scorer, in the run's order."""
    return [
        CalibrationFigure(each, each is calibration.best, calibration.is_as_good(each))
        for each in calibration.scorers
    ]


def left_out_counts(calibration: RunCalibration) -> list[LinkedCount]:
    """The reviewed outputs that people neither pass nor fail."""
    return [
        LinkedCount(number, LEFT_OUT[verdict], cases_url(calibration.run, reviewed=verdict.code))
        for verdict, number in calibration.people.left_out.items()
    ]


def cases_url(run: Run, **query: str) -> str:
    """The run's cases that pass these filters."""
    return f"{reverse('run', args=[run.uuid])}?{urlencode(query)}#cases"
