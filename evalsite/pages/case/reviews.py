"""A person's own verdict on an output, given and taken back on the page of its case."""

from __future__ import annotations

import uuid
from typing import Final
from urllib.parse import urlsplit

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django_htmx.middleware import HtmxDetails

from evalsite import access
from evalsite.pages.case.page import page_of, place_of
from evalsite.pages.case.said import Reviews, here
from evalsite.pages.forms.config_fields import LongTextField
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import posting
from scoring.models import Output, Review, ReviewVerdict, Role, Run, User
from scoring.models.review import MAX_NOTE

_VERDICTS: Final = {verdict.code: verdict for verdict in ReviewVerdict}


class ReviewForm(forms.Form):
    """A verdict with a note. An empty verdict takes back what the person said."""

    verdict = forms.ChoiceField(
        choices=[(verdict.code, verdict.label) for verdict in ReviewVerdict], required=False
    )
    note = LongTextField(max_length=MAX_NOTE, required=False)

    def clean_verdict(self) -> str:
        if "verdict" not in self.data:
            raise ValidationError("Say which one.")
        return str(self.cleaned_data["verdict"])

    @property
    def fault(self) -> str:
        """What is wrong with it, in one sentence."""
        name, texts = next(iter(self.errors.items()))
        return f"Your verdict is not kept: {name}: {texts[0]}"

    def save(self, run: Run, output: Output, by: User) -> str:
        """What was done, in one sentence."""
        asked = self.cleaned_data
        if not asked["verdict"]:
            taken = Review.objects.take_back(run, output, by=by)
            return "Your verdict is taken back." if taken else "You have given no verdict here."
        verdict = _VERDICTS[asked["verdict"]]
        Review.objects.say(run, output, verdict, by=by, note=asked["note"])
        return f"Your verdict: {verdict.label}{', with a note' if asked['note'] else ''}."


@posting
def review_case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """Give one's own verdict, change it or take it back, and stay on the case."""
    place = place_of(request, position)
    run, output = access.output_for(request.user, uid, *place, role=Role.REVIEWER)
    before = Reviews(request.user, access.reviews_for(run, output)).own
    form = ReviewForm(request.POST)
    if form.is_valid():
        messages.success(request, form.save(run, output, request.user))
    else:
        messages.error(request, form.fault)
    if not HtmxDetails(request):
        return redirect(f"{here(request, run, output)}#reviews")
    run, output = access.output_for(request.user, uid, *place)
    _look_again(request)
    page = page_of(request, run, output)
    undo = _undo(before, page["reviews"].own)
    return show(
        request,
        "case/page.html",
        {**page, **undo, "swapped": True},
        parts=["reviews"],
        status=422 if form.errors else 200,
    )


def _look_again(request: SignedInRequest) -> None:
    """Take the list and the looks from the browser's address: it changes as texts are swapped."""
    if address := HtmxDetails(request).current_url:
        request.GET = QueryDict(urlsplit(address).query)


def _undo(before: Review | None, after: Review | None) -> dict[str, object]:
    """What takes the change back, where there is one: the form that says what was said before."""
    told = [each and each.told for each in (before, after)]
    return {"undo": "case/_undo_review.html", "before": before} if told[0] != told[1] else {}
