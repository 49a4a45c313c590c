"""What is to be done about a run: make it, cut it into shards, retry, resume, cancel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice
from math import inf
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from scoring.core.contract import ConfigError
from scoring.engine.needs import families_of
from scoring.models import (
    AlertWatch,
    Attempt,
    AttemptKind,
    AuditEntry,
    Case,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    RunState,
    Score,
    Scorer,
    Shard,
    Status,
    Suite,
    User,
)

SHARD_OUTPUTS = 2_000
# Several shards of calls are under way at once, and a cancelled one is begun again.
SMALLER_SHARDS: Final = {"llm": 64, "embedding": 512, "custom": 512}

ShardRange = tuple[int, int, int]  # first output id, last output id, how many outputs


def new_run(
    output_set: OutputSet,
    *,
    suite: Suite | None = None,
    scorers: Sequence[tuple[Scorer, float]] = (),
    name: str = "",
    by: User | None = None,
    budget_usd: float | None = None,
) -> Run:
    """A queued run of the suite's scorers, else of `scorers` with these thresholds, frozen now.

    Once its calls of models have cost `budget_usd`, no further ones are made. Raises ConfigError
    when there is nothing to score with or the budget is no amount.
    """
    if suite:
        entries = suite.entries.select_related("scorer")
        scorers = [(entry.scorer, entry.threshold) for entry in entries]
    if not scorers:
        raise ConfigError({"scorers": ["name at least one scorer"]})
    _check_budget(budget_usd)
    with transaction.atomic():
        run = Run.objects.create(
            team_id=output_set.version.dataset.team_id,
            output_set=output_set,
            suite=suite,
            suite_name=suite.name if suite else "",
            suite_revision=suite.revision if suite else None,
            name=(name or str(output_set))[:120],
            created_by=by,
            by_program=_is_program(by),
            budget_usd=budget_usd,
        )
        _freeze(run, scorers)
        thresholds = {scorer.name: threshold for scorer, threshold in scorers}
        new: dict[str, Any] = {"suite": run.suite_name, "thresholds": thresholds}
        if budget_usd is not None:
            new["budget_usd"] = budget_usd
        AuditEntry.objects.record(run.team, by, "run.created", run, new=new)
    return run


def _check_budget(budget_usd: float | None) -> None:
    if budget_usd is not None and not 0 <= budget_usd < inf:
        raise ConfigError({"budget_usd": ["must be an amount in US dollars, 0 or more"]})


def _freeze(run: Run, scorers: Sequence[tuple[Scorer, float]]) -> None:
    RunScorer.objects.bulk_create(
        RunScorer(
            run=run,
            version=scorer.current,
            name=scorer.name,
            threshold=threshold,
            position=position,
        )
        for position, (scorer, threshold) in enumerate(scorers)
    )


def plan(run: Run) -> Attempt:
    """The attempt to work on now, its shards cut and the run `running`.

    Planning again, by whomever, gives the same attempt and no further shards.
    """
    kind = AttemptKind.GENERATE if is_generating(run) else AttemptKind.SCORE
    begun = run.attempts.filter(kind=kind)
    ranges = [] if begun.exists() else list(_ranges(run, kind))
    with transaction.atomic():
        _locked(run)
        latest = run.attempts.last() if begun.exists() else None
        attempt = latest or _add_attempt(run, kind, ranges)
        if move(run, (RunState.QUEUED,), RunState.RUNNING):
            Run.objects.filter(pk=run.pk, started_at=None).update(started_at=timezone.now())
            run.refresh_from_db(fields=["started_at"])
    return attempt


def retry_errors(
    run: Run,
    by: User | None,
    budget_usd: float | None = None,
    *,
    only: Collection[int] | None = None,
    code: str = "",
) -> Attempt | None:
    """A further attempt over the ranges that hold error rows, and the run queued again.

    With `only` these outputs, by their ids, no others; with a `code` the errors of this cause. A
    new budget counts for the whole run, from its first call on. None when the run has not finished
    or has no such errors. Raises ConfigError when the budget is no amount.
    """
    _check_budget(budget_usd)
    ranges = list(_ranges_of_errors(run, only, code))
    if not ranges:
        return None
    with transaction.atomic():
        if not move(run, (RunState.FINISHED,), RunState.QUEUED, by, cause=code):
            return None
        if budget_usd is not None:
            _set_budget(run, budget_usd, by)
        Run.objects.filter(pk=run.pk).update(by_program=_is_program(by))
        return _add_attempt(run, AttemptKind.RETRY, ranges, by, code)


def _is_program(by: User | None) -> bool:
    return by is not None and by.token is not None


def _set_budget(run: Run, budget_usd: float, by: User | None) -> None:
    old = run.budget_usd
    run.budget_usd = budget_usd
    run.save(update_fields=["budget_usd"])
    before, after = {"budget_usd": old}, {"budget_usd": budget_usd}
    AuditEntry.objects.record(run.team, by, "run.budget_changed", run, old=before, new=after)


def resume(run: Run, by: User | None) -> bool:
    """Queue a cancelled run again; what it had scored is kept. False when it is not cancelled."""
    return move(run, (RunState.CANCELLED,), RunState.QUEUED, by)


def cancel(run: Run, by: User | None) -> bool:
    """Ask for the run to stop; False when there was nothing to stop. Asking twice is harmless.

    A run that nobody has begun is cancelled at once; one at work ends after its present shards.
    """
    with transaction.atomic():
        begun = _locked(run).attempts.exists()
        if not begun and move(run, (RunState.QUEUED,), RunState.CANCELLED, by):
            outputs = run.output_set
            AlertWatch.objects.look_again(outputs.version.dataset, outputs.series)
            return True
        return move(run, (RunState.QUEUED, RunState.RUNNING), RunState.CANCELLING, by)


def move(
    run: Run, old: Sequence[RunState], new: RunState, by: User | None = None, *, cause: str = ""
) -> bool:
    """Bring the run from one of the states `old` to `new` and audit it; False when it is in none.

    The condition is in the UPDATE, so of two processes that try only one succeeds. `cause` is that
    of the errors which are retried, where only some are.
    """
    ended = new in (RunState.CANCELLED, RunState.FINISHED)
    with transaction.atomic():
        before = _locked(run).state
        changed = Run.objects.filter(pk=run.pk, state__in=old).update(
            state=new, finished_at=timezone.now() if ended else None
        )
        if changed:
            now = {"state": new.value} | ({"cause": cause} if cause else {})
            states = {"old": {"state": before}, "new": now}
            AuditEntry.objects.record(run.team, by, f"run.{new.value}", run, **states)
    run.refresh_from_db(fields=["state", "finished_at"])
    return bool(changed)


def _locked(run: Run) -> Run:
    """The run's row, which PostgreSQL keeps for this transaction; SQLite has one writer anyway."""
    return Run.objects.select_for_update().get(pk=run.pk)


