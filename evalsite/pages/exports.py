"""What a page lists, as a file."""

from __future__ import annotations

import uuid
from typing import Final

from django import forms
from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.downloads import download
from evalsite.pages.case.against import against_of
from evalsite.pages.case.list import CaseList
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import reading
from scoring.engine.export import FILE_FORMATS, Sheet, output_set_sheet, run_sheet, version_sheet

OWN: Final = ("format", "verbatim")
USUAL: Final = "jsonl"


class ExportForm(forms.Form):
    """The file that an address asks for."""

    format = forms.ChoiceField(choices=[(name, name) for name in FILE_FORMATS], required=False)
    verbatim = forms.BooleanField(required=False)


@reading
def export_run(request: SignedInRequest, uid: uuid.UUID) -> HttpResponseBase:
    """The cases of a run as its page lists them; filters that cannot be used are told there."""
    found = access.run_for(request.user, uid)
    against = against_of(request.user, found, request.GET)
    cases = CaseList(found, list(found.scorers.with_summary()), request.GET, against)
    if not cases.form.is_valid():
        own = dict.fromkeys(OWN)
        return redirect(f"{reverse('run', args=[uid])}{cases.changed(**own)}")
    return _file(request, run_sheet(cases.table))


@reading
def export_version(request: SignedInRequest, uid: uuid.UUID, number: int) -> HttpResponseBase:
    """All cases of a dataset version."""
    return _file(request, version_sheet(access.version_for(request.user, uid, number)))


@reading
def export_outputs(request: SignedInRequest, uid: uuid.UUID) -> HttpResponseBase:
    """All outputs of an output set."""
    return _file(request, output_set_sheet(access.output_set_for(request.user, uid)))


def _file(request: SignedInRequest, sheet: Sheet) -> HttpResponseBase:
    form = ExportForm(request.GET)
    if not form.is_valid():
        raise Http404
    asked = form.cleaned_data
    return download(request, sheet, asked["format"] or USUAL, is_verbatim=asked["verbatim"])
