"""How the scorers of a run judge one output: scores, explanations and what JSON leaves score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from django.db.models import QuerySet

from evalsite import access
from evalsite.pages.cases.baseline_output import BaselineOutput, ScorePair, pair_scores
from evalsite.pages.cases.compared_texts import ComparedTexts
from evalsite.pages.cases.labels import RunLabels
from evalsite.pages.cases.texts.json_leaves import (
    LeafScores,
    find_leaf_scores,
    remove_leaves,
)
from evalsite.pages.cases.texts.json_paths import PathTable, build_path_table
from evalsite.pages.cases.texts.row_limits import RowLimits
from scoring.core.explain.explanation import Explanation, explain
from scoring.core.explain.json_inside import JSON, find_json_inside
from scoring.models import ModelCall, Output, Relabel, Run, RunScorer, Score, ScorerVersion
from scoring.models.prepared_query import prepared_query


class ScorerAnswer(NamedTuple):
    """A scorer's score of the output, None before it is scored, and the explanation.

    `verdict` and `threshold` are those of the label that is shown, `other` says the other one.
    `json_inside` says where the output holds JSON that the scorer could extract, "" nowhere.
    """

    scorer: RunScorer
    score: Score | None
    explanation: Explanation | None
    threshold: float = 0.0
    verdict: str = ""
    other: str = ""
    json_inside: str = ""

    @property
    def extracting_version(self) -> ScorerVersion | None:
        """The scorer's present version, where that extracts the JSON already."""
        current = self.scorer.version.scorer.current
        return current if current and current.config.get("extract") == JSON else None


@dataclass
class Judgement:
    """The scores of an output, with those of the baseline's output if there is one.

    `labels` are the later ones of the run; None without any.
    """

    run: Run
    output: Output
    scorers: Sequence[RunScorer]
    baseline: BaselineOutput | None
    texts: ComparedTexts
    row_limits: RowLimits
    labels: RunLabels | None = None

    #: The two texts that JSON scorers compare.
    scored_sides: ClassVar = ("expected", "output")

    @cached_property
    def answers(self) -> list[ScorerAnswer]:
        """Each scorer's answer in the run's order, without leaves that the path table shows."""
        shown = {leaves.scorer for leaves in self.leaves}
        return [
            answer._replace(
                explanation=answer.explanation
                and remove_leaves(shown, answer.scorer.name, answer.explanation)
            )
            for answer in self._full_answers
        ]

    @property
    def later_verdict(self) -> str | None:
        """The verdict of the case by the later labels of the run; None without any."""
        return self._later_verdict_in(self.run, self.labels.relabel if self.labels else None)

    @cached_property
    def later_baseline_verdict(self) -> str | None:
        """As `later_verdict`, of the baseline's output."""
        if self.baseline is None:
            return None
        run = self.baseline.baseline
        return self._later_verdict_in(run, Relabel.objects.latest_of(run))

    def _later_verdict_in(self, run: Run, relabel: Relabel | None) -> str | None:
        scores = list(self._scores[run.pk].items())
        return relabel.case_verdict(scores).label if relabel and scores else None

    @cached_property
    def _full_answers(self) -> list[ScorerAnswer]:
        scores = self._scores[self.run.pk]
        return [self._answer(scorer, scores.get(scorer.name)) for scorer in self.scorers]

    def _answer(self, scorer: RunScorer, score: Score | None) -> ScorerAnswer:
        if score is None:
            return ScorerAnswer(scorer, None, None)
        version, case = scorer.version, self.texts.scored_case
        later = self.labels.later_verdict(scorer, score) if self.labels else None
        explanation = explain(
            version.type, version.config, scorer.threshold, case, score.result, later
        )
        if self.output.text is None:  # the page shows the output's error once for all scorers
            explanation = explanation._replace(found=())
        json_inside = find_json_inside(version.type, version.config, case.output, score.code)
        if self.labels is None:
            verdict = score.get_verdict_display() if score.verdict is not None else ""
            return ScorerAnswer(
                scorer, score, explanation, scorer.threshold, verdict, json_inside=json_inside
            )
        shown = self.labels.shown_verdict(scorer, score)
        return ScorerAnswer(
            scorer,
            score,
            explanation,
            self.labels.shown_threshold(scorer),
            shown.label if shown is not None else "",
            self.labels.text_of(scorer, score),
            json_inside,
        )

    @cached_property
    def replies(self) -> dict[str, ModelCall]:
        """The stored model replies that the scores rest on, by their names."""
        names = [name for answer in self.answers for name in _reply_names(answer.explanation)]
        return access.replies_for(self.run, names)

    @cached_property
    def score_pairs(self) -> list[ScorePair]:
        """Each scorer's scores in both runs; empty without a baseline."""
        if self.baseline is None:
            return []
        before, after = (self._scores[run.pk] for run in (self.baseline.baseline, self.run))
        return pair_scores(self.scorers, before, after)

    @cached_property
    def _scores(self) -> dict[int, dict[str, Score]]:
        """By run and scorer, of this run and of the baseline; one query."""
        runs, outputs = [self.run], [self.output]
        if self.baseline:
            runs.append(self.baseline.baseline)
            outputs += [self.baseline.output] if self.baseline.output else []
        by_run: dict[int, dict[str, Score]] = {run.pk: {} for run in runs}
        for score in _scores_of([run.pk for run in runs], [output.pk for output in outputs]):
            by_run[score.scorer.run_id][score.scorer.name] = score
        return by_run

    @cached_property
    def leaves(self) -> list[LeafScores]:
        """What leaves score, for scorers all of whose leaves have a path in the texts."""
        structures = self.texts.structures
        if not {"expected", "output"} <= set(structures):
            return []
        index = list(structures).index("expected")
        expected = {path: leaves[index] for path, leaves in self.texts.path_rows}
        output = structures["output"]
        return [
            leaves
            for answer in self._full_answers
            if answer.explanation
            for leaves in find_leaf_scores(answer.scorer.name, answer.explanation, output, expected)
        ]

    @property
    def paths(self) -> PathTable:
        """The texts as JSON, path by path, with what the leaves score."""
        return self._path_table(list(self.texts.structures), self.texts.side_names)

    @property
    def leaf_paths(self) -> PathTable:
        """`paths` of the two texts that are scored."""
        return self._path_table(self.scored_sides, self.scored_sides)

    def _path_table(self, names: Sequence[str], sides: tuple[str, str]) -> PathTable:
        rows = self.texts.path_rows_of(names)
        return build_path_table(names, rows, sides, self.leaves, self.row_limits)


@prepared_query
def _scores_of(runs: Sequence[int], outputs: Sequence[int]) -> QuerySet[Score]:
    scores = Score.objects.filter(scorer__run__pk__in=runs, output__pk__in=outputs)
    return scores.select_related("scorer").order_by("scorer__position")


def _reply_names(explanation: Explanation | None) -> Iterator[str]:
    """The names of a judge's replies, in any part of a combination."""
    if explanation and explanation.judgement:
        yield from explanation.judgement.refs
    for child in explanation.children if explanation else ():
        yield from _reply_names(child.explanation)
