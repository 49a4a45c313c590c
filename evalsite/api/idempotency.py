"""POST requests with an `Idempotency-Key`: sent twice, they count once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import QueryDict
from rest_framework.request import Request
from rest_framework.response import Response

from evalsite.api.base import ApiView, team_of
from evalsite.api.errors import Problem, field_problem
from scoring.models import IdempotencyKey, Role, User
from scoring.models.team.idempotency_key import KEY_LENGTH, LostClaimError

HEADER = "Idempotency-Key"

Post = Callable[..., Response]


def idempotent(post: Post) -> Post:
    """Make a view's `post` answer a repeated key with what it answered the first time.

    Only success is kept: after an error the same key may be tried again. The work and its answer
    are stored in one transaction, so a killed process leaves neither or both.
    """

    @wraps(post)
    def once(view: ApiView, request: Request, **ids: Any) -> Response:
        if HEADER not in request.headers:
            return post(view, request, **ids)
        digest = request_digest(request.data)
        claim, is_own = _claim(request, digest)
        if not is_own:
            return _repeat_answer(claim, digest)
        try:
            with transaction.atomic():
                response = post(view, request, **ids)
                claim.keep(response.status_code, response.data)
        except LostClaimError:
            raise _in_progress() from None
        except Exception:
            claim.release()
            raise
        return response

    once.is_idempotent = True  # type: ignore[attr-defined]  # the schema reads it
    return once


def _claim(request: Request, digest: str) -> tuple[IdempotencyKey, bool]:
    key = request.headers[HEADER]
    if not 0 < len(key) <= KEY_LENGTH or not key.isprintable():
        text = f"An {HEADER} is 1 to {KEY_LENGTH} printable characters."
        raise field_problem(400, HEADER, "bad_idempotency_key", text)
    team = team_of(request, Role.VIEWER)
    user = cast("User", request.user)
    return IdempotencyKey.objects.claim(team, user, request.path, key, digest)


def _repeat_answer(claim: IdempotencyKey, digest: str) -> Response:
    if claim.digest != digest:
        text = "This key came with another body before. Use a new key for a new request."
        raise Problem(422, "idempotency_key_reused", text)
    if claim.status is None:
        raise _in_progress()
    return Response(claim.body, claim.status, headers={"Idempotent-Replayed": "true"})


def _in_progress() -> Problem:
    text = "Another request with this key is still at work. Ask again in a second."
    return Problem(409, "in_progress", text, retry_after=1)


def request_digest(sent: Any) -> str:
    """SHA-256 over a parsed body: equal values give equal digests, files count by content."""
    digest = hashlib.sha256()
    if not isinstance(sent, QueryDict):
        digest.update(json.dumps(sent, sort_keys=True).encode())
        return digest.hexdigest()
    for name, values in sorted(sent.lists()):
        for value in values:
            digest.update(f"{name}\0".encode())
            for chunk in value.chunks() if isinstance(value, UploadedFile) else [value.encode()]:
                digest.update(chunk)
            digest.update(b"\0")
    return digest.hexdigest()
