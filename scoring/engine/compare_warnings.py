"""What makes two compared runs less alike than they look, each thing named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from scoring.engine.compare_scores import TwoScorers
from scoring.models import CallPurpose, ModelCall, Run, RunScorer, RunState
from scoring.models.pairs import Pairs

#: Settings that say whom a scorer asks, in words.
ASKED: Final = {
    "model": "model",
    "model_name": "model",
    "connection": "connection",
    "embedding_provider": "provider",
}
DEFAULT: Final = "the default"
MOST_NAMED: Final = 3


class Warned(NamedTuple):
    """A warning, and the candidates that it is about."""

    runs: list[str]
    text: str
    is_of_all: bool


def gathered(told: Sequence[tuple[str, Sequence[str]]]) -> list[Warned]:
    """The warnings of several candidates, by their names, each text once."""
    runs: dict[str, list[str]] = {}
    for name, warnings in told:
        for text in warnings:
            runs.setdefault(text, []).append(name)
    return [Warned(names, text, len(names) == len(told)) for text, names in runs.items()]


def warnings_of(pairs: Pairs, both: Sequence[TwoScorers], edited: int) -> Iterator[str]:
    """Sentences for the top of a page. `edited` pairs differ between two dataset versions."""
    old, new = pairs.baseline, pairs.candidate
    for run in {old.pk: old, new.pk: new}.values():
        yield from _cover(run)
    yield from _outputs(pairs, edited)
    for each in both:
        yield from _scorers(each)
    yield from _missing_scorers(old, new, {each.name for each in both})
    if not any(_asks_otherwise(each) for each in both):
        yield from _answerers(old, new)
    yield from _trials(old, new)


def _cover(run: Run) -> Iterator[str]:
    """A run over a part of its dataset version."""
    covered = run.verdicts.values("position").distinct().count()
    count = run.output_set.version.case_count
    covers = f"covers {covered:,} of {count:,} cases of its dataset version"
    if run.state == RunState.CANCELLED:
        yield f"The run {run.name} was cancelled: it {covers}."
    elif covered < count:
        yield f"The run {run.name} {covers}."


def _outputs(pairs: Pairs, edited: int) -> Iterator[str]:
    old, new = pairs.baseline, pairs.candidate
    if not pairs.is_same_version:
        versions = f"v{old.output_set.version.number} and v{new.output_set.version.number}"
        were = ", 1 case was edited" if edited == 1 else f", {edited:,} cases were edited"
        told = were if edited else ""
        yield f"The runs are over versions {versions} of the dataset: cases match by key{told}."
    elif old.output_set_id == new.output_set_id and old.pk != new.pk:
        yield "Both runs score the same outputs: what differs comes from the scorers."


def _scorers(each: TwoScorers) -> Iterator[str]:
    before, after = each.before, each.after
    if not each.is_same_version:
        # Two scorers may bear one name: the first was renamed, or the runs' teams differ.
        numbers = f"version {before.version.number} and version {after.version.number}"
        yield f"{each.name}: {numbers} scored the runs, so a difference may be the scorer's own."
        yield from _asks_otherwise(each)
    if before.threshold != after.threshold:
        change = f"{before.threshold:g} and then {after.threshold:g}"
        yield f"{each.name}: the threshold was {change}, so verdicts differ by that, too."


def _asks_otherwise(each: TwoScorers) -> list[str]:
    """Where the scorer's versions name another model or connection."""
    old, new = each.before.version.config, each.after.version.config
    return [
        f"{each.name}: the {noun} was {old.get(key) or DEFAULT} "
        f"and then {new.get(key) or DEFAULT}, whose answers may differ."
        for key, noun in ASKED.items()
        if (old.get(key) or "") != (new.get(key) or "")
    ]


def _missing_scorers(old: Run, new: Run, both: set[str]) -> Iterator[str]:
    for run, side in ((old, "baseline"), (new, "candidate")):
        names = [scorer.name for scorer in run.scorers.all() if scorer.name not in both]
        if names:
            listed = ", ".join(names)
            yield f"Only the {side} has {listed}: case verdicts rest on different scorers."


def _answerers(old: Run, new: Run) -> Iterator[str]:
    """Judges that were answered by others, though no scorer says so: a default has changed, or
    what a connection leads to. Of runs whose replies were all kept before nothing is known.
    """
    before, after = (_who_answered(run) for run in (old, new))
    if before and after and before != after:
        yield f"Judges were answered by {_listed(before)} and then by {_listed(after)}."


def _who_answered(run: Run) -> list[str]:
    calls = ModelCall.objects.paid_by(run).filter(purpose=CallPurpose.JUDGE)
    found = calls.order_by().values_list("model", "connection_name").distinct()
    return sorted(f"{model} through {connection}" for model, connection in found)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join([*names[:MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def _trials(old: Run, new: Run) -> Iterator[str]:
    before, after = (_trial_count(run) for run in (old, new))
    if before != after:
        few = "1 trial" if before == 1 else f"{before:,} trials"
        yield (
            f"A case has {few} in {old.name} and {after:,} in {new.name}: "
            "only trials that both have are compared."
        )
    if min(before, after) > 1:
        yield "Cases have several trials: scores are averaged over a case's trials, then tested."


def _trial_count(run: Run) -> int:
    """How many trials a case has at most, as its figures tell it."""
    scorers = RunScorer.objects.filter(run=run, summary__isnull=False).select_related("summary")
    scorer = scorers.first()
    return int(scorer.summary.trials.get("trials", 1)) if scorer else 1
