"""The file that an export page sends."""

from __future__ import annotations

from typing import Final

from django import forms
from django.http import Http404, HttpResponseBase

from evalsite.downloads import stream_file
from evalsite.pages.web.responses import SignedInRequest
from scoring.engine.export import FILE_FORMATS, ExportTable

QUERY_NAMES: Final = ("format", "verbatim")  # the parts of an address that ExportForm reads
DEFAULT_FORMAT: Final = "jsonl"


class ExportForm(forms.Form):
    """The format in the address of an export."""

    format = forms.ChoiceField(choices=[(name, name) for name in FILE_FORMATS], required=False)
    verbatim = forms.BooleanField(required=False)


def send_export(request: SignedInRequest, sheet: ExportTable) -> HttpResponseBase:
    """The sheet in the format that the address names; 404 for an unknown format."""
    form = ExportForm(request.GET)
    if not form.is_valid():
        raise Http404
    chosen = form.cleaned_data
    return stream_file(
        request, sheet, chosen["format"] or DEFAULT_FORMAT, is_verbatim=chosen["verbatim"]
    )
