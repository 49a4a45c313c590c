"""The one shape of every error: {"code", "message", "errors": [{"field", "code", "message"}]}.

400 says that a request cannot be read as what the address takes, 413 that it is too large, 422
that it can be read but not used. Codes are stable; messages say what, where and what to do.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from errno import EBUSY
from functools import singledispatch
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.exceptions import ValidationError as ModelError
from django.db import DatabaseError, InterfaceError, models
from django.http import Http404, HttpRequest, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response

from scoring.core import database_lock, disk_full, lost_connection
from scoring.core.contract import CaseProblem, ConfigError, ServiceError
from scoring.core.files import FileProblem
from scoring.core.json_path import Path, path_text
from scoring.engine.imports import BodyError, shared_storage
from scoring.engine.imports.shared_storage import StorageUnreachableError
from scoring.engine.tryout.queue import BusyError

log = logging.getLogger(__name__)

MAX_LISTED: Final = 100
NOTHING_HERE: Final = "There is nothing at this address, or it is not yours to see."

#: Codes of Django REST framework under the names the whole site uses.
_CODES: Final[Mapping[str, str]] = {
    "null_characters_not_allowed": "nul_character",
    "surrogate_characters_not_allowed": "invalid_unicode",
    "parse_error": "unreadable",
    "throttled": "too_many_requests",
}

#: What is wrong with the value of a field, rather than with the shape of the request.
_VALUE_CODES: Final = frozenset(
    {
        "blank",
        "empty",
        "future_date",
        "invalid_choice",
        "max_length",
        "max_value",
        "min_length",
        "min_value",
        "not_finite",
    }
)


class Fault(NamedTuple):
    """One thing wrong, with the place of it in the body, the file or the address."""

    field: str
    code: str
    message: str
    line: int | None = None

    def described(self) -> dict[str, Any]:
        """As the answer lists it; without a line where there is none."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Problem(exceptions.APIException):
    """An answer other than success. `object_id` names what stands in the way."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        errors: Sequence[Fault] = (),
        *,
        object_id: object = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message, code)
        self.status_code, self.code, self.message = status, code, message
        self.errors, self.object_id, self.retry_after = errors, object_id, retry_after

    @property
    def body(self) -> dict[str, Any]:
        listed = [fault.described() for fault in self.errors[:MAX_LISTED]]
        body = {"code": self.code, "message": self.message, "errors": listed}
        return body if self.object_id is None else {**body, "id": str(self.object_id)}


def validation_problem(status: int, faults: Sequence[Fault], count: int = 0) -> Problem:
    """The problem that lists these faults, of `count` there are; its code is the first one's."""
    first, more = faults[0], max(count, len(faults)) - 1
    message = f"{first.field}: {first.message}" if first.field else first.message
    return Problem(
        status, first.code, f"{message} (and {more:,} more)" if more else message, faults
    )


def field_problem(status: int, field: str, code: str, text: str) -> Problem:
    """The problem of one field of the body or the address."""
    return validation_problem(status, [Fault(field, code, text)])


def config_problem(fault: ConfigError, at: Path = ()) -> Problem:
    """The problem of a scorer's config, whose scorer stands at this path of the body."""
    faults = [
        Fault(_config_field(name, at), "config_error", text)
        for name, texts in fault.errors.items()
        for text in texts
    ]
    return validation_problem(422, faults)


def _config_field(name: str, at: Path) -> str:
    of_scorer = (*at, name) if name in {"type", "config", "threshold"} else (*at, "config")
    place = path_text(of_scorer)
    return place if of_scorer[-1] == name else f"{place}.{name}"


def missing_problem(field: str) -> Problem:
    """An id in a body that names nothing, or nothing this person may see: both alike."""
    text = "There is nothing with this id, or it is not yours to see."
    return field_problem(404, field, "not_found", text)


def conflict_problem(row: models.Model, noun: str, advice: str) -> Problem:
    """A name that a row of the team has already."""
    uid = getattr(row, "uuid")  # noqa: B009  every named row has one
    fault = Fault("name", "name_taken", f"The team has a {noun} of this name. {advice}")
    return Problem(409, fault.code, fault.message, [fault], object_id=uid)


