"""Pairwise review: which of two outputs for the same case people prefer, shown without names."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from django.db.models import Count, F, QuerySet, Sum

from scoring.core.stats.preferences import WinCounts, count_wins
from scoring.models import (
    Dataset,
    Output,
    OutputSet,
    Preference,
    PreferenceVerdict,
    ReviewQueue,
    ReviewTask,
    Run,
    User,
)
from scoring.models.reviews.queue import may_have_tasks

_BATCH: Final = 500  # pairs whose texts are compared at once
#: The key of each choice, from the left: left is better, the same, right is better.
CHOICES: Final = ("left", "same", "right")


class OutputPair(NamedTuple):
    """Two outputs for one case as one person is shown them; `is_swapped`: the candidate's right."""

    candidate: Output
    baseline: Output
    is_swapped: bool

    @property
    def left(self) -> Output:
        return self.baseline if self.is_swapped else self.candidate

    @property
    def right(self) -> Output:
        return self.candidate if self.is_swapped else self.baseline

    def verdict_of(self, choice: str) -> PreferenceVerdict:
        """What a choice of CHOICES says of the candidate's output."""
        if choice == "same":
            return PreferenceVerdict.SAME
        is_candidate = (choice == "right") == self.is_swapped
        return PreferenceVerdict.BETTER if is_candidate else PreferenceVerdict.WORSE

    def choice_of(self, verdict: int) -> str:
        """The choice that says this verdict."""
        return next(choice for choice in CHOICES if self.verdict_of(choice) == verdict)


class PreferenceResults(NamedTuple):
    """Wins of a run over another and, where there are more of them, of its series."""

    run: WinCounts
    series: WinCounts | None
    is_hidden: bool


def task_pair(queue: ReviewQueue, task: ReviewTask) -> OutputPair | None:
    """The two outputs of a task of a pairwise queue; None where the baseline's is gone.

    The order is drawn for each person and output from the queue's seed, so that it stays.
    """
    assert queue.baseline is not None  # noqa: S101  a pairwise queue has one
    other = find_counterpart(task.output, queue.baseline)
    if other is None:
        return None
    return OutputPair(task.output, other, is_swapped(queue, task.output_id, task.reviewer_id))


def is_swapped(queue: ReviewQueue, output: int, reviewer: int | None) -> bool:
    """Whether the person is shown the candidate's output on the right, by their ids."""
    return random.Random(f"{queue.seed}/{output}/{reviewer}").random() < 0.5  # noqa: S311


def find_counterpart(output: Output, baseline: Run) -> Output | None:
    """The baseline's output for the same case and trial."""
    rows = Output.objects.filter(output_set=baseline.output_set_id, trial=output.trial)
    version = baseline.output_set.version_id
    return rows.filter(case__version=version, case__key=output.case.key).first()


def differing_outputs(baseline: Run, outputs: Sequence[int]) -> Iterator[int]:
    """Those of these outputs that the baseline answered otherwise for the same input."""
    for start in range(0, len(outputs), _BATCH):
        part = outputs[start : start + _BATCH]
        columns = ("case__key", "trial", "text", "case__input_json")
        rows = Output.objects.filter(pk__in=part).order_by()
        own = {pk: rest for pk, *rest in rows.values_list("pk", *columns)}
        others = Output.objects.filter(
            output_set=baseline.output_set_id,
            case__version=baseline.output_set.version_id,
            case__key__in={rest[0] for rest in own.values()},
        )
        found = {(k, t): (text, put) for k, t, text, put in others.values_list(*columns)}
        for output in part:
            key, trial, text, put = own[output]
            other, other_put = found.get((key, trial), (None, None))
            if text is not None and other is not None and text != other and put == other_put:
                yield output


def run_wins(run: Run, baseline: Run) -> WinCounts:
    """The candidate's wins over the baseline by all preferences between their outputs."""
    rows = Preference.objects.between(run, baseline)
    return count_wins(_sums(rows))


def series_wins(dataset: Dataset, series: str, baseline: str) -> WinCounts:
    """The wins of one series over another in all their runs, whichever was the candidate."""
    sets = OutputSet.objects.filter(version__dataset=dataset)
    own = list(sets.filter(series=series).values_list("pk", flat=True))
    others = list(sets.filter(series=baseline).values_list("pk", flat=True))
    forth = Preference.objects.between_sets(own, others)
    back = Preference.objects.between_sets(others, own)
    turned = [(-total, number) for total, number in _sums(back)]
    # Runs of one series are no opponents of each other: who won over whom depends on the day.
    return count_wins([*_sums(forth), *turned] if series != baseline else [])


def find_results(person: User, run: Run, baseline: Run | None) -> PreferenceResults | None:
    """What people prefer; hidden from whoever is still to say so, None where nobody has."""
    if baseline is None or not Preference.objects.exists():
        return None
    dataset = run.output_set.version.dataset
    of_runs = run_wins(run, baseline)
    of_series = series_wins(dataset, run.output_set.series, baseline.output_set.series)
    if not (of_runs.judgements or of_series.judgements):
        return None
    has_more = of_series.judgements > of_runs.judgements
    is_hidden = has_open_tasks(person, run, baseline)
    return PreferenceResults(of_runs, of_series if has_more else None, is_hidden)


def has_open_tasks(person: User, run: Run, baseline: Run) -> bool:
    """Whether the person is still to say which outputs of the two they prefer."""
    tasks = ReviewTask.objects.open().asked_of(person)
    of_pair = tasks.filter(
        queue__run__output_set=run.output_set_id, queue__baseline__output_set=baseline.output_set_id
    )
    return may_have_tasks(person) and of_pair.exists()


def _sums(rows: QuerySet[Preference]) -> list[tuple[int, int]]:
    """The sum of the judgements of each pair, and their number."""
    pairs = rows.order_by().values("candidate", "baseline")
    sums = pairs.annotate(total=Sum(F("verdict")), number=Count("pk"))
    return list(sums.values_list("total", "number"))
