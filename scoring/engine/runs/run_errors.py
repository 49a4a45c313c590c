"""What many errors mean for a finished run, and what mends them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from scoring.core.explain.result_codes import code_meaning
from scoring.core.wording.numbers import plain_share
from scoring.models import Run, RunScorer, RunState, RunSummary, Team
from scoring.models.prepared_query import prepared_query
from scoring.models.runs.run import MAX_ERROR_SHARE

#: Codes of errors that stay however often the case is scored by the same scorers.
LASTING: Final = frozenset({"no_output", "generation_failed", "config_error"})
#: Codes that a connection's settings mend.
OF_CONNECTION: Final = frozenset(
    {"connection_missing", "no_key", "key_refused", "model_missing", "not_an_api"}
)


@dataclass(frozen=True)
class RunErrors:
    """The errors of a run that has more of them than its figures bear; `codes` by number of errors,
    the most frequent first.

    `scorer` has them where they hide behind verdicts: a case that fails by one scorer fails,
    whatever errors others have.
    """

    run: Run
    codes: Sequence[str]
    scorer: RunScorer | None = None

    @property
    def case_count(self) -> int:
        """How many cases have an error."""
        return self.scorer.summary.errors if self.scorer else self.run.error_count or 0

    @property
    def is_total(self) -> bool:
        return self.scorer is None and self.run.has_only_errors

    @property
    def cause(self) -> str:
        """What the most frequent error means; "" for one that only a custom scorer knows."""
        return code_meaning(self.codes[0]) if self.codes else ""

    @property
    def is_of_connection(self) -> bool:
        """Whether a connection's settings are the cause."""
        return bool(self.codes) and self.codes[0] in OF_CONNECTION

    @property
    def remedy(self) -> str:
        """What to do once the cause is mended; "" where scoring again gives the same errors."""
        if not self.codes or self.codes[0] in LASTING:
            return ""
        return f"Then retry {_cases(self.case_count)}."

    @property
    def sentence(self) -> str:
        cases, over = self.run.case_count or 0, f"over {plain_share(MAX_ERROR_SHARE)}"
        if self.scorer:
            count = f"{self.case_count:,} of {_cases(self.scorer.summary.n)}"
            said = f"{self.scorer.name} could not score {count}, {over}."
        elif self.is_total:
            said = f"{'The only case' if cases == 1 else f'All {cases:,} cases'} ended in an error."
        else:
            said = f"{self.case_count:,} of {_cases(cases)} ended in an error, {over}."
            said += " Figures are of what was scored alone."
        return " ".join(filter(None, (said, self.cause, self.remedy)))


def find_run_errors(run: Run, scorers: Iterable[RunScorer] | None = None) -> RunErrors | None:
    """None where the run has no more errors than its figures bear.

    One query unless the run's `scorers` are given, with their summaries.
    """
    joined = run.scorers.with_summary() if scorers is None else scorers
    summed = [scorer for scorer in joined if hasattr(scorer, "summary")]
    if run.has_many_errors:
        counts = Counter[str]()
        for scorer in summed:
            counts.update(scorer.summary.error_causes)
        return RunErrors(run, _ranked(counts))
    worst = max(summed, key=lambda scorer: scorer.summary.errors, default=None)
    if worst is None or worst.summary.errors <= MAX_ERROR_SHARE * worst.summary.n:
        return None
    return RunErrors(run, _ranked(Counter(worst.summary.error_causes)), worst)


def find_failed_runs(team: Team, most: int) -> list[RunErrors]:
    """The latest runs of which every case has an error and after which no run of their series has
    scored anything. One query, and two more where there are any.
    """
    found = _failed_runs(team.pk, limit=most)
    if not found:
        return []
    rows = Run.objects.filter(pk__in=found).select_related("output_set__version__dataset")
    latest = {run.pk: run for run in rows.order_by("-pk")}
    counts: dict[int, Counter[str]] = {pk: Counter() for pk in latest}
    summaries = RunSummary.objects.filter(scorer__run__in=latest)
    for pk, causes in summaries.values_list("scorer__run", "error_causes"):
        counts[pk].update(causes)
    return [RunErrors(run, _ranked(counts[pk])) for pk, run in latest.items()]


@prepared_query
def _failed_runs(team: int, *, limit: int) -> QuerySet[Run, int]:
    """Their ids, newest first."""
    scored = Q(pass_count__gt=0) | Q(fail_count__gt=0)
    later = Run.objects.filter(
        scored,
        pk__gt=OuterRef("pk"),
        output_set__version__dataset=OuterRef("output_set__version__dataset"),
        output_set__series=OuterRef("output_set__series"),
    )
    counts = {"pass_count": 0, "fail_count": 0, "skipped_count": 0, "error_count__gt": 0}
    finished = Run.objects.unarchived().filter(team=team, state=RunState.FINISHED)
    failed = finished.filter(~Exists(later), **counts)
    return failed.order_by("-pk").values_list("pk", flat=True)[:limit]


def _ranked(counts: Counter[str]) -> list[str]:
    return [code for code, _ in counts.most_common()]


def _cases(count: int) -> str:
    return f"{count:,} case{'s' * (count != 1)}"