def problem_response(fault: Exception, context: Mapping[str, Any]) -> Response:  # noqa: ARG001
    """Django REST framework's exception handler."""
    problem = problem_from_exception(fault)
    headers: dict[str, str] = {}
    if sign_in := getattr(fault, "auth_header", None):
        headers["WWW-Authenticate"] = sign_in
    if problem.retry_after is not None:
        headers["Retry-After"] = str(problem.retry_after)
    return Response(problem.body, status=problem.status_code, headers=headers)


@csrf_exempt  # there is nothing to protect, and the refusal would be a page
def not_found(request: HttpRequest, rest: str) -> JsonResponse:  # noqa: ARG001
    """The answer of every address below the API's that leads nowhere."""
    advice = "" if rest.endswith("/") or not rest else f" Addresses end with a slash: {rest}/"
    problem = Problem(404, "not_found", NOTHING_HERE + advice)
    return JsonResponse(problem.body, status=problem.status_code)


@singledispatch
def problem_from_exception(fault: Exception) -> Problem:
    """The problem an exception stands for. What nobody foresaw is logged and tells nothing."""
    return _internal_error(fault)


def _internal_error(fault: Exception) -> Problem:
    log.error("The API failed", exc_info=fault)
    text = "Something failed on our side. The log of the site says what; trying again may help."
    return Problem(500, "internal_error", text)


@problem_from_exception.register
def _(fault: Problem) -> Problem:
    return fault


@problem_from_exception.register
def _(fault: exceptions.APIException) -> Problem:
    codes = fault.get_codes()
    code = codes if isinstance(codes, str) else "invalid"
    return Problem(fault.status_code, _CODES.get(code, code), str(fault.detail))


@problem_from_exception.register
def _(fault: exceptions.Throttled) -> Problem:
    seconds = int(getattr(fault, "wait", None) or 1)
    text = f"Too many requests. Wait {seconds:,} s before the next."
    return Problem(429, "too_many_requests", text, retry_after=seconds)


@problem_from_exception.register
def _(invalid: exceptions.ValidationError) -> Problem:
    faults = list(_flat(invalid.detail, ()))
    is_unusable = all(fault.code in _VALUE_CODES for fault in faults)
    return validation_problem(422 if is_unusable else 400, faults)


@problem_from_exception.register
def _(fault: Http404) -> Problem:  # noqa: ARG001
    return Problem(404, "not_found", NOTHING_HERE)


@problem_from_exception.register
def _(fault: PermissionDenied) -> Problem:
    return Problem(403, "permission_denied", str(fault) or "You may not do this.")


@problem_from_exception.register
def _(fault: CaseProblem) -> Problem:
    return field_problem(400, fault.where, fault.code, fault.text)


@problem_from_exception.register
def _(fault: FileProblem) -> Problem:
    return validation_problem(422, [Fault(fault.column or "", fault.code, fault.text, fault.line)])


@problem_from_exception.register
def _(fault: StorageUnreachableError) -> Problem:
    return Problem(503, fault.code, fault.text, retry_after=shared_storage.RETRY_SECONDS)


@problem_from_exception.register
def _(fault: BodyError) -> Problem:
    return validation_problem(422, [Fault(*problem) for problem in fault.problems], fault.count)


@problem_from_exception.register
def _(fault: ConfigError) -> Problem:
    faults = [Fault(name, "config_error", " ".join(texts)) for name, texts in fault.errors.items()]
    return validation_problem(422, faults)


@problem_from_exception.register
def _(fault: ServiceError) -> Problem:
    return Problem(503, "no_answer", fault.text, retry_after=1 if fault.retry else None)


@problem_from_exception.register
def _(fault: BusyError) -> Problem:
    return Problem(503, database_lock.CODE, fault.text, retry_after=fault.retry_seconds)


@problem_from_exception.register
def _(fault: ModelError) -> Problem:
    texts = fault.message_dict if hasattr(fault, "error_dict") else {"": fault.messages}
    return validation_problem(
        422, [Fault(name, "invalid", text) for name, parts in texts.items() for text in parts]
    )


