"""One small question to a model, for a person who waits: a test, or a scorer tried out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    use_services,
)
from scoring.engine.jobs.job_queue import JobError
from scoring.models import CallPurpose, Connection, Job, ModelCall, Team

if TYPE_CHECKING:
    from scoring.core.llm.endpoint import Endpoint

TIMEOUT_SECONDS: Final = 10
PROMPT: Final = "This is a test of the connection. Answer with the one word: ready"
REPLY_TOKENS: Final = 16
TEXT_CHARS: Final = 300
MAX_MODELS: Final = 100  # models of an endpoint's own list


def run_connection_test(job: Job) -> dict[str, Any]:
    """One tiny call of the first model offered, or where none is, the endpoint's list of models.

    From {connection: uuid} to {is_ok, latency_ms, model, text, models}: the reply, or what is
    wrong; `models` are the names of the endpoint's own list.
    """
    connection = _connection(job.team, job.request["connection"])
    try:
        endpoint = replace(connection.endpoint(), timeout_seconds=TIMEOUT_SECONDS)
    except ServiceError as fault:
        return _outcome("", text=fault.text)
    if not connection.offered:
        return asyncio.run(_list_models(endpoint))
    return _call_model(job.team, endpoint, connection.offered[0]["name"])


def _connection(team: Team, uuid: str) -> Connection:
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
        model=reply.model[:200],
        reply=reply.text[:TEXT_CHARS].replace("\x00", ""),
        finish=reply.finish[:40],
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        cost_usd=reply.cost_usd,
        latency_ms=reply.latency_ms,
    )


async def _list_models(endpoint: Endpoint) -> dict[str, Any]:
    """What the endpoint answers to GET /models, with its key."""
    import httpx2

    from scoring.core.llm.guarded_transport import guarded_client
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
    except httpx2.HTTPError:
        return _outcome("", text="nobody answers at this address; check the base URL")
    latency_ms = round((time.perf_counter() - started) * 1000, 1)
    return _read_list(answer.status_code, answer.content, latency_ms)


def _read_list(status: int, body: bytes, latency_ms: float) -> dict[str, Any]:
    if status in {401, 403}:
        return _outcome("", text=f"the key was refused ({status}); type another one")
    models = _model_names(body) if status == 200 else None
    if models is None:
        text = f"its answer ({status}) is no list of models; check the base URL, or name a model"
        return _outcome("", text=text)
    text = f"it offers {len(models)} model{'' if len(models) == 1 else 's'}"
    return _outcome("", is_ok=True, text=text, latency_ms=latency_ms, models=models[:MAX_MODELS])


def _model_names(body: bytes) -> list[str] | None:
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


class RecordingServices:
    """Services that remember the calls made through them."""

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


def run_scorer_trial(job: Job) -> dict[str, Any]:
    """One case scored with a config that need not be saved.

    From {type, config, threshold, case} to {result, calls}. A call is {model, messages, is_ok,
    reply, refusal, code, tokens_in, tokens_out, cost_usd, latency_ms, is_cached}; `reply` is the
    raw text, or what went wrong. With a bad config the answer is {errors: {field: [text]}}.
    """
    from scoring.engine.services.team_services import TeamServices

    recorder = RecordingServices(TeamServices(job.team, purpose=CallPurpose.TRY))
    try:
        result = _score(job.team, job.request, recorder)
    except ConfigError as fault:
        problems = (f"{name}: {text}" for name, texts in fault.errors.items() for text in texts)
        raise JobError("; ".join(problems), {"errors": fault.errors}) from None
    except ServiceError as fault:
        raise JobError(fault.text) from None
    calls = [_describe_call(question, answer) for question, answer in recorder.calls]
    return {"result": result._asdict() | {"code": result.code}, "calls": calls}


def _score(team: Team, request: Mapping[str, Any], services: Services) -> Result:
    from scoring.core.configured import configure_scorer, resolve_defaults

    ready = configure_scorer(request["type"], request.get("config", {}), request.get("threshold"))
    ready = resolve_defaults(ready, Connection.objects.available_to(team))
    with use_services(services):
        (result,) = ready.score([case_from_json(request["case"])])
    return result


def run_prompt_trial(job: Job) -> dict[str, Any]:
    """One prompt of a recipe sent to its model, in place of a whole run.

    From {connection: uuid or None, model, system, parameters, prompt} to {call}, as in
    `run_scorer_trial`.
    """
    from scoring.engine.services.team_services import TeamServices

    request = job.request
    uuid, system = request["connection"], request["system"]
    messages = [Message("system", system)] if system else []
    question = Question(
        request["model"],
        (*messages, Message("user", request["prompt"])),
        connection=_connection(job.team, uuid).name if uuid else None,
        parameters=tuple(sorted(request["parameters"].items())),
        scope=str(job.uuid),  # whoever tries again wants another answer
        purpose="generate",
    )
    (answer,) = TeamServices(job.team, purpose=CallPurpose.TRY).ask([question])
    return {"call": _describe_call(question, answer)}


def case_from_json(fields: Mapping[str, Json]) -> Case:
    """A case from its JSON, as the API takes it."""
    return Case(
        output=fields.get("output", ""),
        expected=fields.get("expected"),
        input=fields.get("input"),
        id=str(fields.get("id", "")),
        references=tuple(fields.get("references") or ()),
        metadata=fields.get("metadata") or {},
        tags=tuple(fields.get("tags") or ()),
    )


def _describe_call(question: Question, answer: Answer) -> dict[str, Any]:
    call: dict[str, Any] = {
        "model": question.model,
        "messages": [message._asdict() for message in question.messages],
        "is_ok": isinstance(answer, Reply),
        "reply": answer.text,
    }
    if not isinstance(answer, Reply):
        return call | {"code": answer.code}
    names = ("refusal", "tokens_in", "tokens_out", "cost_usd", "latency_ms", "is_cached")
    return call | {"code": ""} | {name: getattr(answer, name) for name in names}
