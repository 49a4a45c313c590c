"""What people said of the output that a case's page shows: reviews and comments."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.http import QueryDict
from django.urls import reverse

from evalsite import access
from evalsite.pages.fragments import SignedInRequest
from scoring.models import Comment, Output, Review, ReviewVerdict, Run, User

NOT_KEPT = ("whole", "undo")  # parts of the page's address that its forms leave out


class Choice(NamedTuple):
    """A verdict to give, by mouse or by its key."""

    verdict: ReviewVerdict
    key: int
    is_own: bool


@dataclass(frozen=True)
class Reviews:
    """What people said of an output; `said` is None while the person is blind to it."""

    person: User
    said: Sequence[Review] | None

    @cached_property
    def own(self) -> Review | None:
        return next((each for each in self.said or () if each.reviewer_id == self.person.pk), None)

    @property
    def choices(self) -> list[Choice]:
        own = self.own
        return [
            Choice(verdict, key, own is not None and own.verdict == verdict)
            for key, verdict in enumerate(ReviewVerdict, start=1)
        ]


class Line(NamedTuple):
    """A comment in the thread, and what the person may do to it."""

    comment: Comment
    may_edit: bool
    may_delete: bool


@dataclass(frozen=True)
class Thread:
    """The comments on an output as one person may act on them.

    `deleted` is one that the person has just deleted: it keeps its place, to be brought back.
    """

    person: User
    living: Sequence[Comment]
    deleted: Comment | None
    may_write: bool
    may_delete_all: bool

    @property
    def lines(self) -> list[Line]:
        """The oldest first."""
        gone = [self.deleted] if self.deleted else []
        every = sorted([*self.living, *gone], key=lambda comment: comment.pk)
        return [self._line(comment) for comment in every]

    def _line(self, comment: Comment) -> Line:
        is_own = self.may_write and comment.author_id == self.person.pk
        return Line(comment, is_own, is_own or self.may_delete_all)


def said_of(request: SignedInRequest, run: Run, output: Output, undo: str = "") -> dict[str, Any]:
    """What the page is given of an output from `access.output_for`.

    `undo` names a comment that has been deleted; where there is no script the address does.
    """
    user, may = request.user, access.granted_on(request.user, run)
    deleted = _deleted(user, run, output, undo or request.GET.get("undo", ""))
    thread = Thread(
        user, access.comments_for(output), deleted, may["may_review"], may["may_administer"]
    )
    return {
        "reviews": Reviews(user, access.reviews_for(run, output)),
        "thread": thread,
        "may_review": may["may_review"],
        "place": output.case.position,
        "kept": f"{user.pk} {run.uuid} {output.case.position} {output.trial}",
        "asked": _asked(request),
    }


def here(request: SignedInRequest, run: Run, output: Output, undo: str = "") -> str:
    """The page's address, in the list and with the looks that the request names."""
    query = _asked(request)
    if undo:
        query["undo"] = undo
    path = reverse("run_case", args=[run.uuid, output.case.position])
    return f"{path}?{query.urlencode()}"


def _asked(request: SignedInRequest) -> QueryDict:
    query = request.GET.copy()
    for name in NOT_KEPT:
        query.pop(name, None)
    return query


def _deleted(user: User, run: Run, output: Output, named: str) -> Comment | None:
    """None for a name of anything that is not the person's to bring back."""
    try:
        uid = uuid.UUID(named)
    except ValueError:
        return None
    gone = Comment.with_deleted.filter(output=output, deleted_at__isnull=False)
    comment = gone.select_related("author").filter(uuid=uid).first()
    return comment if comment and access.may_delete(user, run, comment) else None
