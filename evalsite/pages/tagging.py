"""Tags on many cases in a dataset's draft, from the lists they are ticked in, and their Undo."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from evalsite import access
from evalsite.pages.forms.drafts import TagForm, TaggedForm
from evalsite.pages.fragments import SignedInRequest
from evalsite.pages.methods import posting
from evalsite.pages.undo import say_done
from scoring.engine import drafts
from scoring.engine.drafts import ContentError, DraftError
from scoring.models import Dataset, DatasetVersion, Role


class Tagging(NamedTuple):
    """A tag that goes on cases, to its `places` if there are any, or off them.

    `cases` has the position of each in the version by its key.
    """

    tag: str
    version: DatasetVersion
    cases: Mapping[str, int]
    places: Mapping[str, int] = {}
    on: bool = True

    def said(self, number: int) -> str:
        """What was done, where so many cases changed."""
        done = f"tagged {self.tag}" if self.on else f"freed of the tag {self.tag}"
        text = f"{number:,} case{'s' * (number != 1)} {done} in the draft of the next version."
        rest = len(self.cases) - number
        return f"{text} Left as they are: {rest:,}." if rest else text

    def said_of_none(self) -> str:
        if self.on:
            return f"No case changed: each has the tag {self.tag}, or the draft deletes it."
        return f"No case changed: none of them has the tag {self.tag}."


@posting
def tag_cases(request: SignedInRequest, uid: uuid.UUID) -> HttpResponse:
    """Put a tag on the ticked cases, or take it off, in the draft; or undo that."""
    dataset = access.dataset_for(request.user, uid, Role.EDITOR)
    query = request.POST.get("query", "")
    path = reverse("tag_cases", args=[uid])
    tag_as_sent(request, dataset, path, {"query": query})
    return redirect(f"{reverse('dataset', args=[uid])}?{query}".removesuffix("?"))


def tag_as_sent(
    request: SignedInRequest, dataset: Dataset, path: str, fields: Mapping[str, str]
) -> None:
    """Do what the form says, of ticks or of an Undo."""
    form_class = TaggedForm if "cases_by_place" in request.POST else TagForm
    form: TaggedForm | TagForm = form_class(request.POST, dataset=dataset)
    if form.is_valid():
        on = "off" not in request.POST
        tagging = Tagging(
            form.cleaned_data["tag"], form.tagged_version, form.cases, form.places, on
        )
        tag(request, dataset, tagging, path, fields)
    else:
        messages.error(request, form.fault)


def tag(
    request: SignedInRequest,
    dataset: Dataset,
    asked: Tagging,
    path: str,
    fields: Mapping[str, str],
) -> None:
    """Do it and say so, beside an Undo that is sent to this path with these fields."""
    try:
        changed = drafts.tag_cases(
            dataset, list(asked.cases), asked.tag, request.user, on=asked.on, places=asked.places
        )
    except (ContentError, DraftError) as refused:
        messages.error(request, str(refused))
        return
    if not changed:
        messages.info(request, asked.said_of_none())
        return
    back = {"tag": asked.tag, **TaggedForm.written(asked.version, asked.cases, changed)}
    off = {"off": "1"} if asked.on else {}
    say_done(request, asked.said(len(changed)), path, {**fields, **back, **off})
