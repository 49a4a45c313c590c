"""One call of a chat model: its request, its response, and unsupported parameters.

Every endpoint has one client, whose connections are used again; a client per call would spend most
of its time opening them.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.endpoint_text import CallTarget
from scoring.core.llm.errors import CallProblem, call_problem, classify_error, read_error_body
from scoring.core.llm.rate_limiter import Clock
from scoring.core.llm.token_estimate import estimate_question_tokens, estimate_tokens
from scoring.core.services import Question, Reply

if TYPE_CHECKING:
    import httpx2
    from openai import APIConnectionError

PATH: Final = "/chat/completions"
NO_KEY: Final = "none"  # what the openai library insists on where an endpoint needs no key
MAX_TOKENS: Final = 100_000_000  # of one call; what reports more reports nonsense
FINISH_CHARS: Final = 40
MODEL_CHARS: Final = 200
SENT_HEADERS: Final = frozenset(
    {"host", "content-type", "content-length", "accept", "accept-encoding", "connection"}
)


class HttpAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes
    latency_ms: float


class Client:
    """Calls one endpoint, on one event loop. It never retries; the caller does."""

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._endpoint, self._clock = endpoint, clock
        self._unknown: dict[str, frozenset[str]] = {}  # parameters by the model that refused them
        self._openai = _openai(endpoint)

    async def call(self, question: Question) -> Reply:
        """The reply to a question. Raises CallProblem.

        A parameter that the model rejects is left out from then on: the prompt also asks for JSON,
        and a judge works without a temperature.
        """
        target = self._endpoint.target(question.model)
        while True:
            unknown = self._unknown.get(question.model, frozenset())
            body = request_body(question, unknown)
            answer = await self.post(target, body)
            if answer.status == 200:
                return self._reply(target, question, answer)
            refused = _refused_parameter(answer, body, question)
            if not refused:
                now = self._clock.utc()
                raise classify_error(target, answer.status, answer.headers, answer.body, now)
            self._unknown[question.model] = unknown | {refused}

    async def close(self) -> None:
        await self._openai.close()

    async def post(self, target: CallTarget, body: dict[str, Json], path: str = PATH) -> HttpAnswer:
        """The HTTP answer, whatever its status. Raises CallProblem where there is none.

        The time limit covers the whole answer, however slowly it arrives.
        """
        import httpx2
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        from scoring.core.llm.ssrf_guard import GuardError

        limit = self._endpoint.timeout_seconds
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limit):
                response = await self._openai.post(path, cast_to=httpx2.Response, body=body)
        except APIStatusError as error:
            response = error.response
        except (TimeoutError, APITimeoutError):
            what = f"no whole reply within {limit} seconds; try again or raise the time limit"
            raise call_problem(target, "timeout", what) from None
        except APIConnectionError as fault:
            raise _connection_problem(target, fault) from None
        except GuardError as fault:
            raise call_problem(target, fault.code, fault.text, try_count=1) from None
        latency_ms = (time.perf_counter() - started) * 1000
        return HttpAnswer(response.status_code, response.headers, response.content, latency_ms)

    def _reply(self, target: CallTarget, question: Question, answer: HttpAnswer) -> Reply:
        completion = _completion(target, answer, self._clock)
        choices = completion["choices"]
        choice = _object(next(iter(choices), None))
        message = _object(choice.get("message"))
        model = target.clean_line(_text(completion.get("model")), MODEL_CHARS)
        text = target.clean_text(_text(message.get("content")))
        refusal = target.clean_text(_text(message.get("refusal")))
        tokens_in, tokens_out = _usage(completion, is_empty=not (text or refusal))
        estimate = self._estimated_cost(question, text + refusal, tokens_in, tokens_out)
        return Reply(
            text=text,
            refusal=refusal,
            finish=target.clean_line(_text(choice.get("finish_reason")), FINISH_CHARS),
            model=model or target.model,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost_usd=self._endpoint.cost_usd(target.model, tokens_in, tokens_out),
            estimated_cost_usd=estimate,
            latency_ms=round(answer.latency_ms, 1),
            choice_count=len(choices),
        )

    def _estimated_cost(
        self, question: Question, text: str, tokens_in: int | None, tokens_out: int | None
    ) -> float | None:
        """By the length of the texts whose tokens are not reported; None where all are."""
        if tokens_in is not None and tokens_out is not None:
            return None
        if tokens_in is None:
            tokens_in = estimate_question_tokens(question)
        if tokens_out is None:
            tokens_out = estimate_tokens(text)
        return self._endpoint.cost_usd(question.model, tokens_in, tokens_out)


def request_body(question: Question, unknown: frozenset[str] = frozenset()) -> dict[str, Json]:
    """The body of a chat completion, without the parameters the model does not know."""
    body: dict[str, Json] = {
        "model": question.model,
        "messages": [message._asdict() for message in question.messages],
        **dict(question.parameters),
    }
    if question.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": question.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if "max_tokens" in unknown and "max_tokens" in body:
        body["max_completion_tokens"] = body["max_tokens"]
    return {name: value for name, value in body.items() if name not in unknown}


def _openai(endpoint: Endpoint) -> Any:
    """The openai library's client, without the headers it reads from environment variables.

    Organisation, project and custom headers belong to whoever runs the site, not to every team's
    endpoint.
    """
    from openai import AsyncOpenAI

    from scoring.core.llm.guarded_transport import guarded_client

    async def filter_headers(request: httpx2.Request) -> None:
        for name in set(request.headers) - SENT_HEADERS:
            del request.headers[name]
        if endpoint.api_key:
            request.headers["Authorization"] = f"Bearer {endpoint.api_key}"

    http = guarded_client(endpoint.allowed_hosts, timeout_seconds=endpoint.timeout_seconds)
    http.event_hooks = {"request": [filter_headers], "response": []}
    return AsyncOpenAI(
        api_key=endpoint.api_key or NO_KEY,
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=endpoint.timeout_seconds,
        http_client=http,
    )


def _connection_problem(target: CallTarget, fault: APIConnectionError) -> CallProblem:
    """Why there was no answer, by the cause of the library's error."""
    import httpx2

    from scoring.core.llm.guarded_transport import find_tls_fault
    from scoring.core.llm.ssrf_guard import GuardError

    cause = fault.__cause__
    if isinstance(cause, GuardError):
        return call_problem(target, cause.code, cause.text, try_count=1)
    if tls_fault := find_tls_fault(fault):
        what = f"its encrypted connection is not to be trusted ({tls_fault}); check the base URL"
        return call_problem(target, "endpoint_unreachable", what, try_count=1)
    if isinstance(cause, httpx2.ConnectError):
        what = f"nobody answers at its address ({str(cause)[:120]}); check the base URL"
        return call_problem(target, "endpoint_unreachable", what)
    return call_problem(target, "endpoint_failed", "it broke off the connection; try again later")


