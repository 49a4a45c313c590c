"""The report of a comparison: one baseline, its candidates, and what broke or was fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.template.loader import get_template

from scoring.core.charts.comparison_charts import (
    ChangeBar,
    ChangeHistogram,
    Dot,
    Scatter,
    change_histogram,
    scatter_chart,
)
from scoring.core.stats.trials import reduce_scores
from scoring.core.textdiff.text_layout import TextLayout
from scoring.engine.compare.figures import GRID, Figures, ScorerFigures
from scoring.engine.compare.warnings import collect_warnings
from scoring.engine.reports import html_document
from scoring.engine.reports.case_texts import (
    OUTPUT_BYTES,
    CaseReport,
    layout_aligned,
    layout_difference,
    read_cases,
)
from scoring.models import Relabel, Run, RunScorer, Score
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import NO_FILTERS, Pair, PairKind, RunSide
from scoring.models.runs.case_scores import find_trials

MAX_CASES: Final = 100  # cases of each list, parted among the candidates
MIN_CASES: Final = 10  # of each candidate's


class CaseScore(NamedTuple):
    """What a scorer gave a case, of several trials the mean; without a score, see the status."""

    score: float | None
    status: str
    threshold: float


class ScorerChange(NamedTuple):
    """One scorer's answers in both runs, None where it gave none."""

    name: str
    before: CaseScore | None
    after: CaseScore | None

    @property
    def delta(self) -> float | None:
        if self.before is None or self.after is None:
            return None
        if self.before.score is None or self.after.score is None:
            return None
        return round(self.after.score - self.before.score, 12)


@dataclass(frozen=True)
class PairCase:
    """A case in both runs, with what differs between its outputs."""

    pair: Pair
    old: CaseReport
    new: CaseReport
    changes: Sequence[ScorerChange]

    @property
    def expected(self) -> TextLayout | None:
        return self.new.expected

    @property
    def before(self) -> TextLayout | None:
        return layout_aligned(self.old.output_text, self.new.output_text, OUTPUT_BYTES)

    @property
    def after(self) -> TextLayout | None:
        return layout_difference(self.old.output_text, self.new.output_text)


@dataclass
class ScorerCharts:
    """One scorer's charts, as the compare page's templates take them."""

    scorer: ScorerFigures

    @cached_property
    def scatter(self) -> Scatter:
        cells = [(cell.x, cell.y, cell.cases) for cell in self.scorer.scatter]
        return scatter_chart(cells, GRID, self.scorer.thresholds)

    @property
    def dots(self) -> list[tuple[Dot, str]]:
        """Each dot, leading nowhere."""
        return [(dot, "") for dot in self.scatter.dots]

    @cached_property
    def steps(self) -> ChangeHistogram:
        return change_histogram(self.scorer.histogram)

    @property
    def bars(self) -> list[tuple[ChangeBar, str]]:
        """Each bar that stands for any case, leading nowhere."""
        return [(bar, "") for bar in self.steps.bars if bar.cases]


class CaseList(NamedTuple):
    """Cases of one kind, each as HTML, of `total`; `is_full` where the file left some out."""

    kind: PairKind
    cases: list[str]
    total: int
    is_full: bool


@dataclass
class CandidateReport:
    """A candidate beside the baseline, with its figures."""

    baseline: Run
    run: Run
    figures: Figures
    most: int
    budget: html_document.SizeBudget
    without: frozenset[int] = frozenset()

    @property
    def charts(self) -> Iterator[ScorerCharts]:
        """Of the scorers whose scores moved; of the others there is nothing to see."""
        for scorer in self.figures.scorers:
            if scorer.improved or scorer.regressed:
                yield ScorerCharts(scorer)

    @cached_property
    def lists(self) -> list[CaseList]:
        return [self._list(kind) for kind in (PairKind.BROKE, PairKind.FIXED)]

    def _list(self, kind: PairKind) -> CaseList:
        total = int(getattr(self.figures, kind.value))
        if not total:
            return CaseList(kind, [], 0, is_full=False)
        template = get_template("reports/_pair.html")
        cases = pair_cases(self.baseline, self.run, kind, self.most, self.without)
        parts = list(self.budget.filled(template.render({"case": case}) for case in cases))
        if self.without:  # their number would tell what became of the cases that are left out
            return CaseList(kind, parts, len(parts), is_full=False)
        return CaseList(kind, parts, total, is_full=len(parts) < min(total, self.most))


