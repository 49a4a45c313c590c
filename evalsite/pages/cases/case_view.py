"""Everything that the page of one case shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evalsite.pages.cases.baseline_output import BaselineOutput
from evalsite.pages.cases.compared_texts import ComparedTexts, TextOptions
from evalsite.pages.cases.history import History
from evalsite.pages.cases.judgement import Judgement
from evalsite.pages.cases.labels import NEW, CaseLabel, RunLabels, label_case
from evalsite.pages.cases.texts.edits import TextEdit, text_edits
from evalsite.pages.cases.texts.row_limits import RowLimits
from scoring.engine.runs.missing_case import missing_case_reason
from scoring.models import CaseVerdict, Output, Run, RunScorer


@dataclass
class CaseView:
    """An output of a run with its case, compared with the `baseline` if there is one.

    `output` comes from `access.output_for`; its parts query what a template shows. Of the outputs
    in `hidden` the history tells nothing. `shown_labels` is NEW where the verdicts of later labels
    are shown in place of the stored ones.
    """

    run: Run
    output: Output
    baseline: BaselineOutput | None
    options: TextOptions
    row_limits: RowLimits
    has_whole_history: bool
    hidden: frozenset[int] = frozenset()
    shown_labels: str = ""

    @cached_property
    def scorers(self) -> Sequence[RunScorer]:
        return self.run.frozen_scorers

    @cached_property
    def texts(self) -> ComparedTexts:
        return ComparedTexts(self.run, self.output, self.scorers, self.baseline, self.options)

    @cached_property
    def judgement(self) -> Judgement:
        return Judgement(
            self.run,
            self.output,
            self.scorers,
            self.baseline,
            self.texts,
            self.row_limits,
            self.labels,
        )

    @cached_property
    def labels(self) -> RunLabels | None:
        """The later labels of the run; None without any."""
        return RunLabels.of(self.run, self.scorers, self.shown_labels)

    @cached_property
    def history(self) -> History:
        """The verdicts of the case in the run's series."""
        key, trial = self.output.case.key, self.output.trial
        is_later_shown = self.shown_labels == NEW
        return History(self.run, key, trial, self.has_whole_history, self.hidden, is_later_shown)

    @cached_property
    def verdict(self) -> str | None:
        """The label of the case's verdict; None until it is scored."""
        if verdict := self.history.verdict:
            return verdict
        case_verdict = CaseVerdict.objects.filter(
            run=self.run, position=self.output.case.position, trial=self.output.trial
        ).first()
        return case_verdict.get_verdict_display() if case_verdict else None

    @property
    def label(self) -> CaseLabel | None:
        """The verdict that is shown, and what the other label says; None until it is scored."""
        if self.verdict is None:
            return None
        is_later_shown = self.labels is not None and self.labels.is_shown
        later = self.judgement.later_verdict
        return label_case(self.verdict, later, is_later_shown=is_later_shown)

    @property
    def baseline_label(self) -> CaseLabel | None:
        """As `label`, of the baseline's output; its stored verdict is the one that counts."""
        verdict = self.baseline.verdict if self.baseline else None
        if verdict is None:
            return None
        later = self.judgement.later_baseline_verdict
        return label_case(verdict, later, is_later_shown=False)

    @cached_property
    def edits(self) -> list[TextEdit]:
        """How the case differs from the baseline's, which has another dataset version."""
        other = self.baseline.output if self.baseline else None
        return text_edits(other.case, self.output.case) if other else []

    @cached_property
    def missing_reason(self) -> str:
        """Why the baseline has no output of the case; "" where it has one."""
        if self.baseline is None or self.baseline.output:
            return ""
        return missing_case_reason(self.baseline.baseline, self.output.case.key, self.output.trial)