@problem_from_exception.register
def _(fault: RequestDataTooBig) -> Problem:  # noqa: ARG001
    return too_large(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


@problem_from_exception.register
def _(fault: TooManyFieldsSent) -> Problem:  # noqa: ARG001
    text = f"The form has more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,} fields."
    return Problem(413, "too_many_fields", text)


@problem_from_exception.register
def _(fault: TooManyFilesSent) -> Problem:  # noqa: ARG001
    text = f"The form has more than {settings.DATA_UPLOAD_MAX_NUMBER_FILES:,} files. Send one."
    return Problem(413, "too_many_files", text)


@problem_from_exception.register(MultiPartParserError)
@problem_from_exception.register(SuspiciousOperation)
def _(fault: Exception) -> Problem:
    if "header size" in str(fault):
        text = "The head of a part is larger than 1,024 bytes. Give the file a shorter name."
        return Problem(400, "header_too_large", text)
    return incomplete_form(f"{fault}")


@problem_from_exception.register
def _(fault: UnreadablePostError) -> Problem:
    if disk_full.is_disk_full(fault):
        return Problem(507, disk_full.CODE, disk_full.TEXT)
    return unread_body(fault)


@problem_from_exception.register(OSError)
@problem_from_exception.register(DatabaseError)
@problem_from_exception.register(InterfaceError)
def _(fault: Exception) -> Problem:
    if database_lock.is_locked(fault):
        log.warning("The database is locked: %s", fault)
        return busy()
    if lost_connection.is_lost(fault):
        log.warning("The database cannot be reached: %s", fault)
        return unreachable()
    if not disk_full.is_disk_full(fault):
        return _internal_error(fault)
    log.error("There is no room left on the disk", exc_info=fault)
    return Problem(507, disk_full.CODE, disk_full.TEXT)


def incomplete_form(what: str) -> Problem:
    """A form that is not written as forms with several parts are."""
    text = f"The form cannot be read: {what.rstrip('.')}. Write it as multipart/form-data."
    return Problem(400, "broken_multipart", text)


def cut_short() -> Problem:
    """A form whose last boundary never came; nothing of it is used."""
    text = "The form ends before its last boundary, so nothing of it was stored. Send it again."
    return Problem(400, "broken_multipart", text)


def request_timeout() -> Problem:
    """A body whose end does not come."""
    text = "Nothing more of the body came, so the request was given up. Send it again."
    return Problem(408, "stalled", text)


def busy(text: str = database_lock.TEXT) -> Problem:
    """What may be sent again soon."""
    return Problem(503, database_lock.CODE, text, retry_after=database_lock.RETRY_SECONDS)


def unreachable() -> Problem:
    """While the database is out of reach; what was asked for may have been done."""
    text, retry_after = lost_connection.TEXT, lost_connection.RETRY_SECONDS
    return Problem(503, lost_connection.CODE, text, retry_after=retry_after)


def unread_body(fault: OSError) -> Problem:
    """The answer to a body that the server gave up, by the reason it gave."""
    if fault.errno == EBUSY:
        return busy("Too many large bodies at once. Send it again in a few seconds.")
    return problem_from_exception(fault) if disk_full.is_disk_full(fault) else request_timeout()


def too_large(limit_bytes: int) -> Problem:
    """A body beyond the limit, read no further."""
    text = f"The body is larger than {limit_bytes // 1024**2:,} MiB. Send it in parts."
    return Problem(413, "too_large", text)


def _flat(detail: Any, path: Path) -> Iterator[Fault]:
    """Every fault inside Django REST framework's nested detail, with its path."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _flat(inner, path if name == "non_field_errors" else (*path, name))
    elif isinstance(detail, list | tuple):
        yield from _flat_list(detail, path)
    else:
        code = getattr(detail, "code", "invalid")
        yield Fault(path_text(path) if path else "", _CODES.get(code, code), str(detail))


def _flat_list(detail: Iterable[Any], path: Path) -> Iterator[Fault]:
    """A list holds either a field's messages or, in its place, each item's faults."""
    for index, inner in enumerate(detail):
        is_message = isinstance(inner, str)
        yield from _flat(inner, path if is_message else (*path, index))
