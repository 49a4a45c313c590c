"""One run on a drift line, and where the line is broken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from scoring.engine.drift.reference import Reference
from scoring.models import RunScorer, RunStep
from scoring.models.drift import Flips

BreakKind = Literal["scorer", "dataset", "threshold"]


class Break(NamedTuple):
    """What is different from the point before. Across a scorer's or dataset's change of version
    means are not comparable; a changed threshold moves the pass rate alone.
    """

    kind: BreakKind
    text: str

    @property
    def parts(self) -> bool:
        return self.kind != "threshold"


class TagFigure(NamedTuple):
    n: int
    mean: float
    pass_rate: float


@dataclass(frozen=True, slots=True)
class Point:
    """A run's figures for one scorer. `n` outputs are scored; None is a figure that is not there.

    `pairs`, `fixed` and `broke` are about the scorer's own verdicts in this run and at the point
    before, `cases` about those over all scorers; None for the first point and while they are not
    counted yet.
    """

    run: str  # uuid
    label: str  # the run's name, with its date where several runs have it
    dated: datetime
    n: int
    mean: float | None
    interval: tuple[float, float] | None
    pass_rate: float | None
    threshold: float
    unscored: int  # errors and skips
    scorer_version: int
    dataset_version: int
    breaks: tuple[Break, ...]
    before: str | None  # uuid of the run of the point before
    pairs: int | None
    fixed: int | None
    broke: int | None
    cases: Flips | None
    similarity: float | None  # of the outputs to the reference's
    compared: int
    distinct: float | None  # share of the outputs looked at
    are_same: bool  # all of them
    tags: Mapping[str, TagFigure]
    is_baseline: bool

    @property
    def is_cut_off(self) -> bool:
        """Whether means from here on are not comparable with those before."""
        return any(each.parts for each in self.breaks)


def point_of(
    scorer: RunScorer,
    before: RunScorer | None,
    step: RunStep | None,
    label: str,
    reference: Reference,
) -> Point:
    """The point of a scorer as `points_in_time` gives it, after the one `before` on its line."""
    run, outputs, summary = scorer.run, scorer.run.output_set, scorer.summary
    estimate, kept = summary.mean_estimate, getattr(run, "drift", None)
    is_compared = kept is not None and kept.against_id == reference.output_set
    is_fresh = kept is not None and kept.run_finished_at == run.finished_at
    holds = step is not None and before is not None and step.holds_for(before.run, run)
    flips = step.flips_of(scorer.name) if step and holds else None
    return Point(
        run=str(run.uuid),
        label=label,
        dated=outputs.dated,
        n=summary.scored,
        mean=summary.mean,
        interval=estimate.interval if estimate else None,
        pass_rate=summary.pass_rate,
        threshold=scorer.threshold,
        unscored=summary.errors + summary.skipped,
        scorer_version=scorer.version.number,
        dataset_version=outputs.version.number or 0,
        breaks=tuple(breaks_between(before, scorer)) if before else (),
        before=str(before.run.uuid) if before else None,
        pairs=flips.pairs if flips else None,
        fixed=flips.fixed if flips else None,
        broke=flips.broke if flips else None,
        cases=step.flips if step and holds else None,
        similarity=kept.similarity if kept and is_compared else None,
        compared=kept.compared if kept and is_compared else 0,
        distinct=kept.distinct_share if kept else None,
        are_same=kept is not None and kept.distinct == 1 < kept.sampled,
        tags=_tags(kept.tags.get(scorer.name, {})) if kept and is_fresh else {},
        is_baseline=reference.is_pinned and run.pk == reference.run,
    )


def breaks_between(before: RunScorer, after: RunScorer) -> list[Break]:
    """What of the scorer and the dataset is different in the later run."""
    found = []
    old, new = before.version, after.version
    if old.pk != new.pk:
        is_same = old.scorer_id == new.scorer_id
        text = f"scorer version {old.number} → {new.number}" if is_same else "another scorer"
        found.append(Break("scorer", text))
    of, to = before.run.output_set.version, after.run.output_set.version
    if of.pk != to.pk:
        found.append(Break("dataset", f"dataset version {of.number} → {to.number}"))
    if before.threshold != after.threshold:
        found.append(Break("threshold", f"threshold {before.threshold:g} → {after.threshold:g}"))
    return found


def _tags(kept: Mapping[str, list[float]]) -> dict[str, TagFigure]:
    return {tag: TagFigure(int(n), mean, rate) for tag, (n, mean, rate) in kept.items()}
