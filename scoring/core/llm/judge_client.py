"""Answers many questions at once: from kept replies, else by calling the endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import replace
from typing import Final

from scoring.core.llm.call_batch import CallBatch, KnownFailures, PendingCall
from scoring.core.llm.client_pool import ClientPool, shared_pool
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.reply_cache import Budget, ReplyCache, reply_key
from scoring.core.services import Answer, CallFailure, OnProgress, Question, Reply

PROGRESS_SECONDS: Final = 0.5  # between two reports of a batch's progress
CANCELLED: Final = CallFailure("cancelled", "the calls were stopped before this one", attempts=0)


class JudgeClient:
    """Asks questions of the endpoints that `endpoints` returns for connection names.

    Thread-safe. `stop` lets running calls end and starts no other. A refused key, an exhausted
    quota or a missing model ends all calls of that kind: their questions get the same fault, also
    in later batches.
    """

    def __init__(
        self,
        endpoints: Callable[[str | None], Endpoint | CallFailure],
        cache: ReplyCache,
        budget: Budget | None = None,
        *,
        pool: ClientPool | None = None,
    ) -> None:
        self._endpoints, self._cache, self._budget = endpoints, cache, budget
        self._own_pool = pool
        self._batches: set[CallBatch] = set()
        self._barred: KnownFailures = {}
        self._is_stopped = False

    @property
    def stall_reason(self) -> str:
        """Why calls pause; empty while calls are made or none is needed."""
        texts = (batch.stall_reason for batch in tuple(self._batches))
        return next(filter(None, texts), "")

    def ask(
        self, questions: Sequence[Question], on_progress: OnProgress | None = None
    ) -> list[Answer]:
        """One answer per question, in order; equal questions are asked once.

        `on_progress` is called in this thread while the answers are waited for. The share counts
        replies from the cache, too.
        """
        names = dict.fromkeys(question.connection for question in questions)
        endpoints = {name: self._endpoints(name) for name in names}
        calls = [_call(question, endpoints[question.connection]) for question in questions]
        by_key: dict[str, PendingCall] = {}
        for call in calls:
            if isinstance(call, PendingCall):
                by_key.setdefault(call.key, call)
        cached = self._cache.get_many(list(by_key))
        pending = [call for key, call in by_key.items() if key not in cached]
        if pending and not self._is_stopped:
            self._run(pending, on_progress, len(cached))
        return list(_answers(calls, cached, by_key))

    def stop(self) -> None:
        """Start no further call; waiting questions are answered with `cancelled`."""
        self._is_stopped = True
        for batch in tuple(self._batches):
            batch.stop()

    def _run(self, calls: list[PendingCall], on_progress: OnProgress | None, cached: int) -> None:
        pool = self._own_pool or shared_pool()
        batch = CallBatch(calls, pool, self._cache, self._budget, self._barred)
        self._batches.add(batch)
        if self._is_stopped:  # since the check in `ask`
            batch.stop()
        running = pool.start(batch.run())
        try:
            while on_progress and wait([running], PROGRESS_SECONDS).not_done:
                answered = sum(call.answer is not None for call in calls)
                on_progress((cached + answered) / (cached + len(calls)))
            running.result()
        except (KeyboardInterrupt, asyncio.CancelledError):
            running.cancel()
            raise
        finally:
            self._batches.discard(batch)


def _call(question: Question, endpoint: Endpoint | CallFailure) -> PendingCall | CallFailure:
    if isinstance(endpoint, CallFailure):
        return endpoint
    return PendingCall(question, endpoint, reply_key(endpoint.base_url, question))


def _answers(
    calls: Iterable[PendingCall | CallFailure],
    cached: Mapping[str, Reply],
    by_key: Mapping[str, PendingCall],
) -> Iterable[Answer]:
    """The second of two equal questions is answered from the first, at no cost."""
    for call in calls:
        if isinstance(call, CallFailure):
            yield call
        elif call.key in cached:
            yield cached[call.key]
        else:
            first = by_key[call.key]
            answer = first.answer or CANCELLED
            if call is not first and isinstance(answer, Reply):
                answer = replace(answer, is_cached=True, cost_usd=0.0, estimated_cost_usd=None)
            yield answer
