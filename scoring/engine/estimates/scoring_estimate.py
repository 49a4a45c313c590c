"""What a run's judges will cost and how long they take, before anything is asked."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Final, NamedTuple

from django.db.models import Max, Q

from scoring.core.configured import ConfiguredScorer, configure_child
from scoring.core.contract import Case, ServiceError
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.reply_cache import reply_key
from scoring.core.llm.token_estimate import estimate_question_tokens
from scoring.core.scorers.combinations import CombineConfig
from scoring.core.services import Answer, CallFailure, Question, Vectors, use_services
from scoring.engine.runs.execution import cases_of_outputs
from scoring.engine.services import team_services
from scoring.engine.services.reply_store import StoredReplies
from scoring.models import ModelCall, Output, OutputSet, Scorer, Team

EXACT_OUTPUTS: Final = 1_000
SAMPLE: Final = 500
ASSUMED_TOKENS_OUT: Final = 120
ASSUMED_SECONDS: Final = 2.0
RECENT_CALLS: Final = 200
RECENT_ROWS: Final = 20_000  # among which calls of the same model are looked for


@dataclass(frozen=True)
class CostEstimate:
    """Calls to be paid, those answered from the reply cache, and their totals.

    `cost_usd` is None where a price is not known. `is_exact` is false where the two counts are
    scaled up from a sample. `is_time_assumed`: some model was never called before, and 2 seconds a
    call are assumed. `problems` say why some calls cannot be made at all, `unpriced` are the models
    without a price, each with its connection.
    """

    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    is_exact: bool = True
    is_time_assumed: bool = False
    problems: tuple[str, ...] = ()
    unpriced: tuple[tuple[str, str], ...] = ()


@dataclass
class QuestionRecorder:
    """Services that record questions and answer none."""

    questions: list[Question] = field(default_factory=list)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.questions += questions
        return [CallFailure("cancelled", "only counted", attempts=0)] * len(questions)

    def embed(self, texts: Sequence[str], **_: object) -> Vectors:  # noqa: ARG002
        raise ServiceError("only counted", retry=False)


def estimate_scoring(output_set: OutputSet, scorers: Iterable[Scorer]) -> CostEstimate:
    """For scoring this output set with the present versions of these scorers.

    Exact up to EXACT_OUTPUTS outputs, else from a sample that is the same each time.
    """
    judges = current_judges(scorers)
    if not judges:
        return CostEstimate()
    ids = list(Output.objects.filter(output_set=output_set).values_list("pk", flat=True))
    chosen = ids
    if len(ids) > EXACT_OUTPUTS:
        chosen = sorted(random.Random(output_set.pk).sample(ids, SAMPLE))  # noqa: S311
    questions = expected_questions(judges, cases_of_outputs(chosen))
    return estimate_calls(output_set.version.dataset.team, questions, len(ids) / (len(chosen) or 1))


def estimate_calls(team: Team, questions: Sequence[Question], factor: float = 1.0) -> CostEstimate:
    """For these questions; each stands for `factor` ones."""
    endpoints = {
        name: team_services.read_endpoint(team, name)
        for name in dict.fromkeys(question.connection for question in questions)
    }
    distinct = _by_reply_key(questions, endpoints)
    cached = StoredReplies(team).get_many(list(distinct))
    by_model: defaultdict[tuple[str | None, str], list[Question]] = defaultdict(list)
    for key, question in distinct.items():
        if key not in cached:
            by_model[question.connection, question.model].append(question)
    usages = [
        _usage(team, endpoints[connection], model, questions)
        for (connection, model), questions in by_model.items()
    ]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return CostEstimate(
        calls=round(factor * sum(usage.calls for usage in usages)),
        cached=round(factor * len(cached)),
        tokens_in=round(factor * sum(usage.tokens_in for usage in usages)),
        tokens_out=round(factor * sum(usage.tokens_out for usage in usages)),
        cost_usd=factor * sum(costs) if len(costs) == len(usages) else None,
        seconds=factor * sum(usage.seconds for usage in usages),
        is_exact=factor == 1.0,
        is_time_assumed=any(usage.is_time_assumed for usage in usages),
        problems=tuple(
            fault.text for fault in endpoints.values() if isinstance(fault, CallFailure)
        ),
        unpriced=tuple(usage.unpriced for usage in usages if usage.unpriced),
    )


class _Usage(NamedTuple):
    """What one model is asked, before it is scaled."""

    calls: int
    tokens_in: int
    tokens_out: float
    cost_usd: float | None
    seconds: float
    is_time_assumed: bool
    unpriced: tuple[str, str] | None


def _usage(
    team: Team, endpoint: Endpoint | CallFailure, model: str, questions: Sequence[Question]
) -> _Usage:
    known = endpoint if isinstance(endpoint, Endpoint) else Endpoint("", "")
    seconds, tokens_each = past_usage(team, known.name, model)
    calls, tokens_in = len(questions), sum(map(estimate_question_tokens, questions))
    cost_usd = known.cost_usd(model, tokens_in, round(calls * tokens_each))
    return _Usage(
        calls,
        tokens_in,
        calls * tokens_each,
        cost_usd,
        seconds=calls * (seconds or ASSUMED_SECONDS) / known.concurrency,
        is_time_assumed=seconds is None,
        unpriced=(model, known.name) if cost_usd is None and endpoint is known else None,
    )


def current_judges(scorers: Iterable[Scorer]) -> list[ConfiguredScorer]:
    """What asks a model in the present versions of these scorers, inside combinations too."""
    versions = [scorer.current for scorer in scorers if scorer.current]
    ready = [configure_child(version.type, version.config) for version in versions]
    return [judge for scorer in ready for judge in judges_in(scorer)]


def expected_questions(judges: Iterable[ConfiguredScorer], cases: Sequence[Case]) -> list[Question]:
    """What the judges would ask of these cases; no model is called."""
    recorder = QuestionRecorder()
    with use_services(recorder):
        for judge in judges:
            judge.score(cases)
    return recorder.questions


def judges_in(scorer: ConfiguredScorer) -> list[ConfiguredScorer]:
    """The scorers inside that ask a model; only these are run to see what they ask."""
    return [child for child in calling_scorers(scorer) if child.type.family == "llm"]


def calling_scorers(scorer: ConfiguredScorer) -> Iterator[ConfiguredScorer]:
    """The scorers inside that ask for replies or vectors, in the order in which they do."""
    if isinstance(scorer.config, CombineConfig):
        for child in scorer.config.children:
            yield from calling_scorers(child.scorer)
    elif scorer.needs_services:
        yield scorer


def _by_reply_key(
    questions: Iterable[Question], endpoints: Mapping[str | None, Endpoint | CallFailure]
) -> dict[str, Question]:
    """Each question once, by the key of its reply."""
    by_key: dict[str, Question] = {}
    for question in questions:
        endpoint = endpoints[question.connection]
        url = endpoint.base_url if isinstance(endpoint, Endpoint) else f"{question.connection}"
        by_key.setdefault(reply_key(url, question), question)
    return by_key


def past_usage(team: Team, connection: str, model: str) -> tuple[float | None, float]:
    """Median seconds and mean tokens of recent replies of this model; None, or the assumed ones."""
    newest: int = ModelCall.objects.aggregate(newest=Max("pk"))["newest"] or 0
    # An endpoint may answer for gpt-5 as gpt-5-2026-01-31.
    same = Q(model=model) | Q(model__startswith=f"{model}-2")
    recent = ModelCall.objects.filter(
        same, team=team, connection_name=connection, pk__gt=newest - RECENT_ROWS
    ).order_by("-pk")
    rows = list(recent.values_list("latency_ms", "tokens_out")[:RECENT_CALLS])
    latencies = [latency for latency, _ in rows if latency is not None]
    tokens = [count for _, count in rows if count is not None]
    seconds = median(latencies) / 1_000 if latencies else None
    return seconds, fmean(tokens) if tokens else ASSUMED_TOKENS_OUT
