"""Measures once what a drift page shows of a run besides its summaries, and keeps it.

Done by the worker when a run has finished. What is missing or out of date later, because a run
was scored again, came late or another baseline was pinned, is measured by the next call.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Left, Length

from scoring.core.text_drift import MOST_CHARACTERS, mean_similarity, sampled_positions
from scoring.engine.drift.reference import Reference, references_of
from scoring.engine.tag_places import keep_tag_places
from scoring.models import (
    Case,
    Dataset,
    Errand,
    Output,
    OutputSet,
    Run,
    RunDrift,
    RunScorer,
    RunStep,
    Score,
)
from scoring.models.drift import count_flips, count_scorer_flips, points_in_time, steps_into

MOST_TAGS: Final = 20

Pair = tuple[Run, Run]
Tell = Callable[[int, int], None]


def measure(dataset: Dataset, series: str, tell: Tell = lambda _done, _total: None) -> int:
    """Measure what is missing of the series; how many rows were written.

    `tell` is called after each of them, with how many there are and will be.
    """
    scorers = list(points_in_time(dataset, series=series))
    if not scorers:
        return 0
    reference = references_of(dataset)[series]
    runs = list({scorer.run_id: scorer.run for scorer in scorers}.values())
    stale = [run for run in runs if not holds(run, reference.output_set)]
    kept = steps_into(runs)
    steps = [
        (before, after)
        for before, after in {*neighbours(scorers), *from_pinned(scorers, reference)}
        if not ((step := kept.get((before.pk, after.pk))) and step.holds_for(before, after))
    ]
    todo = [
        *(partial(_measure_run, run, reference.output_set) for run in stale),
        *(partial(_measure_step, *step) for step in steps),
    ]
    for done, each in enumerate(todo, 1):
        each()
        tell(done, len(todo))
    return len(todo)


def done_errand(errand: Errand) -> dict[str, Any]:
    """Measure the series that an errand names; a dataset that is gone needs nothing.

    Until then the errand's answer is how far it is: {done, total, seconds_left}.
    """
    wanted, begun = errand.request, time.monotonic()

    def tell(done: int, total: int) -> None:
        left = (time.monotonic() - begun) / done * (total - done)
        errand.tell({"done": done, "total": total, "seconds_left": left})

    dataset = Dataset.objects.filter(team=errand.team, uuid=wanted["dataset"]).first()
    return {"written": measure(dataset, wanted["series"], tell) if dataset else 0}


def holds(run: Run, against: int) -> bool:
    """Whether what is kept of the run still holds; asks no database where `drift` is joined."""
    kept: RunDrift | None = getattr(run, "drift", None)
    return kept is not None and kept.against_id == against and is_fresh(kept, run)


def is_fresh(kept: RunDrift, run: Run) -> bool:
    """Whether the run has not been scored again since."""
    return kept.run_finished_at == run.finished_at


def latest_of_each(scorers: Sequence[RunScorer]) -> list[RunScorer]:
    """Of runs over the same outputs the newest, in the order given: they are one point in time."""
    newest: dict[int, int] = {}
    for scorer in scorers:
        outputs = scorer.run.output_set_id
        newest[outputs] = max(newest.get(outputs, 0), scorer.run_id)
    return [each for each in scorers if newest[each.run.output_set_id] == each.run_id]


def neighbours(scorers: Sequence[RunScorer]) -> list[Pair]:
    """The runs that follow each other on any line of these scorers of one series."""
    by_name: dict[str, list[RunScorer]] = defaultdict(list)
    for scorer in scorers:
        by_name[scorer.name].append(scorer)
    found: dict[tuple[int, int], Pair] = {}
    for line in by_name.values():
        for before, after in pairwise(latest_of_each(line)):
            found[before.run_id, after.run_id] = before.run, after.run
    return list(found.values())


def from_pinned(scorers: Sequence[RunScorer], reference: Reference) -> Iterator[Pair]:
    """The pinned run and the latest of its series, which a home page tells of."""
    latest = latest_of_each(scorers)[-1].run
    pinned = (each.run for each in scorers if each.run_id == reference.run)
    before = next(pinned, None) if reference.is_pinned else None
    if before and before != latest:
        yield before, latest


def _measure_step(before: Run, after: Run) -> None:
    seen = {"before_finished_at": before.finished_at, "after_finished_at": after.finished_at}
    scorers = {"scorers": count_scorer_flips(before, after)}
    figures: dict[str, Any] = {**seen, **count_flips(before, after)._asdict(), **scorers}
    RunStep.objects.update_or_create(before=before, after=after, defaults=figures)


def _measure_run(run: Run, against: int) -> None:
    kept: RunDrift | None = getattr(run, "drift", None)
    tags = kept.tags if kept and is_fresh(kept, run) else tag_figures(run)
    figures: dict[str, Any] = {
        "run_finished_at": run.finished_at,
        "tags": tags,
        **text_figures(run.output_set, OutputSet.objects.get(pk=against)),
    }
    RunDrift.objects.update_or_create(run=run, defaults=figures)
    keep_tag_places(run.output_set.version)


def text_figures(outputs: OutputSet, against: OutputSet) -> dict[str, Any]:
    """The fields of RunDrift about texts. Two long texts that begin alike count as one text
    where their lengths are equal.
    """
    positions = sampled_positions(outputs.version.case_count)
    mine = _texts(outputs).filter(case__position__in=positions)
    texts = {key: (start, length) for key, start, length in mine}
    theirs = {key: start for key, start, _ in _texts(against).filter(case__key__in=list(texts))}
    pairs = [(texts[key][0], start) for key, start in theirs.items()]
    return {
        "against": against,
        "similarity": mean_similarity(pairs),
        "compared": len(pairs),
        "sampled": len(texts),
        "distinct": len(set(texts.values())),
    }


def _texts(outputs: OutputSet) -> QuerySet[Output, tuple[str, str, int]]:
    """Key, beginning and length of each text of the first trial."""
    found = Output.objects.filter(
        output_set=outputs, case__version=outputs.version_id, trial=0, text__isnull=False
    )
    return found.values_list("case__key", Left("text", MOST_CHARACTERS), Length("text"))


def tag_figures(run: Run) -> dict[str, dict[str, list[Any]]]:
    """[n, mean, pass rate] of the scored outputs, by scorer name and tag."""
    tags = common_tags(run.output_set.version_id)
    return {each.name: _by_tag(each, tags) for each in run.scorers.all()} if tags else {}


def common_tags(version: int) -> list[str]:
    """The tags that most cases of a dataset version have, the commonest first."""
    cases = Case.objects.filter(version=version).exclude(tags_json="[]")
    groups = cases.order_by().values_list("tags_json").annotate(Count("pk"))
    counts: Counter[str] = Counter()
    for tags, count in groups:
        counts.update(dict.fromkeys(json.loads(tags), count))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [tag for tag, _ in ordered[:MOST_TAGS]]


def _by_tag(scorer: RunScorer, tags: Sequence[str]) -> dict[str, list[Any]]:
    sums = {tag: [0, 0.0, 0] for tag in tags}
    for written, *figures in _by_tags(scorer):
        for tag in set(json.loads(written)) & sums.keys():
            sums[tag] = [one + other for one, other in zip(sums[tag], figures, strict=True)]
    return {tag: [n, total / n, (n - failed) / n] for tag, (n, total, failed) in sums.items() if n}


def _by_tags(scorer: RunScorer) -> Iterator[tuple[str, int, float, int]]:
    """Count, sum of scores and fails of the cases with exactly these tags."""
    scores = Score.objects.filter(scorer=scorer, score__isnull=False)
    tagged = scores.exclude(output__case__tags_json="[]").order_by()
    grouped = tagged.values_list("output__case__tags_json")
    yield from grouped.annotate(Count("pk"), Sum("score"), Sum("verdict")).iterator()
