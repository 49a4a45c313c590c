"""Rows as a file that a browser or a program gets while it is being written."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

from scoring.engine.export import FILE_FORMATS, Sheet


def download(
    request: HttpRequest, sheet: Sheet, file_format: str, *, is_verbatim: bool = False
) -> StreamingHttpResponse:
    """The sheet as a file of one of FILE_FORMATS.

    `X-Row-Count` tells how many rows it has when it is whole.
    """
    is_asked = request.method != "HEAD"
    chunks = sheet.stream(file_format, is_verbatim=is_verbatim) if is_asked else iter(())
    answer = StreamingHttpResponse(chunks, content_type=FILE_FORMATS[file_format].content_type)
    name = content_disposition_header(as_attachment=True, filename=sheet.file_name(file_format))
    answer.headers["Content-Disposition"] = name or "attachment"
    answer.headers["X-Row-Count"] = str(sheet.count)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer
