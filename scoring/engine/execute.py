"""The shard function: read a shard's outputs once, score them, store everything in one go."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

import orjson
from django.db import connection, transaction
from django.db.models import F, IntegerField, QuerySet
from django.db.models.functions import Cast
from django.utils import timezone

from scoring.core import bound, contract
from scoring.core.contract import Json, ServiceError
from scoring.engine import generate, needs, reuse, rows
from scoring.engine.rows import ScoreRow
from scoring.engine.services import answering
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
from scoring.models.bulk import insert

_READ = (
    "pk",
    "trial",
    "text",
    "json",
    "error",
    "case__position",
    "case__key",
    "case__input_json",
    "case__expected_json",
    "case__references_json",
    "case__metadata_json",
    "case__tags_json",
)

IDS_A_QUERY: Final = 500

ReadRow = tuple[Any, ...]  # one row of _READ

_bound: dict[tuple[str, float], bound.BoundScorer] = {}


def execute(shard_id: int) -> None:
    """Score and store one shard. A shard that is done already, or is done twice, changes nothing.

    It depends on nothing but the rows, so any process may run it. Raises Stopped, and then nothing
    is stored, when services its scorers ask were told to stop.
    """
    shard = Shard.objects.select_related("attempt__run").get(pk=shard_id)
    if shard.done_at:
        return
    _STEPS[AttemptKind(shard.attempt.kind)](shard)


def give_up(shard_id: int, code: str, reason: str) -> None:
    """Close a shard that cannot be executed: each of its outputs gets an error from each scorer.

    In a retry the old errors simply stay.
    """
    shard = Shard.objects.select_related("attempt__run").get(pk=shard_id)
    if shard.attempt.kind == AttemptKind.RETRY:
        _store(shard, [], [])
        return
    if shard.attempt.kind == AttemptKind.GENERATE:
        cases = (shard.first_output, shard.last_output)
        _store_outputs(shard, generate.give_up(_generation(shard), *cases, reason))
        return
    outputs = _read(shard)
    failed = [contract.error(code, reason)] * len(outputs)
    ids = [output[0] for output in outputs]
    table = [rows.score_rows(scorer.pk, ids, failed) for scorer in _scorers(shard)]
    _store(shard, table, _verdict_rows(shard, outputs, table))


def _generate(shard: Shard) -> None:
    with answering(shard.attempt.run):
        made = generate.make_outputs(_generation(shard), shard.first_output, shard.last_output)
    _store_outputs(shard, made)


def _generation(shard: Shard) -> Generation:
    return Generation.objects.select_related("output_set").get(
        output_set=shard.attempt.run.output_set_id
    )


def _store_outputs(shard: Shard, made: Sequence[rows.OutputRow]) -> None:
    with transaction.atomic():
        if _close(shard):
            generate.store(made)


def _score(shard: Shard) -> None:
    outputs = _read(shard)
    cases = [_case(output) for output in outputs]
    ids = [output[0] for output in outputs]
    scorers = _scorers(shard)
    donors = reuse.donors(shard.attempt.run, scorers)
    table = []
    with _services(shard, scorers):
        for scorer in scorers:
            known = reuse.copied(donors.get(scorer.pk), scorer, shard)
            table.append(_score_column(scorer, ids, cases, known))
    _store(shard, table, _verdict_rows(shard, outputs, table))


def _score_column(
    scorer: RunScorer,
    ids: Sequence[int],
    cases: Sequence[contract.Case],
    known: dict[int, ScoreRow],
) -> list[ScoreRow]:
    """One scorer's rows for these outputs, in their order; only what is not `known` is scored."""
    if not known:
        return rows.score_rows(scorer.pk, ids, _results(scorer, cases))
    unknown = [place for place, output in enumerate(ids) if output not in known]
    results = _results(scorer, [cases[place] for place in unknown]) if unknown else []
    fresh = rows.score_rows(scorer.pk, [ids[place] for place in unknown], results)
    known.update((row[1], row) for row in fresh)
    return [known[output] for output in ids]


def _results(scorer: RunScorer, cases: Sequence[contract.Case]) -> list[contract.Result]:
    """The scorer's results; where a service it needs failed as a whole, an error for each case."""
    try:
        return ready(scorer).score(cases)
    except ServiceError as fault:
        return [contract.error(getattr(fault, "code", "service_failed"), fault.text)] * len(cases)


def _services(shard: Shard, scorers: Iterable[RunScorer]) -> AbstractContextManager[None]:
    """Who answers these scorers; nobody where none of them asks."""
    is_needed = any(needs.asks(scorer.version) for scorer in scorers)
    return answering(shard.attempt.run) if is_needed else nullcontext()


def _retry(shard: Shard) -> None:
    """Score again exactly the outputs and scorers whose row is an error, of the attempt's cause."""
    scorers = {scorer.pk: scorer for scorer in _scorers(shard)}
    failed = defaultdict(set)
    for scorer_id, output in _errors_of(shard).values_list(*_PAIR):
        failed[scorer_id].add(output)
    wanted = set().union(*failed.values())
    _make_again(shard.attempt.run, wanted)
    outputs = [output for output in _read(shard) if output[0] in wanted]
    cases = {output[0]: _case(output) for output in outputs}
    changed = []
    with _services(shard, scorers.values()):
        for scorer_id, ids in failed.items():
            again = [output for output in cases if output in ids]
            results = _results(scorers[scorer_id], [cases[output] for output in again])
            changed.append(rows.score_rows(scorer_id, again, results))
    with transaction.atomic():
        if _close(shard):
            _rewrite_scores(changed)
            _rewrite_verdicts(shard, cases)


