"""Sends one message to a webhook: signed, to checked addresses only, and not for long.

Signed as the open specification Standard Webhooks says: headers webhook-id, webhook-timestamp and
webhook-signature, which holds `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings

from scoring.core.llm.ssrf_guard import GuardError, check_url
from scoring.engine.alerts.errors import SendError

TIMEOUT_SECONDS: Final = 10


def send_webhook(
    url: str, secret: str, event_id: str, content: Mapping[str, Any], timestamp: int
) -> None:
    """POST the content as JSON. Raises SendError unless the answer is 2xx."""
    body = json.dumps(content, ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Evalsite",
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, event_id, timestamp, body),
    }
    try:
        check_url(url, settings.EVALSITE_WEBHOOK_HOSTS, is_base=False)
        status = asyncio.run(_post(url, body, headers))
    except GuardError as fault:
        raise SendError(_refusal(fault), is_final=True) from None
    except TimeoutError:
        raise SendError(f"no answer within {TIMEOUT_SECONDS} s") from None
    if not 200 <= status < 300:
        raise SendError(f"it answered {status}")


def signature(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Of one message; the secret's key is the base64 after `whsec_`."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _refusal(fault: GuardError) -> str:
    from scoring.core.llm.guarded_transport import RedirectError

    if isinstance(fault, RedirectError):
        return "it answered with another address: give that one if it is the right one"
    return fault.text


async def _post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """The status of the answer, whose body is not read. Raises SendError, GuardError and
    TimeoutError.
    """
    import httpx2

    from scoring.core.llm.guarded_transport import find_tls_fault, guarded_client

    hosts = settings.EVALSITE_WEBHOOK_HOSTS
    async with asyncio.timeout(TIMEOUT_SECONDS):
        async with guarded_client(
            hosts, timeout_seconds=TIMEOUT_SECONDS, reads_body=False
        ) as client:
            try:
                async with client.stream("POST", url, content=body, headers=headers) as answer:
                    return answer.status_code
            except httpx2.TimeoutException:
                raise TimeoutError from None
            except httpx2.HTTPError as fault:
                if tls_fault := find_tls_fault(fault):
                    text = f"its encrypted connection is not to be trusted ({tls_fault})"
                    raise SendError(text) from None
                raise SendError(f"it could not be reached ({type(fault).__name__})") from None
