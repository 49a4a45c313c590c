"""Tests of a connection: one small question to a model, for a person who waits."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from scoring.core.contract import ServiceError
from scoring.core.services import Message, Question, Reply
from scoring.engine.jobs.job_queue import JobError
from scoring.models import CallPurpose, Connection, Job, ModelCall, Team

if TYPE_CHECKING:
    from scoring.core.llm.endpoint import Endpoint

TIMEOUT_SECONDS: Final = 10
PROMPT: Final = "This is a test of the connection. Answer with the one word: ready"
REPLY_TOKENS: Final = 16
TEXT_CHARS: Final = 300
MAX_MODELS: Final = 100  # models of an endpoint's own list
MODEL_CHARS: Final = 200


def run_connection_test(job: Job) -> dict[str, Any]:
    """One tiny call of the first model offered, or where none is, the endpoint's list of models.

    From {connection: uuid} to {is_ok, latency_ms, model, text, models}: the reply, or what is
    wrong; `models` are the names of the endpoint's own list.
    """
    connection = get_connection(job.team, job.request["connection"])
    try:
        endpoint = replace(connection.endpoint(), timeout_seconds=TIMEOUT_SECONDS)
    except ServiceError as fault:
        return _outcome("", text=fault.text)
    if not connection.offered:
        return asyncio.run(_list_models(endpoint))
    return _call_model(job.team, endpoint, connection.offered[0]["name"])


def get_connection(team: Team, uuid: str) -> Connection:
    """Raises JobError where the team has no such connection any more."""
    connection = Connection.objects.filter(team=team, uuid=UUID(uuid)).first()
    if connection is None:
        raise JobError("the connection is no longer there")
    return connection


def _call_model(team: Team, endpoint: Endpoint, model: str) -> dict[str, Any]:
    from scoring.core.llm.errors import CallProblem

    question = Question(
        model, (Message("user", PROMPT),), parameters=(("max_tokens", REPLY_TOKENS),)
    )
    try:
        reply = asyncio.run(_reply(endpoint, question))
    except CallProblem as problem:
        return _outcome(model, text=problem.fault.text)
    _record_call(team, endpoint, reply)
    text = reply.text.strip()[:TEXT_CHARS]
    return _outcome(model, is_ok=True, text=text, latency_ms=reply.latency_ms)


async def _reply(endpoint: Endpoint, question: Question) -> Reply:
    from scoring.core.llm.client import Client
    from scoring.core.llm.rate_limiter import Clock

    client = Client(endpoint, Clock())
    try:
        return await client.call(question)
    finally:
        await client.close()


def _record_call(team: Team, endpoint: Endpoint, reply: Reply) -> None:
    """The call was paid for, so it is recorded like any other."""
    ModelCall.objects.create(
        team=team,
        purpose=CallPurpose.TRY,
        connection_name=endpoint.name,
        model=reply.model,
        reply=reply.text[:TEXT_CHARS],
        finish=reply.finish,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
        estimated_cost_usd=reply.estimated_cost_usd,
        latency_ms=reply.latency_ms,
    )


async def _list_models(endpoint: Endpoint) -> dict[str, Any]:
    """What the endpoint answers to GET /models, with its key."""
    import httpx2

    from scoring.core.llm.guarded_transport import find_tls_fault, guarded_client
    from scoring.core.llm.ssrf_guard import GuardError

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
    except httpx2.HTTPError as fault:
        text = "nobody answers at this address; check the base URL"
        if tls_fault := find_tls_fault(fault):
            text = f"its encrypted connection is not to be trusted ({tls_fault})"
        return _outcome("", text=text)
    latency_ms = round((time.perf_counter() - started) * 1000, 1)
    return _read_list(endpoint, answer.status_code, answer.content, latency_ms)


def _read_list(endpoint: Endpoint, status: int, body: bytes, latency_ms: float) -> dict[str, Any]:
    if status in {401, 403}:
        return _outcome("", text=f"the key was refused ({status}); type another one")
    models = _model_names(endpoint, body) if status == 200 else None
    if models is None:
        text = f"its answer ({status}) is no list of models; check the base URL, or name a model"
        return _outcome("", text=text)
    text = f"it offers {len(models)} model{'' if len(models) == 1 else 's'}"
    return _outcome("", is_ok=True, text=text, latency_ms=latency_ms, models=models[:MAX_MODELS])


def _model_names(endpoint: Endpoint, body: bytes) -> list[str] | None:
    """The ids in an answer of the shape {"data": [{"id": …}]}; None for any other."""
    try:
        rows = json.loads(body)["data"]
        clean = endpoint.target("").clean_line
        return sorted(clean(str(row["id"]), MODEL_CHARS) for row in rows)
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
