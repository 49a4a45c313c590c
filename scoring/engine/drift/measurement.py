"""Measures what a drift page shows of a run besides its summaries, and stores it.

The worker does that when a run has finished. What is missing or out of date later, because a run
was scored again, came late or another baseline was pinned, is measured by the next call.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Left, Length

from scoring.core.stats.text_drift import MAX_CHARACTERS, mean_similarity, sample_positions
from scoring.core.stats.trials import CaseTrials, reduce_trials
from scoring.engine.drift.levels import SeriesJudge
from scoring.engine.drift.reference import ReferenceRun, reference_runs
from scoring.engine.runs.tag_index import store_tag_index
from scoring.engine.runs.trial_figures import read_trials
from scoring.models import (
    Case,
    Dataset,
    Output,
    OutputSet,
    Run,
    RunDrift,
    RunScorer,
    RunStep,
    Score,
)
from scoring.models.pairs.flips import count_flips, count_scorer_flips
from scoring.models.runs.run_drift import runs_in_time, steps_into

MAX_TAGS: Final = 20

Pair = tuple[Run, Run]
OnMeasured = Callable[[int, int], None]


def measure_series(
    dataset: Dataset, series: str, tell: OnMeasured = lambda _done, _total: None
) -> int:
    """Measure what is missing of the series, and return how many rows were written.

    `tell` is called after each of them with their number so far and in all.
    """
    scorers = list(runs_in_time(dataset, series=[series]))
    if not scorers:
        return 0
    reference = reference_runs(dataset, [series])[series]
    runs = list({scorer.run_id: scorer.run for scorer in scorers}.values())
    stale = [run for run in runs if not _is_measured(run, reference.output_set)]
    lines, stored = split_lines(scorers), steps_into(runs)
    steps = [
        (before, after)
        for before, after in {*_neighbours(lines), *_step_from_pinned(scorers, reference)}
        if not ((step := stored.get((before.pk, after.pk))) and step.holds_for(before, after))
    ]
    levels = SeriesJudge(dataset, series, lines)
    tasks: list[Callable[[], None]] = [
        *(partial(_measure_run, run, reference.output_set) for run in stale),
        *(partial(_measure_step, *step) for step in steps),
        *[levels.judge_next] * max(0, levels.missing - 1),
        *[levels.finish] * bool(levels.missing),
    ]
    for done, task in enumerate(tasks, 1):
        task()
        tell(done, len(tasks))
    return len(tasks)


def _is_measured(run: Run, reference: int) -> bool:
    """Whether the run's figures are complete and up to date; `drift` is joined."""
    drift = _fresh_drift(run)
    return drift is not None and drift.commonest is not None and drift.reference_id == reference


def _fresh_drift(run: Run) -> RunDrift | None:
    """The run's figures, unless it has been scored again since."""
    drift: RunDrift | None = getattr(run, "drift", None)
    return drift if drift and drift.run_finished_at == run.finished_at else None


def _drop_repeated(scorers: Sequence[RunScorer]) -> list[RunScorer]:
    """Of runs over the same outputs, which are one point in time, only the newest one."""
    newest: dict[int, int] = {}
    for scorer in scorers:
        outputs = scorer.run.output_set.identity
        newest[outputs] = max(newest.get(outputs, 0), scorer.run_id)
    return [scorer for scorer in scorers if newest[scorer.run.output_set.identity] == scorer.run_id]


def split_lines(scorers: Sequence[RunScorer]) -> list[list[RunScorer]]:
    """The scorers of one series as lines, one for each name."""
    by_name: dict[str, list[RunScorer]] = defaultdict(list)
    for scorer in scorers:
        by_name[scorer.name].append(scorer)
    return [_drop_repeated(line) for line in by_name.values()]


def _neighbours(lines: Sequence[Sequence[RunScorer]]) -> Iterator[Pair]:
    """The runs that follow each other on any of the lines."""
    for line in lines:
        for before, after in pairwise(line):
            yield before.run, after.run


def _step_from_pinned(scorers: Sequence[RunScorer], reference: ReferenceRun) -> Iterator[Pair]:
    """The pinned run and the latest of its series, which home pages compare."""
    latest = _drop_repeated(scorers)[-1].run
    pinned = (scorer.run for scorer in scorers if scorer.run_id == reference.run)
    before = next(pinned, None) if reference.is_pinned else None
    if before and before != latest:
        yield before, latest


