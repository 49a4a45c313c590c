"""The calls of one batch: attempts, pauses between them, and when to stop trying."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from scoring.core.judge.endpoint import Endpoint
from scoring.core.judge.faults import MAX_WAIT_SECONDS, CallProblem
from scoring.core.judge.ledger import Budget, ReplyCache
from scoring.core.judge.reply import unusable
from scoring.core.judge.switchboard import Line, Switchboard
from scoring.core.services import Answer, Fault, Question, Reply

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
BARS_ENDPOINT: Final = frozenset({"key_refused", "quota_exhausted", "endpoint_unreachable"})
LASTS: Final = frozenset({"key_refused", "quota_exhausted", "model_missing"})
NO_BUDGET: Final = Fault(
    "budget_reached",
    "the run's budget is spent; raise it and retry the errors",
    attempts=0,
    can_retry=False,
)

#: Faults by endpoint and model; the model "" stands for all of them.
Barred = dict[tuple[Endpoint, str], Fault]


_ranks = count()


@dataclass
class Job:
    """A question to put to an endpoint. `answer` stays None when the batch was stopped before."""

    question: Question
    endpoint: Endpoint
    key: str
    answer: Answer | None = None


class Batch:
    """Runs jobs on the switchboard's loop, as many at once as the endpoint's gate lets in.

    A fault that no other call of the batch would escape (a refused key, an exhausted quota, a
    missing model, nobody at the address, a pause too long to wait for) bars the rest of the
    batch: those jobs get the same fault with 0 attempts. `barred` brings what earlier batches have
    found out; of what this one does, it takes up what LASTS.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        switchboard: Switchboard,
        kept: ReplyCache,
        budget: Budget | None,
        barred: Barred | None = None,
    ) -> None:
        self._jobs, self._switchboard = jobs, switchboard
        self._kept, self._budget = kept, budget
        self._lasting = {} if barred is None else barred
        self._barred: Barred = {}
        self._lines: list[Line] = []
        self._waiting: set[asyncio.Task[None] | None] = set()
        # The older batch comes first: equal turns would end them all at once, and while their
        # results are stored nobody would ask.
        self._rank = next(_ranks)
        self._is_stopped = False

    @property
    def standstill(self) -> str:
        return next((text for line in self._lines if (text := line.gate.standstill)), "")

    async def run(self) -> None:
        """Answer the jobs. Raises what keeping a reply raises, once calls under way have ended."""
        by_endpoint: defaultdict[Endpoint, list[Job]] = defaultdict(list)
        for job in self._jobs:
            by_endpoint[job.endpoint].append(job)
        workers = [
            self._work(line, todo)
            for endpoint, jobs in by_endpoint.items()
            for line in [self._switchboard.line(endpoint)]
            for todo in [iter(jobs)]
            for _ in range(min(len(jobs), endpoint.concurrency))
        ]
        self._lines = [self._switchboard.line(endpoint) for endpoint in by_endpoint]
        ended = await asyncio.gather(*workers, return_exceptions=True)
        for fault in ended:
            if isinstance(fault, BaseException):
                raise fault

    def stop(self) -> None:
        """Begin no further call. Any thread may say so."""
        self._is_stopped = True
        self._switchboard.loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        for task in self._waiting:
            if task:
                task.cancel()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """What waits in here ends when the batch is stopped."""
        task = asyncio.current_task()
        self._waiting.add(task)
        try:
            yield
        finally:
            self._waiting.discard(task)

    async def _work(self, line: Line, todo: Iterator[Job]) -> None:
        """One of the workers that share a line's jobs."""
        try:
            for job in todo:
                if self._is_stopped:
                    return
                job.answer = await self._answered(job, line)
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise
        except BaseException:
            self._is_stopped = True  # a reply could not be kept: pay for no more of them
            self._interrupt()
            raise

    async def _answered(self, job: Job, line: Line) -> Answer | None:
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempted(job, line, attempt)
            except CallProblem as problem:
                if attempt >= problem.tries:
                    return self._given_up(job, problem, attempt)
                await self._paused(line, problem, attempt)

    async def _attempted(self, job: Job, line: Line, attempt: int) -> Answer | None:
        """The reply of one call. Raises CallProblem.

        The place is held until the reply is kept, so that a killed process has paid for no more
        calls in vain than were under way.
        """
        with self._interruptible():
            in_round = await line.gate.enter(self._rank)
        try:
            if self._is_stopped:
                return None
            if barred := self._bar(job):
                return replace(barred, attempts=attempt - 1)
            return await self._paid(job, line, attempt)
        except CallProblem as problem:
            if problem.is_pressure:
                line.gate.press(in_round)
            raise
        finally:
            line.gate.leave()

    async def _paid(self, job: Job, line: Line, attempt: int) -> Reply:
        try:
            reply = replace(await line.client.call(job.question), attempts=attempt)
            line.gate.grow()
            return await self._written(job, reply)
        finally:
            if self._budget:
                self._budget.end()

    def _bar(self, job: Job) -> Fault | None:
        """Why the call must not begin, if it must not; else it counts against the budget."""
        for model in ("", job.question.model):
            place = job.endpoint, model
            if fault := self._barred.get(place) or self._lasting.get(place):
                return fault
        if self._budget and not self._budget.may_spend():
            return NO_BUDGET
        return None

    async def _written(self, job: Job, reply: Reply) -> Reply:
        useless = unusable(reply, job.question.schema)
        key, code = (None, useless.code) if useless else (job.key, "")
        keep, question = self._kept.keep, job.question
        ref = await self._switchboard.write(lambda: keep(key, question, reply, code))
        return replace(reply, ref=ref)

    def _given_up(self, job: Job, problem: CallProblem, attempts: int) -> Fault:
        fault = problem.fault
        if (problem.retry_after_seconds or 0) > MAX_WAIT_SECONDS or fault.code in BARS_ENDPOINT:
            self._bar_all(fault, job.endpoint, "")
        elif fault.code == "model_missing":
            self._bar_all(fault, job.endpoint, job.question.model)
        text = f"{fault.text} (tried {attempts} times)" if attempts > 1 else fault.text
        return replace(fault, attempts=attempts, text=text)

    def _bar_all(self, fault: Fault, endpoint: Endpoint, model: str) -> None:
        self._barred[endpoint, model] = fault
        if fault.code in LASTS:
            self._lasting[endpoint, model] = fault

    async def _paused(self, line: Line, problem: CallProblem, attempt: int) -> None:
        """Wait as the endpoint asks, everybody with us; else exponentially longer, with jitter."""
        if problem.retry_after_seconds is not None:
            line.gate.pause(problem.retry_after_seconds)
            return
        longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        with self._interruptible():
            await self._switchboard.clock.sleep(longest * random.uniform(0.5, 1))  # noqa: S311
