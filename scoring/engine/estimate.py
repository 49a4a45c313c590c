"""What a run's judges will cost and how long they take, before anything is asked."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean, median
from typing import Final

from django.db.models import Max, Q

from scoring.core.bound import BoundScorer, bind_child
from scoring.core.contract import Case, ServiceError
from scoring.core.judge.endpoint import Endpoint
from scoring.core.judge.keys import reply_key
from scoring.core.scorers.combine import CombineConfig
from scoring.core.services import Answer, Fault, Question, Vectors, using
from scoring.engine import services
from scoring.engine.execute import cases_of
from scoring.engine.replies import KeptReplies
from scoring.models import ModelCall, Output, OutputSet, Scorer, Team

EXACT_OUTPUTS: Final = 1_000
SAMPLE: Final = 500
BYTES_A_TOKEN: Final = 4  # of UTF-8: a rule of thumb, every model counts its own way
ASSUMED_TOKENS_OUT: Final = 120
ASSUMED_SECONDS: Final = 2.0
RECENT_CALLS: Final = 200
RECENT_ROWS: Final = 20_000  # among which calls of the same model are looked for


@dataclass(frozen=True)
class Estimate:
    """Calls to be paid, those answered from kept replies, and what they come to.

    `cost_usd` is None where a price is not known. `is_exact` tells of the two counts: false where
    they are scaled up from a sample. `is_time_assumed`: some model was never called before, and 2
    seconds a call are assumed. `problems` are why some calls cannot be made at all, `unpriced` the
    models without a price, each with its connection.
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
class Listener:
    """Services that only write down what they are asked."""

    questions: list[Question] = field(default_factory=list)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.questions += questions
        return [Fault("cancelled", "only counted", attempts=0)] * len(questions)

    def embed(self, texts: Sequence[str], **_: object) -> Vectors:  # noqa: ARG002
        raise ServiceError("only counted", retry=False)


def estimate(output_set: OutputSet, scorers: Iterable[Scorer]) -> Estimate:
    """For scoring this output set with the present versions of these scorers.

    Exact up to EXACT_OUTPUTS outputs, else from a sample that is the same each time.
    """
    team = output_set.version.dataset.team
    judges = judges_of(scorers)
    if not judges:
        return Estimate()
    ids = list(Output.objects.filter(output_set=output_set).values_list("pk", flat=True))
    chosen = ids
    if len(ids) > EXACT_OUTPUTS:
        chosen = sorted(random.Random(output_set.pk).sample(ids, SAMPLE))  # noqa: S311
    asked = questions_of(judges, cases_of(chosen))
    return estimate_calls(team, asked, len(ids) / (len(chosen) or 1))


def estimate_calls(team: Team, questions: Sequence[Question], factor: float = 1.0) -> Estimate:
    """For these questions; each stands for `factor` ones."""
    endpoints = {
        name: services.endpoint_of(team, name)
        for name in dict.fromkeys(question.connection for question in questions)
    }
    wanted = _distinct(questions, endpoints)
    kept = KeptReplies(team).get_many(list(wanted))
    groups: defaultdict[tuple[str | None, str], list[Question]] = defaultdict(list)
    for key, question in wanted.items():
        if key not in kept:
            groups[question.connection, question.model].append(question)
    parts = [_part(team, endpoints[name], model, asked) for (name, model), asked in groups.items()]
    faults = [found.text for found in endpoints.values() if isinstance(found, Fault)]
    return _summed(parts, len(kept), factor, tuple(faults))


@dataclass(frozen=True)
class _Part:
    """What is asked of one model, before it is scaled."""

    calls: int
    tokens_in: int
    tokens_out: float
    cost_usd: float | None
    seconds: float
    is_time_assumed: bool
    unpriced: tuple[tuple[str, str], ...]


def _part(team: Team, endpoint: Endpoint | Fault, model: str, asked: Sequence[Question]) -> _Part:
    place = endpoint if isinstance(endpoint, Endpoint) else Endpoint("", "")
    seconds, tokens_each = experience(team, place.name, model)
    tokens_in = sum(map(_tokens, asked))
    tokens_out = len(asked) * tokens_each
    cost_usd = place.cost_usd(model, tokens_in, round(tokens_out))
    is_known = cost_usd is not None or endpoint is not place
    return _Part(
        calls=len(asked),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=cost_usd,
        seconds=len(asked) * (seconds or ASSUMED_SECONDS) / place.concurrency,
        is_time_assumed=seconds is None,
        unpriced=() if is_known else ((model, place.name),),
    )


def _summed(
    parts: Sequence[_Part], cached: int, factor: float, problems: tuple[str, ...]
) -> Estimate:
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    return Estimate(
        calls=round(factor * sum(part.calls for part in parts)),
        cached=round(factor * cached),
        tokens_in=round(factor * sum(part.tokens_in for part in parts)),
        tokens_out=round(factor * sum(part.tokens_out for part in parts)),
        cost_usd=factor * sum(costs) if len(costs) == len(parts) else None,
        seconds=factor * sum(part.seconds for part in parts),
        is_exact=factor == 1.0,
        is_time_assumed=any(part.is_time_assumed for part in parts),
        problems=problems,
        unpriced=tuple(each for part in parts for each in part.unpriced),
    )


def judges_of(scorers: Iterable[Scorer]) -> list[BoundScorer]:
    """What asks a model in the present versions of these scorers, inside combinations too."""
    return [judge for scorer in scorers for judge in judges_in(_bound(scorer))]


def questions_of(judges: Iterable[BoundScorer], cases: Sequence[Case]) -> list[Question]:
    """What the judges would ask of these cases; nobody is asked."""
    listener = Listener()
    with using(listener):
        for judge in judges:
            judge.score(cases)
    return listener.questions


def _bound(scorer: Scorer) -> BoundScorer | None:
    version = scorer.current
    return bind_child(version.type, version.config) if version else None


def judges_in(scorer: BoundScorer | None) -> Iterator[BoundScorer]:
    """The scorers inside that ask a model; only these are run to see what they ask."""
    if scorer:
        yield from (each for each in asking_in(scorer) if each.type.family == "llm")


def asking_in(scorer: BoundScorer) -> Iterator[BoundScorer]:
    """The scorers inside that ask for replies or vectors, in the order in which they do."""
    if isinstance(scorer.config, CombineConfig):
        for child in scorer.config.children:
            yield from asking_in(child.scorer)
    elif scorer.needs_services:
        yield scorer


def _distinct(
    questions: Iterable[Question], endpoints: Mapping[str | None, Endpoint | Fault]
) -> dict[str, Question]:
    """Each question once, by the key of its reply."""
    found: dict[str, Question] = {}
    for question in questions:
        endpoint = endpoints[question.connection]
        url = endpoint.base_url if isinstance(endpoint, Endpoint) else f"{question.connection}"
        found.setdefault(reply_key(url, question), question)
    return found


def _tokens(question: Question) -> int:
    size = sum(len(message.content.encode("utf-8", "replace")) for message in question.messages)
    return ceil(size / BYTES_A_TOKEN)


def experience(team: Team, connection: str, model: str) -> tuple[float | None, float]:
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