def _measure_step(before: Run, after: Run) -> None:
    figures: dict[str, Any] = {
        "before_finished_at": before.finished_at,
        "after_finished_at": after.finished_at,
        **count_flips(before, after)._asdict(),
        "scorers": count_scorer_flips(before, after),
    }
    RunStep.objects.update_or_create(before=before, after=after, defaults=figures)


def _measure_run(run: Run, reference: int) -> None:
    drift = _fresh_drift(run)
    figures: dict[str, Any] = {
        "run_finished_at": run.finished_at,
        "tags": drift.tags if drift else tag_figures(run),
        **text_figures(run.output_set, OutputSet.objects.get(pk=reference)),
    }
    RunDrift.objects.update_or_create(run=run, defaults=figures)
    store_tag_index(run.output_set.version)


def text_figures(outputs: OutputSet, reference: OutputSet) -> dict[str, Any]:
    """The fields of RunDrift about texts. Long texts of equal length that begin alike count as
    equal.
    """
    positions = sample_positions(outputs.version.case_count)
    sample = _texts(outputs).filter(case__position__in=positions)
    texts = {key: (start, length) for key, start, length in sample}
    others = _texts(reference).filter(case__key__in=list(texts))
    pairs = [(texts[key][0], start) for key, start, _ in others]
    return {
        "reference": reference,
        "similarity": mean_similarity(pairs),
        "compared": len(pairs),
        "sampled": len(texts),
        "distinct": len(set(texts.values())),
        "commonest": max(Counter(texts.values()).values(), default=0),
    }


def _texts(outputs: OutputSet) -> QuerySet[Output, tuple[str, str, int]]:
    """Key, beginning and length of each text of the first trial."""
    rows = Output.objects.filter(
        output_set=outputs, case__version=outputs.version_id, trial=0, text__isnull=False
    )
    return rows.values_list("case__key", Left("text", MAX_CHARACTERS), Length("text"))


def tag_figures(run: Run) -> dict[str, dict[str, list[Any]]]:
    """[n, mean, pass rate] of the scored cases, by scorer name and tag."""
    tags = common_tags(run.output_set.version_id)
    scorers = run.scorers.with_summary() if tags else []
    return {
        scorer.name: _tried_by_tag(run, scorer, tags)
        if scorer.summary.trials
        else _by_tag(scorer, tags)
        for scorer in scorers
    }


def common_tags(version: int) -> list[str]:
    """The tags that most cases of a dataset version have, the commonest first."""
    cases = Case.objects.filter(version=version).exclude(tags_json="[]")
    groups = cases.order_by().values_list("tags_json").annotate(Count("pk"))
    counts: Counter[str] = Counter()
    for tags, count in groups:
        counts.update(dict.fromkeys(json.loads(tags), count))
    return sorted(counts, key=lambda tag: (-counts[tag], tag))[:MAX_TAGS]


def _tried_by_tag(run: Run, scorer: RunScorer, tags: Sequence[str]) -> dict[str, list[Any]]:
    """Where cases have several trials, of which the mean score counts."""
    tried = read_trials(scorer)
    cases = Case.objects.filter(version=run.output_set.version_id).exclude(tags_json="[]")
    of_tag: dict[str, list[CaseTrials]] = {tag: [] for tag in tags}
    for pk, tags_json in cases.values_list("pk", "tags_json").iterator():
        if (case := tried.cases.get(pk)) and case.scores:
            for tag in set(json.loads(tags_json)) & of_tag.keys():
                of_tag[tag].append(case)
    means = {
        tag: reduce_trials(cases, "mean", scorer.threshold)
        for tag, cases in of_tag.items()
        if cases
    }
    return {
        tag: [found.n, found.total / found.n, (found.passed or 0) / found.n]
        for tag, found in means.items()
    }


def _by_tag(scorer: RunScorer, tags: Sequence[str]) -> dict[str, list[Any]]:
    scores = Score.objects.filter(scorer=scorer, score__isnull=False)
    tagged = scores.exclude(output__case__tags_json="[]").order_by()
    groups = tagged.values_list("output__case__tags_json").annotate(
        Count("pk"), Sum("score"), Sum("verdict")
    )
    sums = {tag: [0, 0.0, 0] for tag in tags}
    for tags_json, *figures in groups.iterator():
        for tag in set(json.loads(tags_json)) & sums.keys():
            sums[tag] = [one + other for one, other in zip(sums[tag], figures, strict=True)]
    return {tag: [n, total / n, (n - failed) / n] for tag, (n, total, failed) in sums.items() if n}
