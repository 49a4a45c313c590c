"""Each scorer's figures over a run, ready to be set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple
from urllib.parse import urlencode

from evalsite.templatetags.look import count, plain
from scoring.core.charts import Bar
from scoring.core.confusion import Confusion
from scoring.core.trials import REDUCTIONS
from scoring.engine.confusion import OTHER, confusion_of
from scoring.engine.judge_quality import is_judge
from scoring.engine.run_figures import AT_K, MEAN, RunFigure
from scoring.models import RunScorer


class Unsteady(NamedTuple):
    """How many cases are unsteady, and the query that shows them."""

    number: int
    query: str


class CauseOfAll(NamedTuple):
    """Why outputs were not scored, by whichever scorers, and how many of these are errors."""

    code: str
    errors: int


class Cause(NamedTuple):
    """Why outputs were not scored, how many, and the query that shows them."""

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


class MatrixCell(NamedTuple):
    """How many cases have one expected and one answered label, and the query that shows them."""

    number: int
    query: str
    is_right: bool


class MatrixRow(NamedTuple):
    """The cells of one expected label."""

    label: str
    cells: Sequence[MatrixCell]


@dataclass(frozen=True)
class Figure(RunFigure):
    """One scorer's figures with the queries that show the cases behind them.

    These keep the parts `beside` of the page's address.
    """

    beside: Sequence[tuple[str, str]] = ()

    @property
    def unsteady(self) -> Unsteady | None:
        """Cases of which some trials pass and others fail; None where there are none."""
        number = self.unsteady_count
        return Unsteady(number, self._query(unsteady="on")) if number else None

    @cached_property
    def confusion(self) -> Confusion | None:
        """Of a scorer with classes."""
        return confusion_of(self.summary.classes) if self.summary else None

    def matrix(self) -> Iterator[MatrixRow]:
        """The rows of the confusion matrix, its last row and column for all other texts."""
        if self.confusion is None:
            return
        labels = [*self.confusion.labels, *([OTHER] if self.confusion.has_others else [])]
        for row, label in enumerate(labels):
            counts = self.confusion.counts[row]
            cells = [
                MatrixCell(
                    counts[column],
                    self._query(expected=label, answered=said),
                    row == column and label != OTHER,
                )
                for column, said in enumerate(labels)
            ]
            yield MatrixRow(label, cells)

    @property
    def is_judge(self) -> bool:
        return is_judge(self.scorer)

    def causes(self) -> Iterator[Cause]:
        """The codes of errors and skips, the most frequent first."""
        for code, number in self.cause_counts:
            yield Cause(code, number, self._query(code=code))

    def bars(self) -> Iterator[LinkedBar]:
        """The bars that stand for anything, each a link."""
        for number, bar in enumerate(self.chart.bars):
            if bar.count:
                yield self._linked(bar, number)

    def _linked(self, bar: Bar, number: int) -> LinkedBar:
        low, high = plain(bar.low), plain(bar.high)
        if bar.high == 1:
            return LinkedBar(bar, f"{low} to 1: {count(bar.count)}", self._query(min=low), number)
        title = f"{low} to below {high}: {count(bar.count)}"
        return LinkedBar(bar, title, self._query(min=low, below=high), number)

    def _query(self, **asked: str) -> str:
        kept = {"trials": self.how} if self.how != MEAN else {}
        parts = {"scorer": self.scorer.name, **asked, **kept}
        return "?" + urlencode([*parts.items(), *self.beside])


def figures_of(
    scorers: Iterable[RunScorer], how: str = MEAN, beside: Sequence[tuple[str, str]] = ()
) -> list[Figure]:
    """The figures of each scorer; `summary` is to be joined."""
    found = [Figure(scorer, getattr(scorer, "summary", None), beside=beside) for scorer in scorers]
    is_known = how in {way.value for way in ways_of(found)}
    return [replace(figure, how=how) for figure in found] if is_known else found


def causes_of(figures: Iterable[Figure]) -> list[CauseOfAll]:
    """Each code of errors and skips once, with the errors it stands for over all scorers."""
    errors: Counter[str] = Counter()
    for summary in (figure.summary for figure in figures):
        if summary:
            errors.update(dict.fromkeys(summary.causes, 0))
            errors.update(summary.error_causes)
    return [CauseOfAll(code, number) for code, number in sorted(errors.items())]


class Way(NamedTuple):
    """One way to make one figure of a case's trials, as a choice."""

    value: str
    text: str


def ways_of(figures: Sequence[Figure]) -> list[Way]:
    """The ways there are; none where cases have one trial."""
    ks = dict.fromkeys(k for figure in figures for k in figure.trials.get("pass_at", ()))
    if not ks:
        return []
    means = [Way(how, _WORDS[how]) for how in REDUCTIONS]
    return means + [Way(f"{AT_K}{k}", f"pass@{k}: any of {k} passes") for k in ks]


_WORDS: Final = {"mean": "mean of its trials", "median": "median", "min": "its lowest"}
