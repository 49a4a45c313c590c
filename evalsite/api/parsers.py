"""How a request's body is read: strict JSON or a form with a file, up to a size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParser as DjangoMultiPartParser
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from evalsite.api.errors import Problem, cut_short, too_large, unread_body
from evalsite.middleware.request_body import TOO_LARGE, is_cut_short
from scoring.core import json_text


class OnlyJson(BaseContentNegotiation):
    """The API speaks JSON, whatever a client says it would like."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type or ""


class StrictJson(BaseParser):
    """Reads what `scoring.core.json_text` accepts, up to a size."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        with _refuse_stalled_body():
            body = stream.read(limit + 1)
        if len(body) > limit:
            raise too_large(limit)
        try:
            source = body.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            text = f"The body is not UTF-8 at byte {fault.start + 1:,}."
            raise Problem(400, "encoding", text) from None
        return json_text.parse(source, refuse_nul=True)


class BoundedMultiPart(MultiPartParser):
    """Reads a form with a file, unless it says beforehand that it is too large."""

    FORM_BYTES = 1024**2  # what the other fields and the boundaries may add

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        limit: int = settings.EVALSITE_MAX_UPLOAD_BYTES
        request: Request = (parser_context or {})["request"]
        if int(request.META.get("CONTENT_LENGTH") or 0) > limit + self.FORM_BYTES:
            raise too_large(limit)
        meta = {**request.META, "CONTENT_TYPE": media_type or ""}
        with _refuse_stalled_body():
            form = DjangoMultiPartParser(
                meta, stream, request.upload_handlers, settings.DEFAULT_CHARSET
            )
            return DataAndFiles(*form.parse())


def refuse_cut_form(request: Request) -> None:
    """Raise the problem of a form that ended early, or lost a file that is too large."""
    sent: HttpRequest = request._request
    if TOO_LARGE in sent.META:
        raise too_large(settings.EVALSITE_MAX_UPLOAD_BYTES)
    if is_cut_short(sent):
        raise cut_short()


@contextmanager
def _refuse_stalled_body() -> Iterator[None]:
    """Raise the problem of a stalled body at once: the CSRF check would hide its cause."""
    try:
        yield
    except UnreadablePostError as fault:
        raise unread_body(fault) from None
