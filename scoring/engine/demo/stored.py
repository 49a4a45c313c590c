"""Kept replies for the demo's judge, so that its runs are really scored and nobody is asked.

They are rows under the keys the engine looks for. Their connection says in its name what they
are, and its URL leads nowhere: an output that has no kept reply ends as an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from django.db import transaction

from scoring.core.judge.keys import reply_key
from scoring.core.judge.reply import unusable
from scoring.core.services import Answer, Fault, Question, Reply, using
from scoring.engine.demo.verdicts import CONNECTION, MODEL, URL
from scoring.engine.execute import cases_of, ready
from scoring.engine.needs import families
from scoring.engine.replies import KeptReplies
from scoring.models import (
    AuditEntry,
    CallPurpose,
    Connection,
    ModelCall,
    Output,
    Run,
    RunScorer,
    Team,
    User,
)

Replies = Callable[[str, str], Reply]  # what is replied about a case's key and an output


def connect(team: Team, by: User | None) -> Connection:
    """The connection the replies are kept for; never the default, lest others' scorers use it."""
    free = {"name": MODEL, "usd_per_million_in": 0, "usd_per_million_out": 0}
    with transaction.atomic():
        made = Connection.objects.create(
            team=team, name=CONNECTION, base_url=URL, offered=[free], created_by=by
        )
        AuditEntry.objects.record(team, by, "connection.created", made, new=made.described())
    return made


def store_replies(run: Run, reply_to: Replies) -> None:
    """Keep the reply to each output of the run that has none, for each of its judges.

    Also one that no score can be read from is kept under its key, for nobody can be asked again.
    """
    for scorer in run.scorers.select_related("version"):
        if "llm" in families(scorer.version.type, scorer.version.config):
            _store(run.team, dict(_asked(run, scorer, reply_to)))


def _asked(run: Run, scorer: RunScorer, reply_to: Replies) -> Iterator[tuple[str, Any]]:
    """The questions of a judge with their replies, by key."""
    outputs = Output.objects.filter(output_set=run.output_set_id).order_by("pk")
    cases = cases_of(list(outputs.values_list("pk", flat=True)))
    listening = _Listening()
    with using(listening):
        ready(scorer).score(cases)
    for case, question in zip(cases, listening.questions, strict=True):
        yield reply_key(URL, question), (question, reply_to(case.id, str(case.output)))


def _store(team: Team, asked: dict[str, tuple[Question, Reply]]) -> None:
    kept = KeptReplies(team, purpose=CallPurpose.JUDGE)
    there = kept.get_many(list(asked))
    ModelCall.objects.bulk_create(
        kept.row(key, question, reply, fault.code if fault else "")
        for key, (question, reply) in asked.items()
        if key not in there
        for fault in [unusable(reply, question.schema)]
    )


class _Listening:
    """Services that only hear what a judge asks."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.questions += questions
        return [Fault("cancelled", "only heard")] * len(questions)

    def embed(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("a judge embeds nothing")
