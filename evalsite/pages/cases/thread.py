"""Reviews and comments on an output, as its page shows them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.urls import reverse

from evalsite import access
from evalsite.access import OutputAccess
from evalsite.pages.cases.correction_form import folded_form
from evalsite.pages.compare.links import change_query
from evalsite.pages.web.responses import SignedInRequest
from scoring.models import Adjudication, Comment, Review, ReviewVerdict, User


class VerdictChoice(NamedTuple):
    """A verdict to give, by mouse or by its key."""

    verdict: ReviewVerdict
    key: int
    is_own: bool


@dataclass(frozen=True)
class Reviews:
    """Reviews of an output; `visible` is None while the user may see none."""

    person: User
    visible: Sequence[Review] | None

    @cached_property
    def own(self) -> Review | None:
        own = (review for review in self.visible or () if review.reviewer_id == self.person.pk)
        return next(own, None)

    @cached_property
    def adjudication(self) -> Adjudication | None:
        """The final verdict where reviewers disagreed; one query where several have reviewed."""
        if self.visible is None or len(self.visible) < 2:
            return None
        final = Adjudication.objects.filter(output=self.visible[0].output_id)
        return final.select_related("decided_by").first()

    @property
    def choices(self) -> list[VerdictChoice]:
        own = self.own
        return [
            VerdictChoice(verdict, key, own is not None and own.verdict == verdict)
            for key, verdict in enumerate(ReviewVerdict, start=1)
        ]


class ThreadEntry(NamedTuple):
    """A comment in the thread, and what the person may do to it."""

    comment: Comment
    may_edit: bool
    may_delete: bool


@dataclass(frozen=True)
class Thread:
    """The comments on an output as one person may act on them.

    `deleted` is one that the person has just deleted: it is shown in its order, to be restored.
    """

    person: User
    comments: Sequence[Comment]
    deleted: Comment | None
    may_write: bool
    may_delete_all: bool

    @property
    def entries(self) -> list[ThreadEntry]:
        """The oldest first."""
        comments = [*self.comments, *([self.deleted] if self.deleted else [])]
        return [self._entry(comment) for comment in sorted(comments, key=lambda each: each.pk)]

    def _entry(self, comment: Comment) -> ThreadEntry:
        is_own = self.may_write and comment.author_id == self.person.pk
        return ThreadEntry(comment, is_own, is_own or self.may_delete_all)


def feedback_context(
    request: SignedInRequest, opened: OutputAccess, undo: str = ""
) -> dict[str, Any]:
    """The part of the page's context with the reviews and comments of an output.

    `undo` names a comment just deleted. Without scripts the address names it.
    """
    user, output, permissions = request.user, opened.output, opened.permissions
    may_review, position = permissions["may_review"], output.case.position
    deleted = _find_deleted(opened, undo or request.GET.get("undo", ""))
    comments = access.comments_for(opened)
    page_query = request.GET.copy()
    for name in ("whole", "undo"):
        page_query.pop(name, None)
    return {
        "reviews": Reviews(user, access.reviews_for(opened)),
        "thread": Thread(user, comments, deleted, may_review, permissions["may_administer"]),
        "may_review": may_review,
        "correction_form": folded_form(output.case) if may_review else None,
        "position": position,
        "draft_key": f"{user.pk} {opened.run.uuid} {position} {output.trial}",
        "page_query": page_query,
    }


def case_page_url(request: SignedInRequest, opened: OutputAccess, undo: str = "") -> str:
    """The page's address with the list and the display options of the request."""
    path = reverse("run_case", args=[opened.run.uuid, opened.output.case.position])
    return f"{path}{change_query(request.GET, 'whole', undo=undo)}"


def _find_deleted(opened: OutputAccess, text: str) -> Comment | None:
    """The deleted comment of this id; None for one that the user may not restore."""
    try:
        uid = uuid.UUID(text)
    except ValueError:
        return None
    deleted = Comment.with_deleted.filter(output=opened.output, deleted_at__isnull=False)
    comment = deleted.select_related("author").filter(uuid=uid).first()
    return comment if comment and access.can_delete(opened, comment) else None
