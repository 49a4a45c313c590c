"""Progress of a job that scores through models; the job stops once nobody wants it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db import InterfaceError, OperationalError

from scoring.core.configured import ConfiguredScorer
from scoring.core.contract import Case
from scoring.core.services import Answer, OnProgress, Provider, Question, Vectors, use_services
from scoring.engine.estimates.scoring_estimate import (
    CostEstimate,
    QuestionRecorder,
    calling_scorers,
    estimate_calls,
)
from scoring.engine.jobs.progress import JobProgress, Stage, StageProgress
from scoring.engine.services.team_services import TeamServices
from scoring.models import Job, Team

log = logging.getLogger(__name__)

EMBEDDING_SECONDS: Final = 0.02  # to embed a text, at a guess
CACHED_REPLY_SECONDS: Final = 0.001  # to look up a stored reply


class ExpectedCall(NamedTuple):
    """A future call of the services: for how many replies or vectors."""

    doing: str
    total: int
    seconds: float


def expected_call(estimate: CostEstimate) -> ExpectedCall:
    """The call that asks the estimated questions."""
    total = estimate.calls + estimate.cached
    return ExpectedCall("replies", total, estimate.seconds + total * CACHED_REPLY_SECONDS)


class CallRecorder(QuestionRecorder):
    """Services that record the calls they get, and how long each would take."""

    def __init__(self, team: Team) -> None:
        super().__init__()
        self._team = team
        self.calls: list[ExpectedCall] = []

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.calls.append(expected_call(estimate_calls(self._team, questions)))
        return super().ask(questions)

    def embed(self, texts: Sequence[str], **_: object) -> Vectors:
        self.calls.append(
            ExpectedCall("texts embedded", len(texts), len(texts) * EMBEDDING_SECONDS)
        )
        return super().embed(texts)


def expected_calls(
    team: Team, scorer: ConfiguredScorer, cases: Sequence[Case]
) -> list[ExpectedCall]:
    """What the scorer will ask for these cases, in its order; no model is called."""
    recorder = CallRecorder(team)
    with use_services(recorder):
        for child in calling_scorers(scorer):
            child.score(cases)
    return recorder.calls


class ReportingServices:
    """The services of a job's team, which report the job's progress through the expected calls;
    an unexpected one is answered, too.
    """

    def __init__(self, job: Job, services: TeamServices, calls: Sequence[ExpectedCall]) -> None:
        self._job, self._services = job, services
        self._ahead = list(calls)
        stages = [Stage(call.doing, max(call.seconds, CACHED_REPLY_SECONDS)) for call in calls]
        self._stages = StageProgress(iter(stages), self._report, are_seconds=True)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        return self._services.ask(questions, self._begin_stage())

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        on_progress = self._begin_stage()
        return self._services.embed(
            texts, provider=provider, model=model, connection=connection, on_progress=on_progress
        )

    def _begin_stage(self) -> OnProgress | None:
        return self._stages.begin(self._ahead.pop(0).total) if self._ahead else None

    def _report(self, progress: JobProgress) -> None:
        """Progress that cannot be written is no reason to give up what is paid for."""
        try:
            is_wanted = self._job.store_progress(progress._asdict())
        except (OperationalError, InterfaceError) as fault:
            log.warning("job %s tells nothing: %s", self._job.uuid, fault)
            return
        if not is_wanted:
            self._services.stop()
