"""Executing a shard: read its outputs once, score them, store everything in one transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import Any, Final

import orjson
from django.db import transaction
from django.db.models import F, IntegerField, QuerySet
from django.db.models.functions import Cast
from django.utils import timezone

from scoring.core import configured, contract
from scoring.core.contract import Json, ServiceError
from scoring.core.log_context import log_context
from scoring.engine.outputs import generation as outputs_generation
from scoring.engine.runs import requirements, score_reuse
from scoring.engine.services.team_services import services_for
from scoring.models import (
    AttemptKind,
    CaseVerdict,
    Generation,
    Output,
    Run,
    RunScorer,
    Score,
    Shard,
    Status,
)
from scoring.models.bulk import bulk_insert, forgo_disk_wait
from scoring.models.runs import result_rows
from scoring.models.runs.result_rows import ScoreRow

_COLUMNS: Final = (
    *("pk", "trial", "text", "json", "error", "case__position", "case__key", "case__input_json"),
    *("case__expected_json", "case__references_json", "case__metadata_json", "case__tags_json"),
)
IDS_A_QUERY: Final = 500

OutputRow = tuple[Any, ...]  # _COLUMNS

_configured: dict[tuple[str, float], configured.ConfiguredScorer] = {}


def execute_shard(shard_id: int) -> None:
    """Execute one shard. Executing it again, or in two processes, changes nothing.

    It depends on nothing but the rows, so any process may run it. Raises RunStoppedError, and
    stores nothing, when the services its scorers call are told to stop.
    """
    shard = Shard.objects.select_related("attempt__run").get(pk=shard_id)
    if not shard.done_at:
        with log_context(run=shard.attempt.run.uuid, shard=shard.pk):
            _STEPS[AttemptKind(shard.attempt.kind)](shard)


def fail_shard(shard_id: int, code: str, reason: str) -> None:
    """Close a shard that cannot be executed: each of its outputs gets an error from each scorer.

    A retry keeps the old errors.
    """
    shard = Shard.objects.select_related("attempt__run").get(pk=shard_id)
    if shard.attempt.kind == AttemptKind.RETRY:
        _store(shard, [], [])
        return
    if shard.attempt.kind == AttemptKind.GENERATE:
        first_case, last_case = shard.first_output, shard.last_output
        _store_outputs(
            shard,
            outputs_generation.failed_output_rows(
                _generation(shard), first_case, last_case, reason
            ),
        )
        return
    outputs = _read(shard)
    failed = [contract.error(code, reason)] * len(outputs)
    ids = [output[0] for output in outputs]
    table = [
        result_rows.score_rows(scorer.pk, ids, failed)
        for scorer in shard.attempt.run.frozen_scorers
    ]
    _store(shard, table, _verdict_rows(shard, outputs, table))


def _generate(shard: Shard) -> None:
    with services_for(shard.attempt.run):
        outputs = outputs_generation.make_outputs(
            _generation(shard), shard.first_output, shard.last_output
        )
    _store_outputs(shard, outputs)


def _generation(shard: Shard) -> Generation:
    return Generation.objects.select_related("output_set").get(
        output_set=shard.attempt.run.output_set_id
    )


def _store_outputs(shard: Shard, outputs: Sequence[result_rows.OutputRow]) -> None:
    with transaction.atomic():
        if _close(shard):
            outputs_generation.store_outputs(outputs)


def _score(shard: Shard) -> None:
    outputs = _read(shard)
    cases = [_case(output) for output in outputs]
    ids = [output[0] for output in outputs]
    scorers = shard.attempt.run.frozen_scorers
    reuse = score_reuse.ShardReuse(shard, scorers)
    table = []
    with _services(shard, scorers):
        for scorer in scorers:
            copied = reuse.copy_scores(scorer)
            table.append(_score_column(scorer, ids, cases, copied))
    _store(shard, table, _verdict_rows(shard, outputs, table))


def _score_column(
    scorer: RunScorer,
    ids: Sequence[int],
    cases: Sequence[contract.Case],
    copied: dict[int, ScoreRow],
) -> list[ScoreRow]:
    """One scorer's rows for these outputs, in their order; only what is not copied is scored."""
    if not copied:
        return result_rows.score_rows(scorer.pk, ids, _results(scorer, cases))
    rest = {output: case for output, case in zip(ids, cases, strict=True) if output not in copied}
    results = _results(scorer, list(rest.values())) if rest else []
    scored = result_rows.score_rows(scorer.pk, list(rest), results)
    by_output = copied | {row[1]: row for row in scored}
    return [by_output[output] for output in ids]


