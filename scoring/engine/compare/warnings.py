"""Warnings about what two compared runs do not have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from scoring.engine.compare.scores import ScorerPair
from scoring.models import CallPurpose, ModelCall, Run, RunState, RunSummary
from scoring.models.pairs.pairs import Pairs

#: Settings that name the model a scorer calls, in words.
MODEL_SETTINGS: Final = {
    "model": "model",
    "model_name": "model",
    "connection": "connection",
    "embedding_provider": "provider",
}
DEFAULT: Final = "the default"
MAX_NAMED: Final = 3


class RunWarning(NamedTuple):
    """A warning, and the candidates that it is about."""

    runs: list[str]
    text: str
    is_of_all: bool


def collect_warnings(candidates: Sequence[tuple[str, Sequence[str]]]) -> list[RunWarning]:
    """The warnings of several candidates, by their names, each text once."""
    runs: dict[str, list[str]] = {}
    for name, warnings in candidates:
        for text in warnings:
            runs.setdefault(text, []).append(name)
    return [RunWarning(names, text, len(names) == len(candidates)) for text, names in runs.items()]


def comparison_warnings(pairs: Pairs, scorers: Sequence[ScorerPair], edited: int) -> Iterator[str]:
    """Sentences for the top of a page. `edited` pairs differ between two dataset versions."""
    old, new = pairs.baseline, pairs.candidate
    for run in {old.pk: old, new.pk: new}.values():
        yield from _warn_of_coverage(run)
    yield from _warn_of_outputs(pairs, edited)
    for pair in scorers:
        yield from _warn_of_scorer(pair)
    yield from _warn_of_missing_scorers(old, new, {pair.name for pair in scorers})
    if not any(_warn_of_models(pair) for pair in scorers):
        yield from _warn_of_judges(old, new)
    yield from _warn_of_trials(old, new)


def _warn_of_coverage(run: Run) -> Iterator[str]:
    """A run over a part of its dataset version."""
    covered = run.verdicts.values("position").distinct().count()
    count = run.output_set.version.case_count
    covers = f"covers {covered:,} of {count:,} cases of its dataset version"
    if run.state == RunState.CANCELLED:
        yield f"The run {run.name} was cancelled: it {covers}."
    elif covered < count:
        yield f"The run {run.name} {covers}."
    if run.has_many_errors:
        errors = f"{run.error_count or 0:,} of {run.case_count or 0:,} cases"
        yield f"In the run {run.name} {errors} ended in an error."


def _warn_of_outputs(pairs: Pairs, edited: int) -> Iterator[str]:
    old, new = pairs.baseline, pairs.candidate
    if not pairs.is_same_version:
        versions = f"v{old.output_set.version.number} and v{new.output_set.version.number}"
        edits = ", 1 case was edited" if edited == 1 else f", {edited:,} cases were edited"
        text = f"The runs are over versions {versions} of the dataset: cases match by key"
        yield f"{text}{edits if edited else ''}."
    elif old.output_set_id == new.output_set_id and old.pk != new.pk:
        yield "Both runs score the same outputs: what differs comes from the scorers."


def _warn_of_scorer(pair: ScorerPair) -> Iterator[str]:
    before, after = pair.before, pair.after
    if not pair.is_same_version:
        # Two scorers may have one name: the first was renamed, or the runs' teams differ.
        numbers = f"version {before.version.number} and version {after.version.number}"
        yield f"{pair.name}: {numbers} scored the runs, so a difference may be the scorer's own."
        yield from _warn_of_models(pair)
    if before.threshold != after.threshold:
        change = f"{before.threshold:g} and then {after.threshold:g}"
        yield f"{pair.name}: the threshold was {change}, so verdicts differ by that, too."


def _warn_of_models(pair: ScorerPair) -> list[str]:
    """Where the scorer's versions name different models or connections."""
    old, new = pair.before.version.config, pair.after.version.config
    return [
        f"{pair.name}: the {noun} was {old.get(key) or DEFAULT} "
        f"and then {new.get(key) or DEFAULT}, whose answers may differ."
        for key, noun in MODEL_SETTINGS.items()
        if (old.get(key) or "") != (new.get(key) or "")
    ]


def _warn_of_missing_scorers(old: Run, new: Run, common: set[str]) -> Iterator[str]:
    for run, side in ((old, "baseline"), (new, "candidate")):
        names = [scorer.name for scorer in run.scorers.all() if scorer.name not in common]
        if names:
            listed = ", ".join(names)
            yield f"Only the {side} has {listed}: case verdicts rest on different scorers."


def _warn_of_judges(old: Run, new: Run) -> Iterator[str]:
    """Judges answered by different models though their configs are equal: a default or what a
    connection leads to has changed. Nothing is known of runs that reused all replies.
    """
    before, after = (_judges(run) for run in (old, new))
    if before and after and before != after:
        yield f"Judges were answered by {_join(before)} and then by {_join(after)}."


def _judges(run: Run) -> list[str]:
    calls = ModelCall.objects.paid_by(run).filter(purpose=CallPurpose.JUDGE)
    judges = calls.order_by().values_list("model", "connection_name").distinct()
    return sorted(f"{model} through {connection}" for model, connection in judges)


def _join(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join([*names[:MAX_NAMED], *([f"{more:,} more"] if more > 0 else [])])


def _warn_of_trials(old: Run, new: Run) -> Iterator[str]:
    before, after = (_trial_count(run) for run in (old, new))
    if max(before, after) <= 1:
        return
    how = "each case counts once, by the mean of its trials"
    if before == after:
        yield f"Cases have several trials: {how}."
        return
    few = f"{before:,} trial{'s' * (before > 1)}"
    yield (
        f"A case has {few} in {old.name} and {after:,} in {new.name}: {how}. More trials even out "
        "chance, so verdicts can change by that alone; tested is the share of trials that pass."
    )


def _trial_count(run: Run) -> int:
    """How many trials a case has at most, as its figures tell it."""
    summary = RunSummary.objects.filter(scorer__run=run).order_by("scorer__position").first()
    return int(summary.trials.get("trials", 1)) if summary else 1
