"""Whether the site can do its work, for whatever watches over it."""

from __future__ import annotations

from http import HTTPStatus

from django.db import Error
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from scoring.engine.processes.disk_space import is_out_of_space
from scoring.engine.runs.progress import ALL_QUEUES, live_queues
from scoring.engine.upgrades import known_migrations


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 when the database answers, workers take all kinds of work and the disk has room, else
    503.

    The body says which fails.
    """
    has_database, has_worker = _database_and_worker()
    found = {"database": has_database, "worker": has_worker, "disk": not is_out_of_space()}
    return _probe("healthy", found)


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """200 when this process can answer pages: the database answers and has the tables of this
    version; else 503. The body says which fails.
    """
    has_database, has_schema = _database_and_schema()
    return _probe("ready", {"database": has_database, "schema": has_schema})


def _probe(name: str, found: dict[str, bool]) -> JsonResponse:
    is_well = all(found.values())
    status = HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE
    return JsonResponse({name: is_well, **found}, status=status)


def _database_and_worker() -> tuple[bool, bool]:
    try:
        return True, live_queues() == ALL_QUEUES
    except Error:
        return False, False


def _database_and_schema() -> tuple[bool, bool]:
    applied = MigrationRecorder.Migration.objects.filter(app="scoring")
    try:
        return True, known_migrations() <= set(applied.values_list("name", flat=True))
    except Error:
        return False, False