def _results(scorer: RunScorer, cases: Sequence[contract.Case]) -> list[contract.Result]:
    """The scorer's results; where a service it needs failed as a whole, an error for each case."""
    try:
        return configured_scorer(scorer).score(cases)
    except ServiceError as fault:
        return [contract.error(getattr(fault, "code", "service_failed"), fault.text)] * len(cases)


def _services(shard: Shard, scorers: Iterable[RunScorer]) -> AbstractContextManager[None]:
    """The services that these scorers call, if any of them calls some."""
    is_needed = any(requirements.calls_models(scorer.version) for scorer in scorers)
    return services_for(shard.attempt.run) if is_needed else nullcontext()


def _retry(shard: Shard) -> None:
    """Score the outputs again for exactly those scorers whose row is an error of this cause."""
    scorers = {scorer.pk: scorer for scorer in shard.attempt.run.frozen_scorers}
    errors, code = _scores_of(shard).filter(status=Status.ERROR), shard.attempt.code
    errors = errors.filter(code=code) if code else errors
    failed: defaultdict[int, set[int]] = defaultdict(set)
    for scorer_id, output in errors.values_list("scorer", "output"):
        failed[scorer_id].add(output)
    wanted = set[int]().union(*failed.values())
    _generate_missing(shard.attempt.run, wanted)
    cases = {output[0]: _case(output) for output in _read(shard) if output[0] in wanted}
    table = []
    with _services(shard, scorers.values()):
        for scorer_id, outputs in failed.items():
            ids = [output for output in cases if output in outputs]
            results = _results(scorers[scorer_id], [cases[output] for output in ids])
            table.append(result_rows.score_rows(scorer_id, ids, results))
    with transaction.atomic():
        if _close(shard):
            _rewrite_scores(table)
            _rewrite_verdicts(shard, wanted)


def _generate_missing(run: Run, outputs: Iterable[int]) -> None:
    """Generate those of the outputs that the run could not make, before they are scored."""
    if generation := outputs_generation.find_generation(run):
        failed = Output.objects.filter(pk__in=list(outputs), text=None)
        with services_for(run):
            outputs_generation.regenerate(
                generation, list(failed.select_related("case").order_by("pk"))
            )


def _scores_of(shard: Shard) -> QuerySet[Score]:
    return Score.objects.filter(
        scorer__run=shard.attempt.run_id,
        output__gte=shard.first_output,
        output__lte=shard.last_output,
    )


def _rewrite_scores(table: Iterable[list[ScoreRow]]) -> None:
    for column in table:
        for start in range(0, len(column), IDS_A_QUERY):
            rows = column[start : start + IDS_A_QUERY]
            outputs = [row[1] for row in rows]
            Score.objects.filter(scorer=rows[0][0], output__in=outputs).delete()
            bulk_insert(Score, result_rows.SCORE_COLUMNS, rows)


def _rewrite_verdicts(shard: Shard, outputs: Collection[int]) -> None:
    """Judge these outputs anew from all their score rows."""
    ranks: dict[int, int] = {}
    for output, status, verdict in _scores_of(shard).values_list("output", "status", "verdict"):
        if output in outputs:
            ranks[output] = max(ranks.get(output, 0), result_rows.RANK[status, verdict])
    by_rank: defaultdict[int, list[int]] = defaultdict(list)
    for output, rank in ranks.items():
        by_rank[rank].append(output)
    verdicts = CaseVerdict.objects.filter(run=shard.attempt.run_id)
    for rank, same in by_rank.items():
        verdicts.filter(output__in=same).update(verdict=result_rows.VERDICT_OF_RANK[rank])


