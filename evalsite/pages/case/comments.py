"""Comments on an output, on the page of its case: added, edited, deleted and brought back."""

from __future__ import annotations

import uuid

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django_htmx.middleware import HtmxDetails

from evalsite import access
from evalsite.pages.case.page import place_of
from evalsite.pages.case.said import here, said_of
from evalsite.pages.forms.config_fields import LongTextField
from evalsite.pages.fragments import SignedInRequest, show
from evalsite.pages.methods import posting
from scoring.models import Comment, Output, Role, Run
from scoring.models.comment import MAX_TEXT


class CommentForm(forms.Form):
    """The text of a comment."""

    text = LongTextField(max_length=MAX_TEXT, error_messages={"required": "There is no text."})

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if not text.strip():
            raise ValidationError("There is no text.")
        return text

    @property
    def fault(self) -> str:
        """What is wrong with it, in one sentence."""
        return f"The comment is not kept: {self.errors['text'][0]}"


@posting
def add_comment(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """Write at the end of the thread."""
    run, output = _opened(request, uid, position)
    form = CommentForm(request.POST)
    if form.is_valid():
        text = form.cleaned_data["text"]
        Comment.objects.add(run, output, text, by=request.user)
        messages.success(request, "The comment is added.")
    return _answer(request, run, output, form, is_added=form.is_valid())


@posting
def edit_comment(
    request: SignedInRequest, uid: uuid.UUID, position: int, comment: uuid.UUID
) -> HttpResponse:
    """Give one's own comment another text."""
    run, output = _opened(request, uid, position)
    found = access.own_comment_for(request.user, output, comment)
    form = CommentForm(request.POST)
    if form.is_valid():
        found.edit(run, form.cleaned_data["text"], by=request.user)
        messages.success(request, "The comment is changed.")
    return _answer(request, run, output, form)


@posting
def delete_comment(
    request: SignedInRequest, uid: uuid.UUID, position: int, comment: uuid.UUID
) -> HttpResponse:
    """Take a comment out of the thread, and offer in its place to bring it back."""
    run, output = _opened(request, uid, position)
    found = access.comment_for(request.user, run, output, comment)
    found.remove(run, by=request.user)
    return _answer(request, run, output, deleted=found)


@posting
def restore_comment(
    request: SignedInRequest, uid: uuid.UUID, position: int, comment: uuid.UUID
) -> HttpResponse:
    """Bring a deleted comment back to its place."""
    run, output = _opened(request, uid, position)
    found = access.comment_for(request.user, run, output, comment, is_deleted=True)
    found.restore(run, by=request.user)
    messages.success(request, "The comment is back.")
    return _answer(request, run, output)


def _opened(request: SignedInRequest, uid: uuid.UUID, position: int) -> tuple[Run, Output]:
    place = place_of(request, position)
    return access.output_for(request.user, uid, *place, role=Role.REVIEWER)


def _answer(
    request: SignedInRequest,
    run: Run,
    output: Output,
    form: CommentForm | None = None,
    *,
    deleted: Comment | None = None,
    is_added: bool = False,
) -> HttpResponse:
    """The thread as it is now; without htmx the way back to it."""
    is_refused = form is not None and not form.is_valid()
    if form is not None and is_refused:
        messages.error(request, form.fault)
    undo = str(deleted.uuid) if deleted else ""
    if not HtmxDetails(request):
        return redirect(f"{here(request, run, output, undo)}#comments")
    place = (output.case.position, output.trial)
    run, output = access.output_for(request.user, run.uuid, *place)
    page = {**said_of(request, run, output, undo), "run": run, "is_added": is_added}
    status = 422 if is_refused else 200
    page["swapped"] = True
    return show(request, "case/page.html", page, parts=["comments"], status=status)
