"""Answers as the provider documents them: chat completions, embeddings, models, errors.

Written from the API reference of the provider and of servers that follow it; nothing here looks
at how the project reads them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

JSON_TYPE = "application/json"


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `latency` are seconds before it begins.

    With `drip` the body comes byte by byte, so many seconds apart. `repeat` sends the body so many
    times over, chunked, without ever holding all of it. `is_cut` closes the connection half-way.
    """

    status: int = 200
    body: bytes = b""
    content_type: str = JSON_TYPE
    headers: dict[str, str] = field(default_factory=dict)
    latency: float = 0.0
    drip: float = 0.0
    repeat: int = 1
    is_cut: bool = False


def json_answer(value: Any, status: int = 200, **more: Any) -> Answer:
    return Answer(status, json.dumps(value).encode(), **more)


def completion(
    content: Any,
    *,
    refusal: str | None = None,
    finish: str = "stop",
    model: str = "stub-1",
    tokens: tuple[int, int] = (100, 20),
    **more: Any,
) -> Answer:
    """A chat completion with one choice; `content` None as it is beside a refusal."""
    tokens_in, tokens_out = tokens
    message = {"role": "assistant", "content": content, "refusal": refusal, "annotations": []}
    return json_answer(
        {
            "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
            "object": "chat.completion",
            "created": 1741569952,
            "model": model,
            "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
            ],
            "usage": {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
                "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
            "service_tier": "default",
            "system_fingerprint": "fp_44709d6fcb",
        },
        **more,
    )


def verdict(choice: Any, reasons: str = "As the reference says.", **more: Any) -> Answer:
    """A completion whose content is a judge's verdict by choice."""
    return completion(json.dumps({"reasons": reasons, "choice": choice}), **more)


def error(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    code: str | None = None,
    param: str | None = None,
    **more: Any,
) -> Answer:
    """The documented error body: {"error": {message, type, param, code}}."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return json_answer(body, status, **more)


def rate_limited(retry_after: str | None = None) -> Answer:
    headers = {"retry-after": retry_after} if retry_after is not None else {}
    return error(
        429,
        "Rate limit reached for stub-1 in organization org-1 on requests per min (RPM): Limit 3,"
        " Used 3, Requested 1.",
        "requests",
        "rate_limit_exceeded",
        headers=headers,
    )


def quota() -> Answer:
    return error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        "insufficient_quota",
    )


def key_refused() -> Answer:
    return error(
        401,
        "Incorrect API key provided: sk-w***ong. You can find your API key at your account page.",
        "invalid_request_error",
        "invalid_api_key",
    )


def model_missing(model: str) -> Answer:
    return error(
        404,
        f"The model `{model}` does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
    )


def too_long() -> Answer:
    return error(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in"
        " 411525 tokens. Please reduce the length of the messages.",
        "invalid_request_error",
        "context_length_exceeded",
        "messages",
    )


def unsupported(param: str) -> Answer:
    return error(
        400,
        f"Unsupported parameter: '{param}' is not supported with this model.",
        "invalid_request_error",
        "unsupported_parameter",
        param,
    )


def overloaded(status: int = 503) -> Answer:
    message = "The server is currently overloaded with other requests."
    return error(status, message, "server_error", "server_is_overloaded")


def html(status: int = 200) -> Answer:
    page = b"<!doctype html><html><head><title>Sign in</title></head><body>Sign in</body></html>"
    return Answer(status, page, "text/html; charset=utf-8")


def models(names: Sequence[str]) -> Answer:
    listed = [
        {"id": name, "object": "model", "created": 1686935002, "owned_by": "organization-owner"}
        for name in names
    ]
    return json_answer({"object": "list", "data": listed})


def embeddings(asked: dict[str, Any], dimensions: int = 16) -> Answer:
    """Vectors of length 1 made from the texts alone, as floats or as base64 of float32."""
    texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    size = asked.get("dimensions") or dimensions
    rows = [_vector(text, size) for text in texts]
    is_base64 = asked.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": place, "embedding": _base64(row) if is_base64 else row}
        for place, row in enumerate(rows)
    ]
    tokens = sum(len(str(text).split()) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json_answer({"object": "list", "data": data, "model": asked["model"], "usage": usage})


def _vector(text: Any, size: int) -> list[float]:
    seed = hashlib.sha256(json.dumps(text).encode()).hexdigest()
    row = [random.Random(f"{seed}{place}").gauss(0, 1) for place in range(size)]
    length = sum(value * value for value in row) ** 0.5
    return [value / length for value in row]


def _base64(row: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()