def pair_cases(
    baseline: Run, run: Run, kind: PairKind, most: int, without: frozenset[int] = frozenset()
) -> Iterator[PairCase]:
    """The first pairs of a kind in the candidate's order, but for those of the outputs `without`;
    four queries whatever their number, and two more for each run with several trials a case.
    """
    filters = NO_FILTERS.leave_out(without)
    both = [
        (pair, pair.baseline, pair.candidate)
        for pair in Pairs(baseline, run).page(kind, filters, size=most).rows
        if pair.baseline and pair.candidate
    ]
    before, after = [old.output for _, old, _ in both], [new.output for _, _, new in both]
    texts = read_cases([*before, *after])
    scores = _scores(baseline, before) | _scores(run, after)
    for pair, old, new in both:
        changes = _changes(scores, (baseline, old), (run, new))
        yield PairCase(pair, texts[old.output], texts[new.output], changes)


def comparison_report(
    baseline: Run,
    candidates: Sequence[tuple[Run, Figures]],
    *,
    address: str = "",
    without: frozenset[int] = frozenset(),
) -> str:
    """The file: the candidates with their figures, each with what broke and what was fixed.

    `address` is where the site shows the comparison, "" where that is not known. The cases of the
    outputs `without` are left out.
    """
    budget, most = html_document.SizeBudget(), max(MIN_CASES, MAX_CASES // len(candidates))
    runs = [baseline, *(run for run, _ in candidates)]
    context = {
        "baseline": baseline,
        "relabelled": Relabel.objects.of_runs(runs).values(),
        "candidates": [
            CandidateReport(baseline, run, figures, most, budget, without)
            for run, figures in candidates
        ],
        "dataset": baseline.output_set.version.dataset,
        "address": address,
        "left_out": len(without),
        "warned": collect_warnings([(run.name, figures.warnings) for run, figures in candidates]),
    }
    return html_document.render_document("reports/comparison.html", context)


def comparison_file_name(baseline: Run, runs: Sequence[Run]) -> str:
    dataset = baseline.output_set.version.dataset
    named = runs[0] if len(runs) == 1 else f"{len(runs)} runs"
    return html_document.file_name(dataset, named, "compared with", baseline)


_Scores = dict[tuple[int, int], dict[str, CaseScore]]  # by run and output, then by scorer's name


def _scores(run: Run, outputs: Sequence[int]) -> _Scores:
    named_by = find_trials(run, outputs)
    rows = Score.objects.filter(scorer__run=run, output__in=list(named_by)).defer("metadata_json")
    given: dict[int, dict[RunScorer, list[Score]]] = {}
    for row in rows.select_related("scorer").order_by("scorer__position", "output"):
        of_case = given.setdefault(named_by[row.output_id], {})
        of_case.setdefault(row.scorer, []).append(row)
    return {
        (run.pk, output): {
            scorer.name: _mean_score(scorer, scores) for scorer, scores in of_case.items()
        }
        for output, of_case in given.items()
    }


def _mean_score(scorer: RunScorer, trials: Sequence[Score]) -> CaseScore:
    scores = [trial.score for trial in trials if trial.score is not None]
    mean = reduce_scores(scores, "mean") if scores else None
    return CaseScore(mean, trials[0].get_status_display(), scorer.threshold)


def _changes(
    scores: _Scores, old: tuple[Run, RunSide], new: tuple[Run, RunSide]
) -> list[ScorerChange]:
    before, after = (scores.get((run.pk, half.output), {}) for run, half in (old, new))
    names = dict.fromkeys([*after, *before])
    return [ScorerChange(name, before.get(name), after.get(name)) for name in names]
