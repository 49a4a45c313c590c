"""One small question to a model, for a person who waits: a test, or a scorer tried out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from scoring.core.contract import Case, ConfigError, Json, Result, ServiceError
from scoring.core.services import (
    Answer,
    Message,
    Provider,
    Question,
    Reply,
    Services,
    Vectors,
    using,
)
from scoring.models import CallPurpose, Connection, Errand, ModelCall, Team

if TYPE_CHECKING:
    from scoring.core.judge.endpoint import Endpoint

LIMIT_SECONDS: Final = 10
PROMPT: Final = "This is a test of the connection. Answer with the one word: ready"
REPLY_TOKENS: Final = 16
TEXT_CHARS: Final = 300
LISTED: Final = 100  # models of an endpoint's own list


class ErrandProblem(Exception):  # noqa: N818  the word the project uses
    """Why an errand has no whole answer; `answer` is what there is of it."""

    def __init__(self, text: str, answer: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.text, self.answer = text, answer or {}


def tested_connection(errand: Errand) -> dict[str, Any]:
    """One tiny call of the first model offered, or where none is, the endpoint's list of models.

    From {connection: uuid} to {is_ok, latency_ms, model, text, models}: the reply, or what is
    wrong; `models` are the names of the endpoint's own list.
    """
    row = Connection.objects.filter(team=errand.team, uuid=UUID(errand.request["connection"]))
    found = row.first()
    if found is None:
        raise ErrandProblem("the connection is no longer there")
    try:
        endpoint = replace(found.endpoint(), timeout_seconds=LIMIT_SECONDS)
    except ServiceError as fault:
        return _outcome("", text=fault.text)
    if not found.offered:
        return asyncio.run(_listed(endpoint))
    return _called(errand.team, endpoint, found.offered[0]["name"])


def _called(team: Team, endpoint: Endpoint, model: str) -> dict[str, Any]:
    from scoring.core.judge.faults import CallProblem

    question = Question(
        model, (Message("user", PROMPT),), parameters=(("max_tokens", REPLY_TOKENS),)
    )
    try:
        reply = asyncio.run(_reply(endpoint, question))
    except CallProblem as problem:
        return _outcome(model, text=problem.fault.text)
    _book(team, endpoint, reply)
    text = reply.text.strip()[:TEXT_CHARS]
    return _outcome(model, is_ok=True, text=text, latency_ms=reply.latency_ms)


async def _reply(endpoint: Endpoint, question: Question) -> Reply:
    from scoring.core.judge.client import Client
    from scoring.core.judge.gate import Clock

    client = Client(endpoint, Clock())
    try:
        return await client.call(question)
    finally:
        await client.close()


def _book(team: Team, endpoint: Endpoint, reply: Reply) -> None:
    """The call was paid for, so it stands in the ledger like any other."""
    ModelCall.objects.create(
        team=team,
        purpose=CallPurpose.TRY,
        connection_name=endpoint.name,
        model=reply.model[:200],
        reply=reply.text[:TEXT_CHARS].replace("\x00", ""),
        finish=reply.finish[:40],
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
        latency_ms=reply.latency_ms,
    )


async def _listed(endpoint: Endpoint) -> dict[str, Any]:
    """What the endpoint answers to GET /models, with its key."""
    import httpx2

    from scoring.core.judge.guard import GuardError
    from scoring.core.judge.pinned import guarded_client

    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    client = guarded_client(endpoint.allowed_hosts, timeout_seconds=endpoint.timeout_seconds)
    started = time.perf_counter()
    try:
        async with asyncio.timeout(endpoint.timeout_seconds), client:
            answer = await client.get(f"{endpoint.base_url}/models", headers=headers)
    except GuardError as fault:
        return _outcome("", text=fault.text)
    except (TimeoutError, httpx2.TimeoutException):
        return _outcome("", text=f"no answer within {endpoint.timeout_seconds} seconds")
    except httpx2.HTTPError:
        return _outcome("", text="nobody answers at this address; check the base URL")
    latency_ms = round((time.perf_counter() - started) * 1000, 1)
    return _read_list(answer.status_code, answer.content, latency_ms)


def _read_list(status: int, body: bytes, latency_ms: float) -> dict[str, Any]:
    if status in {401, 403}:
        return _outcome("", text=f"the key was refused ({status}); type another one")
    models = _names(body) if status == 200 else None
    if models is None:
        return _outcome(
            "",
            text=f"its answer ({status}) is no list of models; check the base URL, or name a model",
        )
    text = f"it offers {len(models)} model{'' if len(models) == 1 else 's'}"
    return _outcome("", is_ok=True, text=text, latency_ms=latency_ms, models=models[:LISTED])


def _names(body: bytes) -> list[str] | None:
    """The ids in an answer of the shape {"data": [{"id": …}]}; None for any other."""
    try:
        rows = json.loads(body)["data"]
        return sorted(str(row["id"])[:200] for row in rows)
    except (ValueError, RecursionError, LookupError, TypeError):
        return None


def _outcome(
    model: str,
    *,
    text: str,
    is_ok: bool = False,
    latency_ms: float | None = None,
    models: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "is_ok": is_ok,
        "model": model,
        "text": text,
        "latency_ms": latency_ms,
        "models": list(models),
    }


class Recorder:
    """Services that remember what was asked through them."""

    def __init__(self, inner: Services) -> None:
        self._inner = inner
        self.calls: list[tuple[Question, Answer]] = []

    def embed(
        self, texts: Sequence[str], *, provider: Provider, model: str, connection: str | None = None
    ) -> Vectors:
        return self._inner.embed(texts, provider=provider, model=model, connection=connection)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        answers = self._inner.ask(questions)
        self.calls += zip(questions, answers, strict=True)
        return answers


def tried_scorer(errand: Errand) -> dict[str, Any]:
    """One case scored with a config that need not be saved.

    From {type, config, threshold, case} to {result, calls}. A call is {model, messages, is_ok,
    reply, refusal, code, tokens_in, tokens_out, cost_usd, latency_ms, is_cached}; `reply` is the
    raw text, or what went wrong. With a bad config the answer is {errors: {field: [text]}}.
    """
    from scoring.engine.services import TeamServices

    recorder = Recorder(TeamServices(errand.team, purpose=CallPurpose.TRY))
    try:
        result = _scored(errand.team, errand.request, recorder)
    except ConfigError as fault:
        texts = (f"{name}: {text}" for name, found in fault.errors.items() for text in found)
        raise ErrandProblem("; ".join(texts), {"errors": fault.errors}) from None
    except ServiceError as fault:
        raise ErrandProblem(fault.text) from None
    calls = [_told(question, answer) for question, answer in recorder.calls]
    return {"result": result._asdict() | {"code": result.code}, "calls": calls}


def _scored(team: Team, request: Mapping[str, Any], services: Services) -> Result:
    from scoring.core.bound import bind, settled

    ready = bind(request["type"], request.get("config", {}), request.get("threshold"))
    ready = settled(ready, Connection.objects.available_to(team))
    with using(services):
        (result,) = ready.score([case_of(request["case"])])
    return result


def tried_prompt(errand: Errand) -> dict[str, Any]:
    """One prompt of a recipe sent to its model, in place of a whole run.

    From {connection: uuid or None, model, system, parameters, prompt} to {call}, as in
    `tried_scorer`.
    """
    from scoring.engine.services import TeamServices

    asked = errand.request
    name = None
    if asked["connection"]:
        row = Connection.objects.filter(team=errand.team, uuid=UUID(asked["connection"])).first()
        if row is None:
            raise ErrandProblem("the connection is no longer there")
        name = row.name
    system = (Message("system", asked["system"]),) if asked["system"] else ()
    question = Question(
        asked["model"],
        (*system, Message("user", asked["prompt"])),
        connection=name,
        parameters=tuple(sorted(asked["parameters"].items())),
        scope=str(errand.uuid),  # whoever tries again wants another answer
        purpose="generate",
    )
    (answer,) = TeamServices(errand.team, purpose=CallPurpose.TRY).ask([question])
    return {"call": _told(question, answer)}


def case_of(given: Mapping[str, Json]) -> Case:
    """A case from its JSON, as the API takes it."""
    return Case(
        output=given.get("output", ""),
        expected=given.get("expected"),
        input=given.get("input"),
        id=str(given.get("id", "")),
        references=tuple(given.get("references") or ()),
        metadata=given.get("metadata") or {},
        tags=tuple(given.get("tags") or ()),
    )


def _told(question: Question, answer: Answer) -> dict[str, Any]:
    told: dict[str, Any] = {
        "model": question.model,
        "messages": [message._asdict() for message in question.messages],
        "is_ok": isinstance(answer, Reply),
    }
    if not isinstance(answer, Reply):
        return told | {"reply": answer.text, "code": answer.code}
    names = ("refusal", "tokens_in", "tokens_out", "cost_usd", "latency_ms", "is_cached")
    return told | {"reply": answer.text, "code": ""} | {n: asdict(answer)[n] for n in names}