def _refused_parameter(answer: HttpAnswer, body: Mapping[str, Json], question: Question) -> str:
    """The parameter that a 400 or 422 says the model does not accept; else empty."""
    if answer.status not in {400, 422}:
        return ""
    error = read_error_body(answer.body)
    text = (error.param or error.message).lower()
    names = {"response_format": ("response_format", "json_schema"), "max_tokens": ("max_tokens",)}
    if question.purpose == "judge":
        names["temperature"] = ("temperature",)
    is_long = error.code == "context_length_exceeded"
    for name, signs in names.items():
        if name in body and not is_long and any(sign in text for sign in signs):
            return name
    return ""


def _completion(target: CallTarget, answer: HttpAnswer, clock: Clock) -> dict[str, Json]:
    """The body of a chat completion. Raises CallProblem for any other body of a 200."""
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("choices"), list):
        return value
    if isinstance(value, dict) and "error" in value:  # some relays hide errors behind a 200
        code = _count(_object(value["error"]).get("code"), 599) or 0
        status = code if code >= 400 else 500
        raise classify_error(target, status, answer.headers, answer.body, clock.utc())
    kind = target.clean_line(answer.headers.get("content-type", "").split(";")[0]) or "no type"
    what = f"its answer ({kind}) is no chat completion; check the base URL"
    raise call_problem(target, "not_an_api", what)


def _usage(completion: Mapping[str, Json], *, is_empty: bool) -> tuple[int | None, int | None]:
    """The tokens of prompt and reply; None where they are not reported, or cannot be so."""
    usage = _object(completion.get("usage"))
    tokens_in = _count(usage.get("prompt_tokens"), MAX_TOKENS) or None
    tokens_out = _count(usage.get("completion_tokens"), MAX_TOKENS)
    return tokens_in, tokens_out if tokens_out or is_empty else None


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _count(value: Json, most: int) -> int | None:
    """A whole number from 0 to `most`; None for anything else."""
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= most else None


def _text(value: Json) -> str:
    """A text, or the texts of its parts, as content may also come."""
    if isinstance(value, list):
        return "".join(_text(_object(part).get("text")) for part in value)
    return value if isinstance(value, str) else ""
