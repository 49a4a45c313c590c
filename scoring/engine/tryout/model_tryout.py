"""A scorer or a prompt tried through a model, as a job of a person who waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
from scoring.engine.tryout.connection_test import get_connection
from scoring.models import CallPurpose, Connection, Job, Team


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


def run_scorer_tryout(job: Job) -> dict[str, Any]:
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


def run_prompt_tryout(job: Job) -> dict[str, Any]:
    """One prompt of a recipe sent to its model, in place of a whole run.

    From {connection: uuid or None, model, system, parameters, prompt} to {call}, as in
    `run_scorer_tryout`.
    """
    from scoring.engine.services.team_services import TeamServices

    request = job.request
    uuid, system = request["connection"], request["system"]
    messages = [Message("system", system)] if system else []
    question = Question(
        request["model"],
        (*messages, Message("user", request["prompt"])),
        connection=get_connection(job.team, uuid).name if uuid else None,
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
