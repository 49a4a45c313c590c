"""Suggested scorers of a dataset with what they say of a sample of its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final, NamedTuple

from scoring.core.contract import ServiceError
from scoring.core.suggested_scorers import SuggestedScorer
from scoring.engine.suites.suggested_suite import CaseSample, sample_cases
from scoring.engine.tryout import tryout
from scoring.engine.tryout.queue import BusyError
from scoring.models import Dataset, User

#: What is measured beside the suggestions, so that nobody takes it unseen.
EXACT: Final = SuggestedScorer("exact match", "exact_match", {}, "The very text.")


class MeasuredScorer(NamedTuple):
    """A suggestion; its pass rate and mean over the outputs of the sample that were scored.

    They are None where nothing was.
    """

    suggested: SuggestedScorer
    pass_rate: float | None = None
    mean: float | None = None


class Suggestions(NamedTuple):
    """What suits a dataset, best first; `exact` is the exact match beside it, if that says more."""

    sample: CaseSample
    scorers: Sequence[MeasuredScorer]
    exact: MeasuredScorer | None

    @property
    def has_references(self) -> bool:
        return any(case.references for case in self.sample.cases)


def suggest_for_dataset(dataset: Dataset, by: User) -> Suggestions:
    """The suggestions, measured by the helper process where the dataset has outputs."""
    sample = sample_cases(dataset)
    suggested = sample.suggested.scorers
    measured = [_measure(scorer, sample, by) for scorer in suggested]
    is_told = any(scorer.type in {"exact_match", "regex"} for scorer in suggested)
    exact = None if is_told or sample.outputs is None else _measure(EXACT, sample, by)
    return Suggestions(sample, measured, exact)


def _measure(suggested: SuggestedScorer, sample: CaseSample, by: User) -> MeasuredScorer:
    if sample.outputs is None or suggested.asks_model:
        return MeasuredScorer(suggested)
    try:
        results = tryout.score(suggested.type, suggested.config, None, sample.cases, by.pk)
    except (ServiceError, BusyError):
        return MeasuredScorer(suggested)
    scores = [result.score for result in results if result.score is not None]
    if not scores:
        return MeasuredScorer(suggested)
    passed = sum(result.verdict == "pass" for result in results)
    return MeasuredScorer(suggested, passed / len(scores), fmean(scores))
