"""The meaning of an endpoint's errors, by the wire format its provider documents.

Errors come as {"error": {"message", "type", "param", "code"}}. Compatible servers put the same text
elsewhere, so the status decides first and the text refines it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final, NamedTuple

from scoring.core.contract import Json
from scoring.core.llm.endpoint_text import CallTarget
from scoring.core.services import CallFailure

MAX_ATTEMPTS: Final = 5
SLOW_ATTEMPTS: Final = 2  # of calls that time out: each costs a minute, and perhaps money
MAX_WAIT_SECONDS: Final = 300.0
#: Whose answer may say when to come again; where that is too far off, there is one attempt.
MAY_BE_POSTPONED: Final = frozenset({"rate_limited", "endpoint_failed"})

QUOTA: Final = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
    }
)
FILTERED: Final = frozenset({"content_filter", "content_policy_violation", "invalid_prompt"})
_TOO_LONG: Final = re.compile(
    r"context.?(length|window|size)|maximum context|too many tokens|prompt is too long",
    re.IGNORECASE,
)
_TRIES: Final[Mapping[str, int]] = {
    "rate_limited": MAX_ATTEMPTS,
    "endpoint_failed": MAX_ATTEMPTS,
    "endpoint_unreachable": MAX_ATTEMPTS,
    "timeout": SLOW_ATTEMPTS,
}


class CallProblem(Exception):  # noqa: N818 - the word the project uses
    """Why one attempt gave no reply. `try_count` is how many attempts such a problem is worth.

    `retry_after_seconds` is what the endpoint asked for. `is_pressure` says that it wants fewer
    concurrent calls.
    """

    def __init__(
        self,
        fault: CallFailure,
        retry_after_seconds: float | None = None,
        *,
        is_pressure: bool = False,
        try_count: int | None = None,
    ) -> None:
        super().__init__(fault.text)
        self.fault, self.retry_after_seconds = fault, retry_after_seconds
        self.is_pressure = is_pressure
        self.try_count = _TRIES.get(fault.code, 1) if try_count is None else try_count


class ErrorBody(NamedTuple):
    """The fields of an error's body; `is_api` says whether an API sent it at all."""

    message: str = ""
    kind: str = ""
    code: str = ""
    param: str = ""
    is_api: bool = False


def call_problem(target: CallTarget, code: str, what: str, **more: Any) -> CallProblem:
    """A problem whose text names the endpoint."""
    text = target.clean_text(f"{target.name}: {what}")
    fault = CallFailure(code, text, can_retry=_TRIES.get(code, 1) > 1)
    return CallProblem(fault, **more)


def classify_error(
    target: CallTarget, status: int, headers: Mapping[str, str], body: bytes, now: datetime
) -> CallProblem:
    """The problem that an HTTP answer other than 200 reports."""
    error = read_error_body(body)
    code = _code(status, error)
    wait = retry_after_seconds(headers, now)
    is_pressure = code == "rate_limited" or status == 503
    if code in MAY_BE_POSTPONED and wait is not None and wait > MAX_WAIT_SECONDS:
        state = "rate-limited" if code == "rate_limited" else f"not available ({status})"
        what = f"{state} until {_until(now, wait)}, too long to wait; retry the errors then"
        return call_problem(
            target, code, what, retry_after_seconds=wait, is_pressure=is_pressure, try_count=1
        )
    if wait is not None:
        wait = min(wait, MAX_WAIT_SECONDS)
    what = _text(code, status, target, error)
    return call_problem(target, code, what, retry_after_seconds=wait, is_pressure=is_pressure)


def read_error_body(body: bytes) -> ErrorBody:
    """The documented error body, or one of its common variants. Never raises."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ErrorBody()
    if not isinstance(value, dict):
        return ErrorBody()
    inner = value.get("error", value)
    if isinstance(inner, dict):
        message = inner.get("message") or value.get("detail") or ""
        kind, code, param = (_plain(inner.get(name)) for name in ("type", "code", "param"))
        return ErrorBody(_plain(message), kind, code, param, is_api=bool(message))
    return ErrorBody(_plain(inner), is_api=True)


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """How long to wait by `retry-after-ms`, or `retry-after` in seconds or as an HTTP date.

    None without a valid header; never negative.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    seconds = _number(header)
    if seconds is not None or header is None:
        return seconds
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _code(status: int, error: ErrorBody) -> str:  # noqa: PLR0911 - a table
    if error.kind == "insufficient_quota" or error.code in QUOTA or status == 402:
        return "quota_exhausted"
    if status == 429:
        return "rate_limited"
    if status in {401, 403}:
        return "key_refused"
    if status == 404:
        is_model = error.is_api and "model" in f"{error.code} {error.message}".lower()
        return "model_missing" if is_model else "not_an_api"
    if status in {408, 504}:
        return "timeout"
    if status >= 500:
        return "endpoint_failed"
    if error.code in FILTERED:
        return "refused"
    is_long = error.code == "context_length_exceeded" or _TOO_LONG.search(error.message)
    if is_long or status == 413:
        return "context_too_long"
    return "bad_request" if 400 <= status < 500 else "not_an_api"


def _text(code: str, status: int, target: CallTarget, error: ErrorBody) -> str:
    """What happened and what to do. The message of a 401 is left out: it may quote the key."""
    message = f": {target.clean_line(error.message)}" if error.message else ""
    texts = {
        "quota_exhausted": f"its quota or credit is used up ({status}); top it up there{message}",
        "rate_limited": f"it takes no more calls now ({status}); lower the concurrency{message}",
        "key_refused": f"it refused the key ({status}); give the connection a valid one",
        "model_missing": f"it has no model {target.model!r} for this key (404); choose another",
        "not_an_api": f"no chat completions at this URL ({status}); check the base URL",
        "timeout": f"it gave up waiting ({status}); try again or raise the time limit",
        "endpoint_failed": f"it failed ({status}); try again later{message}",
        "refused": f"it refused the request ({status}){message}",
        "context_too_long": f"the texts are longer than {target.model!r} takes ({status}){message}",
        "bad_request": f"it did not accept the request ({status}){message}",
    }
    return texts[code]


def _until(now: datetime, seconds: float) -> str:
    try:
        return f"{now + timedelta(seconds=seconds):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError):
        return "a far day"


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def _plain(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
