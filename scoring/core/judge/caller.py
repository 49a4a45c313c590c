"""Many questions in, as many answers out: from what is kept, else from the endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import Final

from scoring.core.judge.batch import Barred, Batch, Job
from scoring.core.judge.endpoint import Endpoint
from scoring.core.judge.keys import reply_key
from scoring.core.judge.ledger import Budget, ReplyCache
from scoring.core.judge.switchboard import Switchboard, shared
from scoring.core.services import Answer, Fault, Heard, Question, Reply

HEARD_SECONDS: Final = 0.5  # between two times that somebody hears how far a batch is
CANCELLED: Final = Fault("cancelled", "the calls were stopped before this one", attempts=0)


@dataclass
class _Asked:
    """A question with its endpoint, or with the fault that there is none."""

    question: Question
    endpoint: Endpoint | Fault
    key: str = ""


class Caller:
    """Asks questions of the endpoints that `endpoints` gives for connection names.

    Any thread may ask, several at a time. `stop` lets calls under way end and begins no other.
    A refused key, an exhausted quota or a missing model ends all calls of that kind: what they
    would have asked gets the same fault, also in later batches.
    """

    def __init__(
        self,
        endpoints: Callable[[str | None], Endpoint | Fault],
        kept: ReplyCache,
        budget: Budget | None = None,
        *,
        switchboard: Switchboard | None = None,
    ) -> None:
        self._endpoints, self._kept, self._budget = endpoints, kept, budget
        self._own_switchboard = switchboard
        self._batches: set[Batch] = set()
        self._barred: Barred = {}
        self._is_stopped = False

    @property
    def standstill(self) -> str:
        """Why no call is made at present; empty while calls are made or none is wanted."""
        texts = (batch.standstill for batch in tuple(self._batches))
        return next((text for text in texts if text), "")

    def ask(self, questions: Sequence[Question], heard: Heard | None = None) -> list[Answer]:
        """One answer per question, in order; equal questions are asked once.

        `heard` is called in this thread while the answers are waited for, kept ones included.
        """
        asked = self._located(questions)
        kept = self._kept.get_many(list(dict.fromkeys(each.key for each in asked if each.key)))
        jobs = self._jobs(asked, kept)
        if jobs and not self._is_stopped:
            self._run(list(jobs.values()), heard, len(kept))
        return list(_answers(asked, kept, jobs))

    def stop(self) -> None:
        """Begin no further call; what is waiting is answered with `cancelled`."""
        self._is_stopped = True
        for batch in tuple(self._batches):
            batch.stop()

    def _located(self, questions: Sequence[Question]) -> list[_Asked]:
        names = dict.fromkeys(question.connection for question in questions)
        endpoints = {name: self._endpoints(name) for name in names}
        asked = [_Asked(question, endpoints[question.connection]) for question in questions]
        for each in asked:
            if isinstance(each.endpoint, Endpoint):
                each.key = reply_key(each.endpoint.base_url, each.question)
        return asked

    def _jobs(self, asked: Iterable[_Asked], kept: Mapping[str, Reply]) -> dict[str, Job]:
        jobs: dict[str, Job] = {}
        for each in asked:
            if each.key and each.key not in kept and isinstance(each.endpoint, Endpoint):
                jobs.setdefault(each.key, Job(each.question, each.endpoint, each.key))
        return jobs

    def _run(self, jobs: list[Job], heard: Heard | None, kept: int) -> None:
        switchboard = self._own_switchboard or shared()
        batch = Batch(jobs, switchboard, self._kept, self._budget, self._barred)
        self._batches.add(batch)
        if self._is_stopped:  # between the first look and now
            batch.stop()
        running = switchboard.start(batch.run())
        try:
            while heard and wait([running], HEARD_SECONDS).not_done:
                answered = sum(job.answer is not None for job in jobs)
                heard((kept + answered) / (kept + len(jobs)))
            running.result()
        except (KeyboardInterrupt, asyncio.CancelledError):
            running.cancel()
            raise
        finally:
            self._batches.discard(batch)


def _answers(
    asked: Iterable[_Asked], kept: Mapping[str, Reply], jobs: Mapping[str, Job]
) -> Iterable[Answer]:
    """The second of two equal questions is answered from the first, at no cost."""
    used: set[str] = set()
    for each in asked:
        if isinstance(each.endpoint, Fault):
            yield each.endpoint
        elif each.key in kept:
            yield kept[each.key]
        else:
            answer = jobs[each.key].answer or CANCELLED
            if isinstance(answer, Reply) and each.key in used:
                answer = replace(answer, is_cached=True, cost_usd=0.0)
            used.add(each.key)
            yield answer
