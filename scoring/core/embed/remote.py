"""Vectors made by an OpenAI-compatible endpoint, over the same line as calls of its models."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import struct
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.embed.faults import EmbeddingError
from scoring.core.embed.keys import hashed_with
from scoring.core.judge.endpoint import Endpoint

if TYPE_CHECKING:
    import numpy as np

    from scoring.core.judge.client import HttpAnswer
    from scoring.core.judge.faults import CallProblem, Place
    from scoring.core.judge.switchboard import Line, Switchboard

PATH: Final = "/embeddings"
MAX_TEXTS: Final = 500  # OpenAI takes 2,048; its longest vectors of 500 stay within 8 MB of reply
MAX_BYTES: Final = 500_000  # OpenAI takes 300,000 tokens a request, of about 4 bytes each
SHORT_CHARS: Final = 2_000  # no model's window is shorter: a refusal has another reason
KEPT_SHARE: Final = 0.75  # of a text that was refused for its length
FIRST_PAUSE_SECONDS: Final = 0.5
REFUSES_TEXTS: Final = frozenset({"context_too_long", "bad_request", "reply_too_large"})


class Row(NamedTuple):
    """One text's vector, None for the empty text: endpoints refuse it."""

    vector: Sequence[float] | None
    is_cut: bool = False


class Remote:
    """One model behind an endpoint. Its name is all that is known of its revision."""

    step: Final = MAX_TEXTS

    def __init__(
        self, endpoint: Endpoint, model: str, switchboard: Switchboard | None = None
    ) -> None:
        self.model: Final = model
        self.key: Final = hashed_with("openai", model, endpoint.base_url.rstrip("/"))
        self._endpoint = endpoint
        self._own_switchboard = switchboard

    def turn(self) -> Any:
        return nullcontext()

    def compute(self, texts: Sequence[str]) -> tuple[np.ndarray, Sequence[bool]]:
        """As few requests as the limits allow. An error bears the code of the call's fault."""
        import numpy as np

        from scoring.core.judge.faults import CallProblem
        from scoring.core.judge.switchboard import shared

        switchboard = self._own_switchboard or shared()
        try:
            rows = switchboard.start(self._rows(switchboard, texts)).result()
        except CallProblem as problem:
            fault = problem.fault
            raise EmbeddingError(fault.code, fault.text, retry=fault.can_retry) from None
        width = max((len(row.vector) for row in rows if row.vector), default=0)
        matrix = np.array([row.vector or [0.0] * width for row in rows], dtype=np.float64)
        return matrix.reshape(len(rows), width), [row.is_cut for row in rows]

    async def _rows(self, switchboard: Switchboard, texts: Sequence[str]) -> list[Row]:
        line = switchboard.line(self._endpoint)
        parts = _parts([text for text in texts if text])
        asked = (self._asked(switchboard, line, part) for part in parts)
        made = await asyncio.gather(*asked, return_exceptions=True)
        if fault := next((each for each in made if isinstance(each, BaseException)), None):
            raise fault
        rows = iter([row for part in made if isinstance(part, list) for row in part])
        return [next(rows) if text else Row(None) for text in texts]

    async def _asked(self, switchboard: Switchboard, line: Line, texts: Sequence[str]) -> list[Row]:
        """The rows of one request, or of several where the endpoint refuses it as a whole."""
        from scoring.core.judge.faults import CallProblem

        try:
            return await self._tried(switchboard, line, texts)
        except CallProblem as problem:
            is_short = len(texts) == 1 and len(texts[0]) <= SHORT_CHARS
            if problem.fault.code not in REFUSES_TEXTS or is_short:
                raise
        if len(texts) > 1:
            half = len(texts) // 2
            first = await self._asked(switchboard, line, texts[:half])
            return first + await self._asked(switchboard, line, texts[half:])
        beginning = texts[0][: int(len(texts[0]) * KEPT_SHARE)]
        (row,) = await self._asked(switchboard, line, [beginning])
        return [row._replace(is_cut=True)]

    async def _tried(self, switchboard: Switchboard, line: Line, texts: Sequence[str]) -> list[Row]:
        from scoring.core.judge.faults import CallProblem

        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempted(switchboard, line, texts)
            except CallProblem as problem:
                if attempt >= problem.tries:
                    raise
                if problem.retry_after_seconds is not None:
                    line.gate.pause(problem.retry_after_seconds)
                    continue
            longest = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)
            await switchboard.clock.sleep(longest * random.uniform(0.5, 1))  # noqa: S311

    async def _attempted(
        self, switchboard: Switchboard, line: Line, texts: Sequence[str]
    ) -> list[Row]:
        from scoring.core.judge.faults import CallProblem, Place, classify

        place = Place(self._endpoint.name, self.model)
        sent = {"model": self.model, "input": list(texts), "encoding_format": "base64"}
        in_round = await line.gate.enter()
        try:
            answer = await line.client.post(place, sent, PATH)
            if answer.status != 200:
                now = switchboard.clock.utc()
                raise _of_embeddings(
                    classify(place, answer.status, answer.headers, answer.body, now), place
                )
            line.gate.grow()
            return _read(answer, len(texts), place)
        except CallProblem as problem:
            if problem.is_pressure:
                line.gate.press(in_round)
            raise
        finally:
            line.gate.leave()


def _of_embeddings(found: CallProblem, place: Place) -> CallProblem:
    """The same problem, but where it speaks of chat completions."""
    return _no_vectors(place) if found.fault.code == "not_an_api" else found


def _no_vectors(place: Place) -> CallProblem:
    from scoring.core.judge.faults import problem

    what = f"no embeddings of {place.model!r} at this URL; check the base URL and the model"
    return problem(place, "not_an_api", what)


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


def _read(answer: HttpAnswer, count: int, place: Place) -> list[Row]:
    """The vectors in the order of the texts: an endpoint may answer in another."""
    try:
        rows = {item["index"]: _vector(item["embedding"]) for item in _items(answer.body)}
        return [Row(rows[index]) for index in range(count)]
    except (ValueError, TypeError, KeyError, RecursionError, struct.error):
        raise _no_vectors(place) from None


def _items(body: bytes) -> list[Any]:
    found: list[Any] = json.loads(body)["data"]
    return found


def _vector(values: Json) -> list[float]:
    """A vector as base64 of 32-bit floats, or as a list where the endpoint knows only that."""
    if isinstance(values, str):
        packed = base64.b64decode(values, validate=True)
        return [value for (value,) in struct.iter_unpack("<f", packed)]
    if not isinstance(values, list) or not values:
        raise ValueError("a vector is a list of numbers")
    return [float(value) for value in values]
