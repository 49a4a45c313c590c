"""The report of a comparison: one baseline, its candidates, and what broke or was fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from django.template.loader import get_template

from scoring.core.compare_chart import Dot, Scatter, Step, Steps, scatter, steps
from scoring.core.shown import Shown
from scoring.engine.compare_warnings import gathered
from scoring.engine.figures import GRID, Figures, ScorerFigures
from scoring.engine.handout import document
from scoring.engine.handout.texts import SAID_ROOM, ReadCase, difference, read, text_beside
from scoring.models import Run, Score
from scoring.models.pair_rows import Half, Pair, PairKind
from scoring.models.pairs import Pairs

SHOWN: Final = 100  # cases of each list, parted among the candidates
FEWEST: Final = 10  # of each candidate's


class Change(NamedTuple):
    """One scorer's answers in both runs, None where it gave none."""

    name: str
    before: Score | None
    after: Score | None

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
    old: ReadCase
    new: ReadCase
    changes: Sequence[Change]

    @property
    def expected(self) -> Shown | None:
        return self.new.expected

    @property
    def before(self) -> Shown | None:
        return text_beside(self.old.said, self.new.said, SAID_ROOM)

    @property
    def after(self) -> Shown | None:
        return difference(self.old.said, self.new.said)


@dataclass
class ScorerCharts:
    """One scorer's charts, as the compare page's templates take them."""

    scorer: ScorerFigures

    @cached_property
    def scatter(self) -> Scatter:
        cells = [(cell.x, cell.y, cell.cases) for cell in self.scorer.scatter]
        return scatter(cells, GRID, self.scorer.thresholds)

    @property
    def dots(self) -> list[tuple[Dot, str]]:
        """Each dot, leading nowhere."""
        return [(dot, "") for dot in self.scatter.dots]

    @cached_property
    def steps(self) -> Steps:
        return steps(self.scorer.histogram)

    @property
    def bars(self) -> list[tuple[Step, str]]:
        """Each bar that stands for any case, leading nowhere."""
        return [(bar, "") for bar in self.steps.bars if bar.cases]


class CaseList(NamedTuple):
    """Cases of one kind, each as HTML, of `total`; `is_full` where the file left some out."""

    kind: PairKind
    cases: list[str]
    total: int
    is_full: bool


@dataclass
class Beside:
    """A candidate beside the baseline, with its figures."""

    baseline: Run
    run: Run
    figures: Figures
    most: int
    room: document.Room

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
        found = pair_cases(self.baseline, self.run, kind, self.most)
        kept = list(self.room.filled(_set(case) for case in found))
        return CaseList(kind, kept, total, is_full=len(kept) < min(total, self.most))


def pair_cases(baseline: Run, run: Run, kind: PairKind, most: int) -> Iterator[PairCase]:
    """The first pairs of a kind in the candidate's order; three queries whatever their number."""
    pairs = Pairs(baseline, run).page(kind, size=most).rows
    halves = [(pair, pair.baseline, pair.candidate) for pair in pairs]
    both = [(pair, old, new) for pair, old, new in halves if old and new]
    outputs = [half.output for _, old, new in both for half in (old, new)]
    texts, scores = read(outputs), _scores(outputs, baseline, run)
    for pair, old, new in both:
        changes = _changes(scores, (baseline, old), (run, new))
        yield PairCase(pair, texts[old.output], texts[new.output], changes)


def comparison_report(
    baseline: Run, told: Sequence[tuple[Run, Figures]], *, address: str = ""
) -> str:
    """The file: the candidates with their figures, each with what broke and what was fixed.

    `address` is where the site shows the comparison, "" where that is not known.
    """
    room, most = document.Room(), max(FEWEST, SHOWN // len(told))
    beside = [Beside(baseline, run, figures, most, room) for run, figures in told]
    dataset = baseline.output_set.version.dataset
    context = {
        "baseline": baseline,
        "beside": beside,
        "dataset": dataset,
        "address": address,
        "warned": gathered([(run.name, figures.warnings) for run, figures in told]),
    }
    return document.document("report/comparison.html", context)


def comparison_file_name(baseline: Run, runs: Sequence[Run]) -> str:
    dataset = baseline.output_set.version.dataset
    named = runs[0] if len(runs) == 1 else f"{len(runs)} runs"
    return document.file_name(dataset, named, "compared with", baseline)


_Scores = dict[tuple[int, int], dict[str, Score]]  # by run and output, then by the scorer's name


def _scores(outputs: Sequence[int], *runs: Run) -> _Scores:
    found: _Scores = {}
    scores = Score.objects.filter(scorer__run__in=runs, output__in=outputs).defer("metadata_json")
    for score in scores.select_related("scorer").order_by("scorer__position"):
        found.setdefault((score.scorer.run_id, score.output_id), {})[score.scorer.name] = score
    return found


def _changes(scores: _Scores, old: tuple[Run, Half], new: tuple[Run, Half]) -> list[Change]:
    before, after = (scores.get((run.pk, half.output), {}) for run, half in (old, new))
    names = dict.fromkeys([*after, *before])
    return [Change(name, before.get(name), after.get(name)) for name in names]


def _set(case: PairCase) -> str:
    return get_template("report/_pair.html").render({"case": case})
