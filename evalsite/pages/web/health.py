"""Whether the site can do its work, for whatever watches over it."""

from __future__ import annotations

from http import HTTPStatus

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from scoring.engine.runs.progress import is_worker_alive


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 when the database answers and a worker is alive, else 503; the body says which fails."""
    has_database, has_worker = _database_and_worker()
    is_well = has_database and has_worker
    found = {"healthy": is_well, "database": has_database, "worker": has_worker}
    return JsonResponse(found, status=HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE)


def _database_and_worker() -> tuple[bool, bool]:
    try:
        return True, is_worker_alive()
    except DatabaseError:
        return False, False
