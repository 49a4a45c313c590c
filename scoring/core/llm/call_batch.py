"""The calls of one batch: attempts, pauses, and when to stop trying."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from scoring.core.llm.client_pool import ClientPool, PooledClient
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.errors import MAX_WAIT_SECONDS, CallProblem
from scoring.core.llm.judge_reply import reply_problem
from scoring.core.llm.rate_limiter import backoff_seconds
from scoring.core.llm.reply_cache import Budget, ReplyCache
from scoring.core.services import Answer, CallFailure, Question, Reply

BARS_ENDPOINT: Final = frozenset({"key_refused", "quota_exhausted", "endpoint_unreachable"})
LASTING_CODES: Final = frozenset({"key_refused", "quota_exhausted", "model_missing"})
NO_BUDGET: Final = CallFailure(
    "budget_reached",
    "the run's budget is spent; raise it and retry the errors",
    attempts=0,
    can_retry=False,
)

STOP_SECONDS: Final = 1.5  # for the replies under way when a batch is stopped

#: Faults by endpoint and model; the model "" stands for all of them.
KnownFailures = dict[tuple[Endpoint, str], CallFailure]

_ranks = count()


@dataclass
class PendingCall:
    """A question for an endpoint. `answer` stays None when the batch is stopped before the call."""

    question: Question
    endpoint: Endpoint
    key: str
    answer: Answer | None = None


class CallBatch:
    """Runs calls on the pool's loop, as many at once as the endpoint's rate limiter allows.

    A fault that every other call would meet too (a refused key, an exhausted quota, a missing
    model, an unreachable endpoint, too long a pause) ends the rest of the batch: those calls get
    the same fault with 0 attempts. `barred` holds the faults of earlier batches; the lasting ones
    of this batch are added to it.
    """

    def __init__(
        self,
        calls: Sequence[PendingCall],
        pool: ClientPool,
        cache: ReplyCache,
        budget: Budget | None,
        barred: KnownFailures | None = None,
    ) -> None:
        self._calls, self._pool = calls, pool
        self._cache, self._budget = cache, budget
        self._lasting = {} if barred is None else barred
        self._barred: KnownFailures = {}
        self._clients: list[PooledClient] = []
        self._waiting: set[asyncio.Task[None] | None] = set()
        self._calling: set[asyncio.Task[None] | None] = set()
        # The oldest batch goes first. With equal turns all batches would end together, and no call
        # would be under way while their results are stored.
        self._rank = next(_ranks)
        self._is_stopped = False

    @property
    def stall_reason(self) -> str:
        return next((text for pooled in self._clients if (text := pooled.limiter.stall_reason)), "")

    async def run(self) -> None:
        """Answer the calls. Raises what writing a reply raises, once calls under way have ended."""
        by_endpoint: defaultdict[Endpoint, list[PendingCall]] = defaultdict(list)
        for call in self._calls:
            by_endpoint[call.endpoint].append(call)
        workers = []
        for endpoint, calls in by_endpoint.items():
            pooled, remaining = self._pool.client_for(endpoint), iter(calls)
            self._clients.append(pooled)
            concurrency = min(len(calls), endpoint.concurrency)
            workers += [self._work(pooled, remaining) for _ in range(concurrency)]
        for result in await asyncio.gather(*workers, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result

    def stop(self) -> None:
        """Begin no further call, and break off those that do not end soon. Thread-safe."""
        self._is_stopped = True
        self._pool.loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        _cancel(self._waiting)
        self._pool.loop.call_later(STOP_SECONDS, _cancel, self._calling)

    @contextmanager
    def _interruptible(self, tasks: set[asyncio.Task[None] | None]) -> Iterator[None]:
        """Stopping the batch cancels the task while it is in this block."""
        task = asyncio.current_task()
        tasks.add(task)
        try:
            yield
        finally:
            tasks.discard(task)

    async def _work(self, pooled: PooledClient, remaining: Iterator[PendingCall]) -> None:
        """One of the workers that share the calls of an endpoint."""
        try:
            for call in remaining:
                if self._is_stopped:
                    return
                call.answer = await self._answer(call, pooled)
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise
        except BaseException:
            self._is_stopped = True  # a reply could not be written: pay for no more of them
            self._interrupt()
            raise

    async def _answer(self, call: PendingCall, pooled: PooledClient) -> Answer | None:
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempt(call, pooled, attempt)
            except CallProblem as problem:
                if attempt >= problem.try_count:
                    return self._give_up(call, problem, attempt)
                if problem.retry_after_seconds is not None:
                    pooled.limiter.pause(problem.retry_after_seconds)  # for all calls
                    continue
            with self._interruptible(self._waiting):
                await self._pool.clock.sleep(backoff_seconds(attempt))

    async def _attempt(
        self, call: PendingCall, pooled: PooledClient, attempt: int
    ) -> Answer | None:
        """The reply of one call. Raises CallProblem.

        The slot is held until the reply is written, so that a killed process loses no more paid
        replies than calls were under way.
        """
        with self._interruptible(self._waiting):
            in_round = await pooled.limiter.acquire(self._rank)
        try:
            if self._is_stopped:
                return None
            if fault := self._start_problem(call):
                return replace(fault, attempts=attempt - 1)
            return await self._send(call, pooled, attempt)
        except CallProblem as problem:
            if problem.is_pressure:
                pooled.limiter.slow_down(in_round)
            raise
        finally:
            pooled.limiter.release()

    async def _send(self, call: PendingCall, pooled: PooledClient, attempt: int) -> Reply:
        try:
            with self._interruptible(self._calling):
                reply = replace(await pooled.client.call(call.question), attempts=attempt)
            pooled.limiter.speed_up()
            return await self._write(call, reply)
        finally:
            if self._budget:
                self._budget.end()

    def _start_problem(self, call: PendingCall) -> CallFailure | None:
        """Why the call must not begin; None where it may, and it then counts against the budget."""
        for model in ("", call.question.model):
            key = call.endpoint, model
            if fault := self._barred.get(key) or self._lasting.get(key):
                return fault
        if self._budget and not self._budget.may_spend():
            return NO_BUDGET
        return None

    async def _write(self, call: PendingCall, reply: Reply) -> Reply:
        question = call.question
        problem = reply_problem(reply, question.schema)
        key, code = (None, problem.code) if problem else (call.key, "")
        keep = self._cache.keep
        ref = await self._pool.write(lambda: keep(key, question, reply, code))
        return replace(reply, ref=ref)

    def _give_up(self, call: PendingCall, problem: CallProblem, attempts: int) -> CallFailure:
        """The fault after the last attempt; further calls that would meet it are barred."""
        fault = problem.fault
        is_pause = (problem.retry_after_seconds or 0) > MAX_WAIT_SECONDS
        if is_pause or fault.code in BARS_ENDPOINT or fault.code == "model_missing":
            model = call.question.model if fault.code == "model_missing" else ""
            self._barred[call.endpoint, model] = fault
            if fault.code in LASTING_CODES:
                self._lasting[call.endpoint, model] = fault
        text = f"{fault.text} (tried {attempts} times)" if attempts > 1 else fault.text
        return replace(fault, attempts=attempts, text=text)


def _cancel(tasks: Iterable[asyncio.Task[None] | None]) -> None:
    for task in tasks:
        if task:
            task.cancel()
