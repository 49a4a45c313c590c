"""Planning of runs: create one, cut it into shards, retry, resume, cancel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, islice
from math import inf
from typing import Any, Final

from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone

from scoring.core.contract import ConfigError
from scoring.core.names import as_one_line
from scoring.engine.runs.requirements import run_families
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
from scoring.models.base import now_after
from scoring.models.locks import lock_row

FAILURE_CHARS: Final = 500
SHARD_OUTPUTS = 2_000
# Several shards of calls are executed at once, and a cancelled one is begun again.
SMALLER_SHARDS: Final = {"llm": 64, "embedding": 512, "custom": 512}

ShardRange = tuple[int, int, int]  # first output id, last output id, how many outputs


def create_run(
    output_set: OutputSet,
    *,
    suite: Suite | None = None,
    scorers: Sequence[tuple[Scorer, float]] = (),
    thresholds_note: str = "",
    name: str = "",
    by: User | None = None,
    budget_usd: float | None = None,
) -> Run:
    """A queued run of `scorers` with these thresholds, else of the suite's, frozen now.

    With both it is a run of the suite all the same, and `thresholds_note` says what differs.
    Once its model calls have cost `budget_usd`, no further ones are made. Raises ConfigError
    without any scorer, if the budget is no amount, or where the outputs or their dataset were taken
    back or deleted meanwhile.
    """
    if suite and not scorers:
        entries = suite.entries.select_related("scorer__current")
        scorers = [(entry.scorer, entry.threshold) for entry in entries]
    if not scorers:
        raise ConfigError({"scorers": ["name at least one scorer"]})
    _check_budget(budget_usd)
    with transaction.atomic():
        _refuse_gone(output_set)
        run = Run.objects.create(
            team_id=output_set.version.dataset.team_id,
            output_set=output_set,
            suite=suite,
            suite_name=suite.name if suite else "",
            suite_revision=suite.revision if suite else None,
            thresholds_note=thresholds_note,
            name=(name or str(output_set))[:120],
            created_by=by,
            by_program=_is_program(by),
            budget_usd=budget_usd,
        )
        run.frozen_scorers = RunScorer.objects.bulk_create(
            RunScorer(
                run=run,
                version=scorer.current,
                name=scorer.name,
                threshold=threshold,
                position=position,
            )
            for position, (scorer, threshold) in enumerate(scorers)
        )
        thresholds = {scorer.name: threshold for scorer, threshold in scorers}
        new: dict[str, Any] = {"suite": run.suite_name, "thresholds": thresholds}
        if thresholds_note:
            new["thresholds_note"] = thresholds_note
        if budget_usd is not None:
            new["budget_usd"] = budget_usd
        AuditEntry.objects.record(run.team, by, "run.created", run, new=new)
    return run


def _refuse_gone(output_set: OutputSet) -> None:
    """Raise ConfigError where the outputs or their dataset have been hidden; lock both where not.

    Outputs that are still being sent, or are to be generated, are not hidden.
    """
    rows = OutputSet.objects.filter(pk=output_set.pk, version__dataset__deleted_at=None)
    if output_set.state == OutputSetState.READY:
        rows = rows.whole()
    locked = rows.select_related("version__dataset").select_for_update(
        of=["self", "version__dataset"]
    )
    found = locked.first()
    if found is None:
        raise ConfigError({"output_set": ["these outputs are no longer there"]})
    if found.state == OutputSetState.EMPTIED:
        raise ConfigError({"output_set": ["the texts of these outputs were removed"]})


def _check_budget(budget_usd: float | None) -> None:
    if budget_usd is not None and not 0 <= budget_usd < inf:
        raise ConfigError({"budget_usd": ["must be an amount in US dollars, 0 or more"]})


def plan_attempt(run: Run) -> Attempt:
    """The attempt to work on now, with its shards; the run becomes `running`.

    Planning again, in any process, gives the same attempt and adds no shards.
    """
    kind = AttemptKind.GENERATE if is_generating(run) else AttemptKind.SCORE
    ranges = [] if run.attempts.filter(kind=kind).exists() else list(_ranges(run, kind))
    with transaction.atomic():
        state = _lock(run)
        attempts = list(run.attempts.all())
        is_planned = any(attempt.kind == kind for attempt in attempts)
        attempt = attempts[-1] if is_planned else _add_attempt(run, kind, ranges, len(attempts) + 1)
        _move_locked(run, state, (RunState.QUEUED,), RunState.RUNNING)
    return attempt


def retry_errors(
    run: Run,
    by: User | None,
    budget_usd: float | None = None,
    *,
    only: Collection[int] | None = None,
    code: str = "",
) -> Attempt | None:
    """A further attempt over the ranges that hold errors, for which the run is queued again.

    `only` limits it to the outputs with these ids, `code` to the errors of this cause. A new budget
    counts for the whole run, from its first call on. None when the run has not finished, has no
    such errors, or lost the texts of its outputs. Raises ConfigError when the budget is no amount.
    """
    _check_budget(budget_usd)
    ranges = list(_ranges_of_errors(run, only, code))
    if not ranges:
        return None
    with transaction.atomic():
        if _is_emptied(run):
            return None
        if not change_state(run, (RunState.FINISHED,), RunState.QUEUED, by, cause=code):
            return None
        if budget_usd is not None:
            _set_budget(run, budget_usd, by)
        Run.objects.filter(pk=run.pk).update(by_program=_is_program(by))
        number = run.attempts.count() + 1
        return _add_attempt(run, AttemptKind.RETRY, ranges, number, by, code)


def _is_program(by: User | None) -> bool:
    return by is not None and by.token is not None


def _set_budget(run: Run, budget_usd: float, by: User | None) -> None:
    lock_row(run, "budget_usd")
    old, new = {"budget_usd": run.budget_usd}, {"budget_usd": budget_usd}
    run.budget_usd = budget_usd
    run.save(update_fields=["budget_usd"])
    AuditEntry.objects.record(run.team, by, "run.budget_changed", run, old=old, new=new)


def resume_run(run: Run, by: User | None) -> bool:
    """Queue a cancelled run again; what it had scored is kept.

    False when it is not cancelled, or its outputs' texts were removed.
    """
    with transaction.atomic():
        if _is_emptied(run):
            return False
        return change_state(run, (RunState.CANCELLED,), RunState.QUEUED, by)


def _is_emptied(run: Run) -> bool:
    """Whether there is nothing to score; where there is, it stays for this transaction."""
    output_set = OutputSet.objects.select_for_update().only("state").get(pk=run.output_set_id)
    return output_set.state == OutputSetState.EMPTIED


def cancel_run(run: Run, by: User | None) -> bool:
    """Stop the run; False when it has ended or is stopping already.

    A run that has not begun is cancelled at once, another one after its present shards.
    """
    with transaction.atomic():
        _lock(run)
        if not run.attempts.exists() and change_state(
            run, (RunState.QUEUED,), RunState.CANCELLED, by
        ):
            outputs = run.output_set
            AlertWatch.objects.reschedule(outputs.version.dataset, outputs.series)
            return True
        return change_state(run, (RunState.QUEUED, RunState.RUNNING), RunState.CANCELLING, by)


def give_up_run(run: Run, failure: str) -> bool:
    """End a run that the worker cannot bring to its end, and keep why; False when it has ended.

    It is cancelled, so that it can be resumed once the cause is mended.
    """
    unfinished = (RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING)
    failure = as_one_line(failure)[:FAILURE_CHARS]
    with transaction.atomic():
        if not change_state(run, unfinished, RunState.CANCELLED, cause=failure):
            return False
        Run.objects.filter(pk=run.pk).update(failure=failure)
        run.failure = failure
    return True


def change_state(
    run: Run, old: Sequence[RunState], new: RunState, by: User | None = None, *, cause: str = ""
) -> bool:
    """Bring the run from one of the states `old` to `new` and audit it; False when it is in none.

    The condition is in the UPDATE, so of two processes that try only one succeeds. `cause` is that
    of the retried errors, where only those of one cause are, or why the run was given up. The lease
    of an ended run is cleared.
    """
    with transaction.atomic():
        return _move_locked(run, _lock(run), old, new, by, cause)


def _move_locked(
    run: Run,
    state: str,
    old: Sequence[RunState],
    new: RunState,
    by: User | None = None,
    cause: str = "",
) -> bool:
    """As `change_state`, in a transaction that has locked the run, which is in `state`."""
    fields: dict[str, Any] = {"state": new, "finished_at": None, "failure": ""}
    if new in (RunState.CANCELLED, RunState.FINISHED):
        fields |= {
            "finished_at": now_after("started_at"),
            "lease_owner": "",
            "lease_expires_at": None,
        }
    elif new == RunState.RUNNING:
        fields["started_at"] = Coalesce("started_at", timezone.now())
    changed = Run.objects.filter(pk=run.pk, state__in=old).update(**fields)
    if changed:
        after = {"state": new.value} | ({"cause": cause} if cause else {})
        states = {"old": {"state": state}, "new": after}
        AuditEntry.objects.record(run.team, by, f"run.{new.value}", run, **states)
    run.refresh_from_db(
        fields=["state", "started_at", "finished_at", "failure", "lease_owner", "lease_expires_at"]
    )
    return bool(changed)


def _lock(run: Run) -> str:
    """The run's state; PostgreSQL locks its row for this transaction, SQLite has one writer anyway.

    Raises Run.DoesNotExist.
    """
    return Run.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)


def _add_attempt(
    run: Run,
    kind: AttemptKind,
    ranges: Sequence[ShardRange],
    number: int,
    by: User | None = None,
    code: str = "",
) -> Attempt:
    attempt = Attempt.objects.create(run=run, number=number, kind=kind, started_by=by, code=code)
    Shard.objects.bulk_create(
        Shard(
            attempt=attempt, number=number, first_output=first, last_output=last, output_count=count
        )
        for number, (first, last, count) in enumerate(ranges, start=1)
    )
    return attempt


def is_generating(run: Run) -> bool:
    """Whether the run has still to make its outputs; read anew unless they were ready before."""
    if run.output_set.state == OutputSetState.READY:
        return False
    return OutputSet.objects.filter(pk=run.output_set_id, state=OutputSetState.GENERATING).exists()


def _ranges(run: Run, kind: AttemptKind) -> Iterator[ShardRange]:
    if kind == AttemptKind.SCORE:
        of_set = Output.objects.filter(output_set=run.output_set_id).order_by("pk")
        output_ids = of_set.values_list("pk", flat=True).iterator(chunk_size=20_000)
        yield from _cut(output_ids, shard_outputs(run))
        return
    outputs = OutputSet.objects.select_related("generation").get(pk=run.output_set_id)
    trials = outputs.generation.trials
    cases = Case.objects.filter(version=outputs.version_id).order_by("pk")
    ids = cases.values_list("pk", flat=True).iterator(chunk_size=20_000)
    for first, last, count in _cut(ids, max(1, SMALLER_SHARDS["llm"] // trials)):
        yield first, last, count * trials


def _ranges_of_errors(run: Run, only: Collection[int] | None, code: str) -> Iterator[ShardRange]:
    """Ranges without unwanted outputs: a retry scores every error of its cause in its ranges."""
    # An error has no score: saying so lets the index on scorer and score find the rows.
    errors = Score.objects.filter(scorer__run=run, score=None, status=Status.ERROR)
    errors = errors.filter(code=code) if code else errors
    size = shard_outputs(run)
    ids = errors.order_by("output").values_list("output", flat=True).distinct().iterator()
    for is_wanted, group in groupby(ids, key=lambda output: only is None or output in only):
        if is_wanted:
            yield from _cut(group, size)


def shard_outputs(run: Run) -> int:
    """How many outputs a shard of this run has."""
    sizes = [SMALLER_SHARDS.get(family, SHARD_OUTPUTS) for family in run_families(run)]
    return min([SHARD_OUTPUTS, *sizes])


def _cut(output_ids: Iterator[int], size: int) -> Iterator[ShardRange]:
    """Ranges of `size` of these ascending ids."""
    while ids := list(islice(output_ids, size)):
        yield ids[0], ids[-1], len(ids)
