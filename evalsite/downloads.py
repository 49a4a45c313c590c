"""Rows as a file that a browser or a program gets while it is being written."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

from scoring.engine.export import FILE_FORMATS, ExportTable


def left_out_header(count: int) -> dict[str, str]:
    """The header that tells how many outputs a list leaves out that the person is yet to review."""
    return {"X-Left-Out": str(count)} if count else {}


def stream_file(
    request: HttpRequest, sheet: ExportTable, file_format: str, *, is_verbatim: bool = False
) -> StreamingHttpResponse:
    """The sheet as a file of one of FILE_FORMATS.

    `X-Row-Count` tells how many rows it has when it is whole, `X-Left-Out` how many were left out
    that the person is yet to review, if any.
    """
    has_body = request.method != "HEAD"
    chunks = sheet.stream(file_format, is_verbatim=is_verbatim) if has_body else iter(())
    name = content_disposition_header(as_attachment=True, filename=sheet.file_name(file_format))
    return StreamingHttpResponse(
        chunks,
        content_type=FILE_FORMATS[file_format].content_type,
        headers={
            "Content-Disposition": name or "attachment",
            "X-Row-Count": str(sheet.count),
            "Cache-Control": "private, no-store",
            **left_out_header(sheet.left_out),
        },
    )
