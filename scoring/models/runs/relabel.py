"""Verdicts of a run by other thresholds than it was scored with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from django.db import models

from scoring.core.json_text import to_text
from scoring.models.base import AddressedRow
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.result_rows import RANK, VERDICT_OF_RANK
from scoring.models.runs.run import Run
from scoring.models.runs.score import Score, ScoreRow, Status, Verdict
from scoring.models.team.team import User

FIXED_ZERO: Final = 0.0  # with a code it fails whatever the threshold


class RelabelQuerySet(models.QuerySet["Relabel"]):
    def latest_of(self, run: Run) -> Relabel | None:
        """The one that counts, with its author joined; None for a run without any.

        Only a run of a suite can have one: no query for others.
        """
        if not run.suite_name:
            return None
        return _latest_relabels.first(run.pk)

    def of_runs(self, runs: Iterable[Run]) -> dict[int, Relabel]:
        """By the run's id those that count, of runs that have any.

        One query, none where no run is of a suite.
        """
        of_suites = {run.pk: run for run in runs if run.suite_name}
        if not of_suites:
            return {}
        found = {relabel.run_id: relabel for relabel in _relabels_in_force(list(of_suites))}
        for pk, relabel in found.items():
            relabel.run = of_suites[pk]
        return found

    def in_force(self) -> Self:
        """Of each run the one that counts."""
        later = self.model.objects.filter(run=models.OuterRef("run"), pk__gt=models.OuterRef("pk"))
        return self.exclude(models.Exists(later))


@prepared_query
def _latest_relabels(run: int) -> models.QuerySet[Relabel]:
    return Relabel.objects.filter(run=run).select_related("created_by").order_by("-id")[:1]


@prepared_query
def _relabels_in_force(runs: Sequence[int]) -> models.QuerySet[Relabel]:
    return Relabel.objects.in_force().filter(run__pk__in=runs).select_related("created_by")


class Relabel(AddressedRow):
    """The verdicts of a run by later thresholds. The latest one of a run counts.

    Scores and stored verdicts stay what they are; what compares, gates and alerts reads those.
    `thresholds` has, by the name of the scorer in the run, the ones that differ from the run's, and
    `passed` how many cases pass by them. The counts are of case verdicts.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="relabels")
    thresholds = models.JSONField()
    passed = models.JSONField()
    pass_count = models.PositiveIntegerField()
    fail_count = models.PositiveIntegerField()
    error_count = models.PositiveIntegerField()
    skipped_count = models.PositiveIntegerField()
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = RelabelQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.run}: {self.text}"

    @property
    def text(self) -> str:
        """The thresholds in words, such as "close 0.7, same 1"."""
        named = sorted(self.thresholds.items())
        return ", ".join(f"{name} {to_text(value)}" for name, value in named)

    @property
    def verdict_counts(self) -> dict[str, int]:
        """How many cases have each verdict, by its name."""
        return {
            "pass": self.pass_count,
            "fail": self.fail_count,
            "error": self.error_count,
            "skipped": self.skipped_count,
        }

    @property
    def sentence(self) -> str:
        """What a report of the run says of them beside its figures, which are as scored."""
        counts = ", ".join(f"{count:,} {name}" for name, count in self.verdict_counts.items())
        return f"re-labelled with {self.text}: {counts}; everything else here is as scored"

    @property
    def comparison_sentence(self) -> str:
        """What a comparison says of the run."""
        return (
            f"{self.run.name} is re-labelled with {self.text}; this comparison uses its verdicts "
            "as scored"
        )

    def verdict_of(self, scorer: str, score: Score | ScoreRow) -> Verdict | None:
        """The verdict of a score by the scorer of this name; None where it has no score."""
        return self.verdict_by(scorer, score.score, score.verdict, score.code)

    def verdict_by(
        self, scorer: str, score: float | None, verdict: int | None, code: str
    ) -> Verdict | None:
        """As `verdict_of`, from the columns of the score."""
        if score is None or verdict is None:
            return None
        threshold = self.thresholds.get(scorer)
        if threshold is None:
            return Verdict(verdict)
        is_forced = score == FIXED_ZERO and code != ""
        return Verdict.PASS if score >= threshold and not is_forced else Verdict.FAIL

    def case_verdict(self, scores: Iterable[tuple[str, Score | ScoreRow]]) -> Verdict:
        """The verdict of an output from all its scores, each with the name of its scorer."""
        return combine_verdicts(
            (score.status, self.verdict_of(name, score)) for name, score in scores
        )


def attach_later_labels(runs: Sequence[Run]) -> None:
    """Give each of the runs `later_labels`, None where it has none.

    One query, none where no run is of a suite.
    """
    relabels = Relabel.objects.of_runs(runs)
    for run in runs:
        run.later_labels = relabels.get(run.pk)


def combine_verdicts(scores: Iterable[tuple[int, Verdict | None]]) -> Verdict:
    """The verdict of an output from status and verdict of all its scores."""
    ranks = [RANK[status, verdict] for status, verdict in scores]
    return VERDICT_OF_RANK[max(ranks, default=RANK[Status.SKIPPED, None])]


def describe_relabel(relabel: Relabel | None) -> dict[str, Any] | None:
    """The later labels of a run, as its `relabel` has them everywhere; None without any."""
    if relabel is None:
        return None
    return {
        "thresholds": relabel.thresholds,
        "verdicts": relabel.verdict_counts,
        "passed": relabel.passed,
        "by": str(relabel.created_by) if relabel.created_by else None,
        "created_at": relabel.created_at.isoformat().replace("+00:00", "Z"),
    }
