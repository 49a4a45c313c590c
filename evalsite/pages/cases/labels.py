"""The two labels of a run: its stored verdicts, and those by later thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from scoring.core.explain.explanation import LaterVerdict
from scoring.models import Relabel, Run, RunScorer, Score, Verdict
from scoring.models.case_list.table import CaseRow
from scoring.models.runs.score import ScoreRow

NEW: Final = "new"  # the value of `labels` that shows the later ones
NEW_LABELS: Final = f"?labels={NEW}"


class CaseLabel(NamedTuple):
    """The verdict that is shown of a case, and what the other label says if it differs."""

    verdict: str
    other: str


@dataclass(frozen=True)
class RunLabels:
    """The later labels of a run, and whether they are shown in place of the stored ones.

    `scorers` are all of the run's.
    """

    relabel: Relabel
    scorers: Sequence[RunScorer]
    is_shown: bool

    @classmethod
    def of(cls, run: Run, scorers: Sequence[RunScorer], labels: str) -> RunLabels | None:
        """None for a run without later labels."""
        relabel = Relabel.objects.latest_of(run)
        return cls(relabel, scorers, labels == NEW) if relabel else None

    def label_case(self, row: CaseRow) -> CaseLabel:
        """Of a row, which has a score, or None, for each of the scorers."""
        pairs = zip(self.scorers, row.scores, strict=True)
        scores = [(scorer.name, score) for scorer, score in pairs if score]
        later = self.relabel.case_verdict(scores).label if scores else row.verdict
        return label_case(row.verdict, later, is_later_shown=self.is_shown)

    def shown_threshold(self, scorer: RunScorer) -> float:
        """The one by which verdicts are shown."""
        later: float = self.relabel.thresholds.get(scorer.name, scorer.threshold)
        return later if self.is_shown else scorer.threshold

    def shown_verdict(self, scorer: RunScorer, score: Score | ScoreRow) -> Verdict | None:
        """Of one score, as it is shown; None where there is none."""
        if self.is_shown:
            return self.relabel.verdict_of(scorer.name, score)
        return None if score.verdict is None else Verdict(score.verdict)

    def later_verdict(self, scorer: RunScorer, score: Score) -> LaterVerdict | None:
        """Of a score, as its explanation has it; None unless another threshold is shown."""
        threshold = self.relabel.thresholds.get(scorer.name)
        verdict = self.relabel.verdict_of(scorer.name, score)
        if not self.is_shown or threshold is None or verdict is None:
            return None
        return LaterVerdict(threshold, verdict.label)

    def text_of(self, scorer: RunScorer, score: Score | None) -> str:
        """What the label that is not shown says of a score; empty for a threshold that stays."""
        threshold = self.relabel.thresholds.get(scorer.name)
        if threshold is None or score is None or score.verdict is None:
            return ""
        if self.is_shown:
            return f"scored as {Verdict(score.verdict).label} at {scorer.threshold:g}"
        verdict = self.relabel.verdict_of(scorer.name, score)
        return f"re-labelled {verdict.label} at {threshold:g}" if verdict is not None else ""


def label_case(stored: str, later: str | None, *, is_later_shown: bool) -> CaseLabel:
    """From both verdicts of a case; `later` is None where its run has no later labels."""
    if later is None or later == stored:
        return CaseLabel(stored, "")
    if is_later_shown:
        return CaseLabel(later, f"scored as {stored}")
    return CaseLabel(stored, f"re-labelled {later}")
