"""A person's own verdict on an output: give it and take it back on the page of its case."""

from __future__ import annotations

import uuid

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django_htmx.middleware import HtmxDetails

from evalsite import access
from evalsite.pages.cases.thread import Reviews, case_page_url
from evalsite.pages.cases.views import case_context, find_blinding_task, parse_position
from evalsite.pages.web.addresses import shown_query
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.fields import LongTextField
from evalsite.pages.web.responses import SignedInRequest, redirect_swap, render_page
from scoring.engine.review.feedback import give_review
from scoring.models import Output, Review, ReviewVerdict, Role, Run, User
from scoring.models.reviews.review import MAX_NOTE


class ReviewForm(forms.Form):
    """A verdict with a note. An empty verdict withdraws the review."""

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
        code, note = self.cleaned_data["verdict"], self.cleaned_data["note"]
        if not code:
            is_withdrawn = Review.objects.withdraw(run, output, by=by)
            text = "Your verdict is cleared."
            return text if is_withdrawn else "You have given no verdict here."
        verdict = next(verdict for verdict in ReviewVerdict if verdict.code == code)
        give_review(run, output, verdict, by=by, note=note)
        return f"Your verdict: {verdict.label}{', with a note' if note else ''}."


@post_action
def review_case(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """Give one's own verdict, change it or take it back, and stay on the case."""
    place = parse_position(request, position)
    opened = access.output_for(request.user, uid, *place, role=Role.REVIEWER)
    before = Reviews(request.user, access.reviews_for(opened)).own
    form = ReviewForm(request.POST)
    if form.is_valid():
        messages.success(request, form.save(opened.run, opened.output, request.user))
    else:
        messages.error(request, form.fault)
    if not HtmxDetails(request):
        return redirect(f"{case_page_url(request, opened)}#reviews")
    opened = access.output_for(request.user, uid, *place)
    if find_blinding_task(request, opened):  # the verdict was taken back
        return redirect_swap(case_page_url(request, opened))
    if HtmxDetails(request).current_url:  # it changes as texts are swapped
        request.GET = QueryDict(shown_query(request))
    context = case_context(request, opened) | {"swapped": True}
    after = context["reviews"].own
    if (before and before.audit_values) != (after and after.audit_values):
        context |= {"undo": "cases/feedback/_undo_review.html", "before": before}
    status = 422 if form.errors else 200
    return render_page(request, "cases/page.html", context, parts=["reviews"], status=status)
