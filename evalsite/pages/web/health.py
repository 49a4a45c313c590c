"""Whether the site can do its work, for whatever watches over it."""

from __future__ import annotations

from http import HTTPStatus

from django.db import Error
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from scoring.engine.processes.disk_space import is_out_of_space
from scoring.engine.runs.progress import is_worker_alive


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 when the database answers, a worker is alive and the disk has room, else 503.

    The body says which fails.
    """
    has_database, has_worker = _database_and_worker()
    found = {"database": has_database, "worker": has_worker, "disk": not is_out_of_space()}
    is_well = all(found.values())
    status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
    return JsonResponse({"healthy": is_well, **found}, status=status)


def _database_and_worker() -> tuple[bool, bool]:
    try:
        return True, is_worker_alive()
    except Error:
        return False, False
