"""Vectors made by an OpenAI-compatible endpoint, through the same pool as calls of its models."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.embeddings.cache import text_key_function
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.llm.endpoint import Endpoint

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np

    from scoring.core.llm.client import HttpAnswer
    from scoring.core.llm.client_pool import ClientPool, PooledClient
    from scoring.core.llm.endpoint_text import CallTarget
    from scoring.core.llm.errors import CallProblem

PATH: Final = "/embeddings"
MAX_TEXTS: Final = 500  # OpenAI takes 2,048; its longest vectors of 500 stay within 8 MB of reply
MAX_BYTES: Final = 500_000  # OpenAI takes 300,000 tokens a request, of about 4 bytes each
SHORT_CHARS: Final = 2_000  # no model's window is shorter: a refusal has another reason
KEPT_SHARE: Final = 0.75  # of a text that was refused for its length
REFUSES_TEXTS: Final = frozenset({"context_too_long", "bad_request", "reply_too_large"})


class EmbeddedText(NamedTuple):
    """One text's vector, None for the empty text: endpoints refuse it."""

    vector: Sequence[float] | None
    is_cut: bool = False


class RemoteModel:
    """One model behind an endpoint. Its name is all that is known of its revision."""

    step: Final = MAX_TEXTS

    def __init__(self, endpoint: Endpoint, model: str, pool: ClientPool | None = None) -> None:
        self.model: Final = model
        self.key: Final = text_key_function("openai", model, endpoint.base_url.rstrip("/"))
        self._endpoint = endpoint
        self._own_pool = pool
        self._running: set[Future[list[EmbeddedText]]] = set()
        self._is_stopped = False

    def stop(self) -> None:
        """Break off the requests under way, and send no more. Thread-safe."""
        self._is_stopped = True
        for running in tuple(self._running):
            running.cancel()

    def turn(self) -> Any:
        return nullcontext()

    def compute(self, texts: Sequence[str]) -> tuple[np.ndarray, Sequence[bool]]:
        """As few requests as the limits allow. An error bears the code of the call's fault."""
        import numpy as np

        from scoring.core.llm.client_pool import shared_pool
        from scoring.core.llm.errors import CallProblem

        pool = self._own_pool or shared_pool()
        running = pool.start(self._rows(pool, texts))
        self._running.add(running)
        try:
            if self._is_stopped:
                running.cancel()
            rows = running.result()
        except CallProblem as problem:
            fault = problem.fault
            raise EmbeddingError(fault.code, fault.text, retry=fault.can_retry) from None
        except CancelledError:
            raise EmbeddingError("cancelled", "the requests were stopped") from None
        finally:
            self._running.discard(running)
        width = max((len(row.vector) for row in rows if row.vector), default=0)
        matrix = np.array([row.vector or [0.0] * width for row in rows], dtype=np.float64)
        return matrix.reshape(len(rows), width), [row.is_cut for row in rows]

    async def _rows(self, pool: ClientPool, texts: Sequence[str]) -> list[EmbeddedText]:
        pooled = pool.client_for(self._endpoint)
        parts = _parts([text for text in texts if text])
        requests = (self._request(pool, pooled, part) for part in parts)
        embedded: list[EmbeddedText] = []
        for result in await asyncio.gather(*requests, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            embedded += result
        rows = iter(embedded)
        return [next(rows) if text else EmbeddedText(None) for text in texts]

    async def _request(
        self, pool: ClientPool, pooled: PooledClient, texts: Sequence[str]
    ) -> list[EmbeddedText]:
        """The rows of one request, or of several where the endpoint refuses it as a whole."""
        from scoring.core.llm.errors import CallProblem

        try:
            return await self._try(pool, pooled, texts)
        except CallProblem as problem:
            is_short = len(texts) == 1 and len(texts[0]) <= SHORT_CHARS
            if problem.fault.code not in REFUSES_TEXTS or is_short:
                raise
        if len(texts) > 1:
            half = len(texts) // 2
            first = await self._request(pool, pooled, texts[:half])
            return first + await self._request(pool, pooled, texts[half:])
        beginning = texts[0][: int(len(texts[0]) * KEPT_SHARE)]
        (row,) = await self._request(pool, pooled, [beginning])
        return [row._replace(is_cut=True)]

    async def _try(
        self, pool: ClientPool, pooled: PooledClient, texts: Sequence[str]
    ) -> list[EmbeddedText]:
        from scoring.core.llm.errors import CallProblem
        from scoring.core.llm.rate_limiter import backoff_seconds

        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempt(pool, pooled, texts)
            except CallProblem as problem:
                if attempt >= problem.try_count:
                    raise
                if problem.retry_after_seconds is not None:
                    pooled.limiter.pause(problem.retry_after_seconds)
                    continue
            await pool.clock.sleep(backoff_seconds(attempt))

    async def _attempt(
        self, pool: ClientPool, pooled: PooledClient, texts: Sequence[str]
    ) -> list[EmbeddedText]:
        from scoring.core.llm.errors import CallProblem, classify_error

        target = self._endpoint.target(self.model)
        body = {"model": self.model, "input": list(texts), "encoding_format": "base64"}
        in_round = await pooled.limiter.acquire()
        try:
            answer = await pooled.client.post(target, body, PATH)
            if answer.status != 200:
                now = pool.clock.utc()
                problem = classify_error(target, answer.status, answer.headers, answer.body, now)
                raise _no_vectors(target) if problem.fault.code == "not_an_api" else problem
            pooled.limiter.speed_up()
            return _read(answer, len(texts), target)
        except CallProblem as problem:
            if problem.is_pressure:
                pooled.limiter.slow_down(in_round)
            raise
        finally:
            pooled.limiter.release()


def _no_vectors(target: CallTarget) -> CallProblem:
    from scoring.core.llm.errors import call_problem

    what = f"no embeddings of {target.model!r} at this URL; check the base URL and the model"
    return call_problem(target, "not_an_api", what)


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in as few requests as the limits allow."""
    part: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if part and (len(part) == MAX_TEXTS or size + length > MAX_BYTES):
            yield part
            part, size = [], 0
        part.append(text)
        size += length
    if part:
        yield part


def _read(answer: HttpAnswer, count: int, target: CallTarget) -> list[EmbeddedText]:
    """The vectors in the order of the texts: an endpoint may answer in another."""
    try:
        items = json.loads(answer.body)["data"]
        rows = {item["index"]: _vector(item["embedding"]) for item in items}
        return [EmbeddedText(rows[index]) for index in range(count)]
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError, struct.error):
        raise _no_vectors(target) from None


def _vector(values: Json) -> list[float]:
    """A vector as base64 of 32-bit floats, or as a list where the endpoint knows only that."""
    if isinstance(values, str):
        packed = base64.b64decode(values, validate=True)
        return [value for (value,) in struct.iter_unpack("<f", packed)]
    if not isinstance(values, list) or not values:
        raise ValueError("a vector is a list of numbers")
    return [float(value) for value in values]