def _add_attempt(
    run: Run,
    kind: AttemptKind,
    ranges: Sequence[ShardRange],
    by: User | None = None,
    code: str = "",
) -> Attempt:
    number = run.attempts.count() + 1
    attempt = Attempt.objects.create(run=run, number=number, kind=kind, started_by=by, code=code)
    Shard.objects.bulk_create(
        Shard(
            attempt=attempt,
            number=place,
            first_output=first,
            last_output=last,
            output_count=count,
        )
        for place, (first, last, count) in enumerate(ranges, start=1)
    )
    return attempt


def is_generating(run: Run) -> bool:
    """Whether the run has still to make its outputs."""
    return OutputSet.objects.filter(pk=run.output_set_id, state=OutputSetState.GENERATING).exists()


def _ranges(run: Run, kind: AttemptKind) -> Iterator[ShardRange]:
    if kind == AttemptKind.SCORE:
        yield from _cut(_output_ids(run), shard_outputs(run))
        return
    outputs = OutputSet.objects.select_related("generation").get(pk=run.output_set_id)
    trials = outputs.generation.trials
    cases = Case.objects.filter(version=outputs.version_id).order_by("pk")
    ids = cases.values_list("pk", flat=True).iterator(chunk_size=20_000)
    for first, last, count in _cut(ids, max(1, SMALLER_SHARDS["llm"] // trials)):
        yield first, last, count * trials


def _output_ids(run: Run) -> Iterator[int]:
    of_set = Output.objects.filter(output_set=run.output_set_id).order_by("pk")
    return of_set.values_list("pk", flat=True).iterator(chunk_size=20_000)


def _error_ids(run: Run, code: str) -> Iterator[int]:
    # An error has no score: saying so lets the index on scorer and score find the rows.
    errors = Score.objects.filter(scorer__run=run, score=None, status=Status.ERROR)
    errors = errors.filter(code=code) if code else errors
    return errors.order_by("output").values_list("output", flat=True).distinct().iterator()


def _ranges_of_errors(run: Run, only: Collection[int] | None, code: str) -> Iterator[ShardRange]:
    """Ranges without an output that is not wanted: a retry scores every error in its ranges, or
    every one of its cause.
    """
    size = shard_outputs(run)
    if only is None:
        yield from _cut(_error_ids(run, code), size)
        return
    for is_wanted, ids in groupby(_error_ids(run, code), key=only.__contains__):
        if is_wanted:
            yield from _cut(ids, size)


def shard_outputs(run: Run) -> int:
    """How many outputs a shard of this run has."""
    sizes = [SMALLER_SHARDS.get(family, SHARD_OUTPUTS) for family in families_of(run)]
    return min([SHARD_OUTPUTS, *sizes])


def _cut(output_ids: Iterator[int], size: int) -> Iterator[ShardRange]:
    """Ranges of `size` of these ascending ids."""
    while ids := list(islice(output_ids, size)):
        yield ids[0], ids[-1], len(ids)