def configured_scorer(scorer: RunScorer) -> configured.ConfiguredScorer:
    """The configured scorer of a run's frozen version, kept for the life of the process."""
    version, threshold = scorer.version, scorer.threshold
    key = version.fingerprint, threshold
    if key not in _configured:
        _configured[key] = configured.configure_scorer(version.type, version.config, threshold)
    return _configured[key]


def _read(shard: Shard) -> list[OutputRow]:
    """The shard's outputs with their cases, in the order of their ids."""
    within = Output.objects.filter(pk__range=(shard.first_output, shard.last_output))
    # An expression, lest SQLite walks the whole set by its index instead of this range of ids.
    own = within.alias(own_set=F("output_set_id") + 0).filter(
        own_set=shard.attempt.run.output_set_id
    )
    return _rows(own)


def cases_of_outputs(output_ids: Sequence[int]) -> list[contract.Case]:
    """The cases of these outputs as scorers see them, in this order."""
    cases: dict[int, contract.Case] = {}
    for start in range(0, len(output_ids), IDS_A_QUERY):
        ids = output_ids[start : start + IDS_A_QUERY]
        cases.update((row[0], _case(row)) for row in _rows(Output.objects.filter(pk__in=ids)))
    return [cases[output] for output in output_ids]


def _rows(outputs: QuerySet[Output]) -> list[OutputRow]:
    # As a number: Django converts booleans row by row, which takes a fifth of the reading.
    plain = outputs.annotate(json=Cast("is_json", IntegerField()))
    return list(plain.order_by("pk").values_list(*_COLUMNS))


def _case(output: OutputRow) -> contract.Case:
    _, _, text, is_json, error, _, key, given, expected, references, metadata, tags = output
    return contract.Case(
        output=_value(text) if is_json and text is not None else text,
        expected=None if expected is None else _value(expected),
        input=_value(given),
        id=key,
        references=() if references == "[]" else tuple(_value(references)),
        metadata=contract.EMPTY if metadata == "{}" else _value(metadata),
        tags=() if tags == "[]" else tuple(_value(tags)),
        failure="" if text is not None else error or "no output was produced",
    )


def _value(text: str) -> Json:
    # orjson makes a float of an integer beyond 64 bits, so it reads plain texts only.
    return orjson.loads(text) if text.startswith('"') else json.loads(text)


def _verdict_rows(
    shard: Shard, outputs: Sequence[OutputRow], table: Sequence[Sequence[ScoreRow]]
) -> list[tuple[Any, ...]]:
    run_id = shard.attempt.run_id
    verdicts = result_rows.case_verdicts(table)
    missing = result_rows.missing_expected(table)
    return [
        (run_id, output[0], output[5], output[1], verdict, output[0] in missing)
        for output, verdict in zip(outputs, verdicts, strict=True)
    ]


def _store(
    shard: Shard, table: Iterable[list[ScoreRow]], verdicts: Sequence[tuple[Any, ...]]
) -> None:
    with transaction.atomic():
        forgo_disk_wait()  # a shard that a crash takes back is open again, and scored again
        if _close(shard):
            scores = list(chain.from_iterable(table))
            bulk_insert(Score, result_rows.SCORE_COLUMNS, scores, ignore_existing=True)
            bulk_insert(CaseVerdict, result_rows.VERDICT_COLUMNS, verdicts, ignore_existing=True)


def _close(shard: Shard) -> bool:
    """Mark the shard done inside the caller's transaction; False when another process has."""
    return bool(Shard.objects.filter(pk=shard.pk, done_at=None).update(done_at=timezone.now()))


_STEPS: Final = {
    AttemptKind.GENERATE: _generate,
    AttemptKind.SCORE: _score,
    AttemptKind.RETRY: _retry,
}
