"""Error pages for requests that cannot be read and for storage faults."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from errno import EBUSY
from math import ceil
from typing import Final

from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from scoring.core import database_lock, disk_full, lost_connection
from scoring.core.log_context import current_ids
from scoring.engine.processes.disk_space import is_out_of_space, release_reserve
from scoring.engine.tryout.queue import BusyError

log = logging.getLogger(__name__)

STALLED: Final = "stalled"
BROKEN: Final = "broken_multipart"
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS", "TRACE")
STORED_ALWAYS: Final = frozenset({"account_login", "account_logout"})


def bad_request(_request: HttpRequest, exception: Exception) -> HttpResponse:
    """400. Django's own view reads the form again, which may be what fails."""
    return _page(400, BROKEN if isinstance(exception, MultiPartParserError) else "")


def incomplete_form() -> HttpResponse:
    """400 for a form that ends early."""
    return _page(400, BROKEN, is_cut=True)


def request_timeout() -> HttpResponse:
    """408 for a form that stops arriving."""
    return _page(408, STALLED)


def too_many_attempts(wait_seconds: int) -> HttpResponse:
    """429 for too many sign-in attempts."""
    context = {"wait_minutes": ceil(wait_seconds / 60)}
    page = HttpResponse(render_to_string("429.html", context), status=429)
    page.headers["Retry-After"] = str(wait_seconds)
    return page


def insufficient_storage() -> HttpResponse:
    """507 for a full disk."""
    return _page(507, disk_full.CODE)


def service_unavailable(
    retry_seconds: int = database_lock.RETRY_SECONDS, code: str = database_lock.CODE
) -> HttpResponse:
    """503 for a database that is locked or out of reach, and for too many requests at once."""
    response = _page(503, code)
    response["Retry-After"] = str(retry_seconds)
    return response


def unread_body(fault: OSError) -> HttpResponse:
    """The response to a form whose body the server dropped, by the reason."""
    if fault.errno == EBUSY:
        return service_unavailable()
    return insufficient_storage() if disk_full.is_disk_full(fault) else request_timeout()


def internal_error(_request: HttpRequest) -> HttpResponse:
    """Django's `handler500`, called while the exception is handled: middleware can fail as well."""
    return _response_to(sys.exc_info()[1]) or _page(500, "")


class StorageFaultMiddleware:
    """Middleware that answers a full disk with 507, a locked or unreachable database with 503.

    On a full disk nothing is stored but who signs in or out, for which room is kept. The API, which
    answers in JSON, refuses the rest by itself.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        if request.method in SAFE_METHODS or not is_out_of_space():
            return None
        release_reserve()
        match = request.resolver_match
        if match is None or match.view_name in STORED_ALWAYS or match.app_name == "api":
            return None
        return insufficient_storage()

    def process_exception(self, _: HttpRequest, fault: Exception) -> HttpResponse | None:
        return _response_to(fault)


class StoredSessions(SessionMiddleware):
    """Django's sessions; one that cannot be stored is answered as any other storage fault.

    Django reports it as a session that was deleted meanwhile.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            return super().process_response(request, response)
        except (SessionInterrupted, Error) as fault:
            if fault_response := _response_to(fault):
                return fault_response
            raise


def _response_to(fault: BaseException | None) -> HttpResponse | None:
    """The response to a storage fault; None for any other exception."""
    if isinstance(fault, BusyError):
        return service_unavailable(fault.retry_seconds)
    if fault and database_lock.is_locked(fault):
        log.warning("The database is locked: %s", fault)
        return service_unavailable()
    if lost_connection.is_lost(fault):
        log.warning("The database cannot be reached: %s", fault)
        return service_unavailable(lost_connection.RETRY_SECONDS, lost_connection.CODE)
    if fault and disk_full.is_disk_full(fault):
        log.error("There is no room left on the disk", exc_info=fault)
        return insufficient_storage()
    return None


def _page(status: int, code: str, *, is_cut: bool = False) -> HttpResponse:
    context = {"error_code": code, "is_cut": is_cut, "request_id": current_ids().get("request")}
    return HttpResponse(render_to_string(f"{status}.html", context), status=status)
