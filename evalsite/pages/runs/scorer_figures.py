"""Each scorer's figures over a run, with links to the cases behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlencode

from evalsite.pages.calibration.advice import advise
from evalsite.pages.cases.labels import RunLabels
from evalsite.pages.thresholds.run_thresholds import RunThresholds
from evalsite.templatetags.formatting import count, plain
from scoring.core.charts.small_charts import Bar
from scoring.core.stats.confusion_matrix import ConfusionMatrix
from scoring.core.stats.corrected_rate import CorrectedRate
from scoring.core.stats.trials import REDUCTIONS
from scoring.engine.calibration.sample import CorrectedPassRate
from scoring.engine.judges.quality import is_judge
from scoring.engine.runs.confusion import OTHER_LABEL, read_confusion_matrix
from scoring.engine.runs.scorer_figures import AT_K, MEAN, RunFigure
from scoring.models import RunScorer


class UnsteadyCases(NamedTuple):
    """How many cases are unsteady, and the query that shows them."""

    number: int
    query: str


class ErrorCause(NamedTuple):
    """A problem of outputs, with whichever scorers, and how many of these are errors."""

    code: str
    errors: int


class Cause(NamedTuple):
    """A problem of outputs, how many have it, and the query that shows them."""

    code: str
    number: int
    query: str


class LinkedBar(NamedTuple):
    """A bar of the histogram, its bin in words, the query that shows its cases, the bin's number
    from 0.
    """

    bar: Bar
    title: str
    query: str
    number: int


class LaterLabel(NamedTuple):
    """A later threshold, and how many outputs and which share of the scored ones pass by it."""

    threshold: float
    passed: int
    rate: float


class MatrixCell(NamedTuple):
    """How many cases have one expected and one answered label, and the query that shows them."""

    number: float
    query: str
    is_right: bool


@dataclass(frozen=True)
class ScorerFigure(RunFigure):
    """One scorer's figures with the queries that show the cases behind them.

    These keep the parameters `kept_query` of the page's address. `corrected` is the pass rate as
    people would give it, None without a random sample of reviews.
    """

    kept_query: Sequence[tuple[str, str]] = ()
    thresholds: RunThresholds | None = None
    corrected: CorrectedPassRate | None = None
    labels: RunLabels | None = None

    @property
    def threshold_url(self) -> str:
        """The page that previews another threshold; empty where it is not asked for."""
        return self.thresholds.url_of(self.scorer) if self.thresholds else ""

    @property
    def later_label(self) -> LaterLabel | None:
        """What passes by the threshold of the later labels; None where it is that of the run."""
        passed = self.labels.relabel.passed.get(self.scorer.name) if self.labels else None
        if self.labels is None or passed is None or self.summary is None:
            return None
        threshold = self.labels.relabel.thresholds[self.scorer.name]
        return LaterLabel(threshold, passed, passed / self.summary.scored)

    @property
    def changed_threshold(self) -> float | None:
        """The threshold in the run's suite today; None where it is still that of the run, or of its
        later labels.
        """
        current = self.thresholds.current if self.thresholds else {}
        threshold = current.get(self.scorer.version.scorer_id)
        later = self.later_label
        is_known = threshold in {self.scorer.threshold, later and later.threshold}
        return None if is_known else threshold

    @property
    def unsteady(self) -> UnsteadyCases | None:
        """Cases of which some trials pass and others fail; None without any."""
        number = self.unsteady_count
        return UnsteadyCases(number, self._query(unsteady="on")) if number else None

    @cached_property
    def confusion(self) -> ConfusionMatrix | None:
        """Of a scorer with classes."""
        return read_confusion_matrix(self.summary.classes) if self.summary else None

    def matrix(self) -> Iterator[tuple[str, list[MatrixCell]]]:
        """The confusion matrix: a row of cells for each expected label, OTHER_LABEL for other
        texts.
        """
        if self.confusion is None:
            return
        labels = [*self.confusion.labels, *([OTHER_LABEL] if self.confusion.has_others else [])]
        for expected, counts in zip(labels, self.confusion.counts, strict=False):
            yield (
                expected,
                [
                    MatrixCell(
                        number,
                        self._query(expected=expected, answered=answered),
                        expected == answered != OTHER_LABEL,
                    )
                    for answered, number in zip(labels, counts, strict=False)
                ],
            )

    @property
    def corrected_rate(self) -> CorrectedRate | None:
        """Where it is more precise than the reviews alone. It is over outputs: None where cases
        have several trials, whose pass rates are over cases.
        """
        rate = self.corrected.rate if self.corrected and not self.trials else None
        return rate if rate and rate.is_narrower else None

    @property
    def advice(self) -> str:
        """What more reviews of a random sample would give; empty where nothing is corrected."""
        return advise(self.corrected) if self.corrected and self.corrected_rate else ""

    @property
    def is_judge(self) -> bool:
        return is_judge(self.scorer)

    def causes(self) -> Iterator[Cause]:
        """The codes of errors and skips, then those of faulty outputs that are scored."""
        for code, number in [*self.cause_counts, *self.fault_counts]:
            yield Cause(code, number, self._query(code=code))

    def bars(self) -> Iterator[LinkedBar]:
        """The bars that stand for anything, each a link."""
        for number, bar in enumerate(self.chart.bars):
            if bar.count:
                yield self._link_bar(bar, number)

    def _link_bar(self, bar: Bar, number: int) -> LinkedBar:
        low, high = plain(bar.low), plain(bar.high)
        if bar.high == 1:
            return LinkedBar(bar, f"{low} to 1: {count(bar.count)}", self._query(min=low), number)
        title = f"{low} to below {high}: {count(bar.count)}"
        return LinkedBar(bar, title, self._query(min=low, below=high), number)

    def _query(self, **parameters: str) -> str:
        trials = {"trials": self.how} if self.how != MEAN else {}
        own = {"scorer": self.scorer.name, **parameters, **trials}
        return "?" + urlencode([*own.items(), *self.kept_query])


def scorer_figures(
    scorers: Iterable[RunScorer],
    how: str = MEAN,
    kept_query: Sequence[tuple[str, str]] = (),
    thresholds: RunThresholds | None = None,
    corrected: Mapping[int, CorrectedPassRate] | None = None,
    labels: RunLabels | None = None,
) -> list[ScorerFigure]:
    """The figures of each scorer of `with_summary`; `corrected` has pass rates by scorers' ids."""
    rates = corrected or {}
    figures = [
        ScorerFigure(
            scorer,
            getattr(scorer, "summary", None),
            kept_query=kept_query,
            thresholds=thresholds,
            corrected=rates.get(scorer.pk),
            labels=labels,
        )
        for scorer in scorers
    ]
    is_known = how in {choice.value for choice in trial_figures(figures)}
    return [replace(figure, how=how) for figure in figures] if is_known else figures


def list_causes(figures: Iterable[ScorerFigure]) -> list[ErrorCause]:
    """Each code once, with the errors it stands for over all scorers."""
    errors: Counter[str] = Counter()
    for summary in (figure.summary for figure in figures):
        if summary:
            errors.update(dict.fromkeys([*summary.causes, *summary.faults], 0))
            errors.update(summary.error_causes)
    return [ErrorCause(code, number) for code, number in sorted(errors.items())]


class TrialFigure(NamedTuple):
    """A way to reduce a case's trials to one figure."""

    value: str
    text: str


def trial_figures(figures: Sequence[ScorerFigure]) -> list[TrialFigure]:
    """The figures to choose from; empty if cases have one trial."""
    ks = dict.fromkeys(k for figure in figures for k in figure.trials.get("pass_at", ()))
    if not ks:
        return []
    words = {"mean": "mean of its trials", "median": "median", "min": "its lowest"}
    means = [TrialFigure(how, words[how]) for how in REDUCTIONS]
    return means + [TrialFigure(f"{AT_K}{k}", f"pass@{k}: any of {k} passes") for k in ks]
