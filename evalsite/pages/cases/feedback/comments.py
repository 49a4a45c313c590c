"""Comments on an output, on the page of its case: add, edit, delete and restore."""

from __future__ import annotations

import uuid

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django_htmx.middleware import HtmxDetails

from evalsite import access
from evalsite.access import OutputAccess
from evalsite.pages.cases.thread import case_page_url, feedback_context
from evalsite.pages.cases.views import parse_position
from evalsite.pages.web.decorators import post_action
from evalsite.pages.web.fields import LongTextField
from evalsite.pages.web.responses import SignedInRequest, render_page
from scoring.engine.review import feedback
from scoring.models import Comment, Role
from scoring.models.reviews.comment import MAX_TEXT


class CommentForm(forms.Form):
    """The text of a comment."""

    text = LongTextField(max_length=MAX_TEXT, error_messages={"required": "There is no text."})

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if not text.strip():
            raise ValidationError("There is no text.")
        return text


@post_action
def add_comment(request: SignedInRequest, uid: uuid.UUID, position: int) -> HttpResponse:
    """Add a comment at the end of the thread."""
    opened = _open(request, uid, position)
    form = CommentForm(request.POST)
    if form.is_valid():
        text = form.cleaned_data["text"]
        feedback.add_comment(opened.run, opened.output, text, by=request.user)
        messages.success(request, "The comment is added.")
    return _show_thread(request, opened, form, is_added=form.is_valid())


@post_action
def edit_comment(
    request: SignedInRequest, uid: uuid.UUID, position: int, comment: uuid.UUID
) -> HttpResponse:
    """Change the text of one's own comment."""
    opened = _open(request, uid, position)
    own_comment = access.own_comment_for(opened, comment)
    form = CommentForm(request.POST)
    if form.is_valid():
        feedback.edit_comment(opened.run, own_comment, form.cleaned_data["text"], by=request.user)
        messages.success(request, "The comment is changed.")
    return _show_thread(request, opened, form)


@post_action
def delete_comment(
    request: SignedInRequest, uid: uuid.UUID, position: int, comment: uuid.UUID
) -> HttpResponse:
    """Delete a comment, and offer in its place to restore it."""
    opened = _open(request, uid, position)
    deleted = access.comment_for(opened, comment)
    deleted.remove(opened.run, by=request.user)
    return _show_thread(request, opened, deleted=deleted)


@post_action
def restore_comment(
    request: SignedInRequest, uid: uuid.UUID, position: int, comment: uuid.UUID
) -> HttpResponse:
    """Restore a deleted comment to its place."""
    opened = _open(request, uid, position)
    deleted = access.comment_for(opened, comment, is_deleted=True)
    deleted.restore(opened.run, by=request.user)
    messages.success(request, "The comment is back.")
    return _show_thread(request, opened)


def _open(request: SignedInRequest, uid: uuid.UUID, position: int) -> OutputAccess:
    place = parse_position(request, position)
    opened = access.output_for(request.user, uid, *place, role=Role.REVIEWER)
    if opened.output.pk in opened.blind_outputs:
        raise PermissionDenied("Review this case first: comments are shown afterwards.")
    return opened


def _show_thread(
    request: SignedInRequest,
    opened: OutputAccess,
    form: CommentForm | None = None,
    *,
    deleted: Comment | None = None,
    is_added: bool = False,
) -> HttpResponse:
    """The thread after the change; without htmx a redirect to it."""
    is_refused = form is not None and not form.is_valid()
    if form and is_refused:
        messages.error(request, f"The comment is not kept: {form.errors['text'][0]}")
    undo = str(deleted.uuid) if deleted else ""
    if not HtmxDetails(request):
        return redirect(f"{case_page_url(request, opened, undo)}#comments")
    run, output = opened.run, opened.output
    opened = access.output_for(request.user, run.uuid, output.case.position, output.trial)
    context = feedback_context(request, opened, undo)
    context |= {"run": opened.run, "is_added": is_added, "swapped": True}
    status = 422 if is_refused else 200
    return render_page(request, "cases/page.html", context, parts=["comments"], status=status)