def _make_again(run: Run, outputs: Iterable[int]) -> None:
    """Outputs that the run could not make come first: nothing else can be wrong with them."""
    if generation := generate.generation_of(run):
        failed = Output.objects.filter(pk__in=list(outputs), text=None)
        with answering(run):
            generate.make_again(generation, list(failed.select_related("case").order_by("pk")))


_PAIR = ("scorer", "output")


def _errors_of(shard: Shard) -> Any:
    errors, code = _rows_of(shard).filter(status=Status.ERROR), shard.attempt.code
    return errors.filter(code=code) if code else errors


def _rows_of(shard: Shard) -> Any:
    return Score.objects.filter(
        scorer__run=shard.attempt.run_id,
        output__gte=shard.first_output,
        output__lte=shard.last_output,
    )


def _rewrite_scores(table: Iterable[list[ScoreRow]]) -> None:
    assigned = ", ".join(f"{column} = %s" for column in rows.SCORE_COLUMNS[2:])
    statement = (
        f"UPDATE {Score._meta.db_table} SET {assigned} WHERE scorer_id = %s AND output_id = %s"  # noqa: S608  names from the code
    )
    with connection.cursor() as cursor:
        for column in table:
            cursor.executemany(statement, [(*row[2:], row[0], row[1]) for row in column])


def _rewrite_verdicts(shard: Shard, outputs: Iterable[int]) -> None:
    """Judge these outputs anew from all their score rows."""
    wanted = set(outputs)
    ranks: dict[int, int] = {}
    for output, status, verdict in _rows_of(shard).values_list("output", "status", "verdict"):
        if output in wanted:
            ranks[output] = max(ranks.get(output, 0), rows.RANK[status, verdict])
    new = [(rows.VERDICT_OF_RANK[rank], output) for output, rank in ranks.items()]
    by_output = CaseVerdict.objects.filter(run=shard.attempt.run_id)
    for verdict in {verdict for verdict, _ in new}:
        same = [output for each, output in new if each == verdict]
        by_output.filter(output__in=same).update(verdict=verdict)


def ready(scorer: RunScorer) -> bound.BoundScorer:
    """The bound scorer of a run's frozen version; each process binds it once."""
    version = scorer.version
    key = version.fingerprint, scorer.threshold
    if key not in _bound:
        _bound[key] = bound.bind(version.type, version.config, scorer.threshold)
    return _bound[key]


def _scorers(shard: Shard) -> list[RunScorer]:
    return list(shard.attempt.run.scorers.select_related("version"))


def _read(shard: Shard) -> list[ReadRow]:
    """The shard's outputs with their cases, in the order of their ids."""
    within = Output.objects.filter(pk__range=(shard.first_output, shard.last_output))
    # An expression, lest SQLite walks the whole set by its index instead of this range of ids.
    own = within.alias(own_set=F("output_set_id") + 0).filter(
        own_set=shard.attempt.run.output_set_id
    )
    return _rows(own)


def cases_of(output_ids: Sequence[int]) -> list[contract.Case]:
    """The cases of these outputs as scorers see them, in this order."""
    found: dict[int, contract.Case] = {}
    for start in range(0, len(output_ids), IDS_A_QUERY):
        some = output_ids[start : start + IDS_A_QUERY]
        found.update((row[0], _case(row)) for row in _rows(Output.objects.filter(pk__in=some)))
    return [found[output] for output in output_ids]


def _rows(outputs: QuerySet[Output]) -> list[ReadRow]:
    # As a plain number: Django would convert a boolean row by row, a fifth of the reading.
    plain = outputs.annotate(json=Cast("is_json", IntegerField()))
    return list(plain.order_by("pk").values_list(*_READ))


def _case(output: ReadRow) -> contract.Case:
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
    # orjson would make a float of an integer beyond 64 bits, so it reads plain texts only.
    return orjson.loads(text) if text.startswith('"') else json.loads(text)


def _verdict_rows(
    shard: Shard, outputs: Sequence[ReadRow], table: Sequence[Sequence[ScoreRow]]
) -> list[tuple[Any, ...]]:
    run_id = shard.attempt.run_id
    verdicts = rows.case_verdicts(table)
    missing = rows.missing_expected(table)
    return [
        (run_id, output[0], output[5], output[1], verdict, output[0] in missing)
        for output, verdict in zip(outputs, verdicts, strict=True)
    ]


def _store(
    shard: Shard, table: Iterable[list[ScoreRow]], verdicts: Sequence[tuple[Any, ...]]
) -> None:
    with transaction.atomic():
        if not _close(shard):
            return
        for column in table:
            insert(Score, rows.SCORE_COLUMNS, column, ignore_existing=True)
        insert(CaseVerdict, rows.VERDICT_COLUMNS, verdicts, ignore_existing=True)


def _close(shard: Shard) -> bool:
    """Mark the shard done inside the caller's transaction; False when another process has."""
    now = timezone.now()
    return bool(Shard.objects.filter(pk=shard.pk, done_at=None).update(done_at=now))


_STEPS: Final = {
    AttemptKind.GENERATE: _generate,
    AttemptKind.SCORE: _score,
    AttemptKind.RETRY: _retry,
}
