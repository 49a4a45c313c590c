"""Stored replies for the demo's judge, so that its runs are scored without calling a model.

They are rows under the keys the engine looks for. Their connection says in its name what they
are, and its URL leads nowhere: an output that has no stored reply ends as an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import transaction

from scoring.core.llm.judge_reply import reply_problem
from scoring.core.llm.reply_cache import reply_key
from scoring.engine.demo.story import DemoCase, ScoredAnswer
from scoring.engine.demo.support_judge import CONNECTION, MODEL, URL
from scoring.engine.estimates.scoring_estimate import expected_questions
from scoring.engine.runs.execution import cases_of_outputs, configured_scorer
from scoring.engine.runs.requirements import scorer_families
from scoring.engine.services.reply_store import StoredReplies
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


def add_connection(team: Team, by: User | None) -> Connection:
    """The connection the replies are kept for; never the default, lest others' scorers use it."""
    free = {"name": MODEL, "usd_per_million_in": 0, "usd_per_million_out": 0}
    with transaction.atomic():
        connection = Connection.objects.create(
            team=team, name=CONNECTION, base_url=URL, offered=[free], created_by=by
        )
        new = connection.described()
        AuditEntry.objects.record(team, by, "connection.created", connection, new=new)
    return connection


def store_replies(run: Run, cases: Iterable[DemoCase], reply_to: ScoredAnswer) -> None:
    """Store the reply to each output of the run that has none, for each of its judges.

    One that no score can be read from is stored under its key, too: there is no model to ask again.
    """
    for scorer in run.scorers.select_related("version"):
        if "llm" in scorer_families(scorer.version.type, scorer.version.config):
            _store_replies_of(scorer, run, {case.key: case for case in cases}, reply_to)


def _store_replies_of(
    scorer: RunScorer, run: Run, demo_cases: Mapping[str, DemoCase], reply_to: ScoredAnswer
) -> None:
    outputs = Output.objects.filter(output_set=run.output_set_id).order_by("pk")
    cases = cases_of_outputs(list(outputs.values_list("pk", flat=True)))
    questions = expected_questions([configured_scorer(scorer)], cases)
    replies = {
        reply_key(URL, question): (question, reply_to(demo_cases[case.id], str(case.output)))
        for case, question in zip(cases, questions, strict=True)
    }
    cache = StoredReplies(run.team, purpose=CallPurpose.JUDGE)
    stored = cache.get_many(list(replies))
    ModelCall.objects.bulk_create(
        cache.row(key, question, reply, fault.code if fault else "")
        for key, (question, reply) in replies.items()
        if key not in stored
        for fault in [reply_problem(reply, question.schema)]
    )
