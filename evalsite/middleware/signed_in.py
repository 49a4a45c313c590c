"""The signed-in user, with what every page needs, in one query."""

from __future__ import annotations

import logging
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest

from evalsite.middleware.client_address import client_address
from scoring.models import AttemptCounter, Member, Notice, ReviewQueue, ReviewTask, Role, Run, User
from scoring.models.prepared_query import prepared_query
from scoring.models.team.attempt_counter import TooManyAttemptsError, limits_for

log = logging.getLogger(__name__)

PASSWORD = "password"  # noqa: S105  the kind of attempt


class Backend(AuthenticationBackend):  # type: ignore[misc]  # allauth is untyped
    """Limits password attempts, whichever page or program makes them.

    Annotates the user with `has_notices`, with `awaits_runs` while a run they started goes on, with
    `has_tasks` of review that are not done, with `is_in_pools` of review queues and with `is_admin`
    of any team.
    """

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:
        """Raises TooManyAttemptsError beyond the limit; without a request nothing is counted."""
        account = credentials.get("email") or credentials.get("username") or ""
        if request:
            count_password_attempt(request, account)
        user: User | None = super().authenticate(request, **credentials)
        if user and request:
            forget_password_attempts(request, account)
        return user

    def get_user(self, user_id: Any) -> User | None:
        """The user, None for one who does not exist or may not sign in."""
        user = _annotated_users.first(user_id)
        return user if user and self.user_can_authenticate(user) else None


@prepared_query
def _annotated_users(pk: int) -> QuerySet[User]:
    notices = Notice.objects.filter(user=OuterRef("pk"), read_at=None)
    is_own = Q(created_by=OuterRef("pk")) | Q(attempts__started_by=OuterRef("pk"))
    runs = Run.objects.unfinished().filter(is_own)
    tasks = ReviewTask.objects.filter(reviewer=OuterRef("pk"), done_at=None)
    pools = ReviewQueue.objects.filter(pool=OuterRef("pk"), closed_at=None)
    administered = Member.objects.filter(user=OuterRef("pk"), role=Role.ADMIN)
    return User.objects.filter(pk=pk).annotate(
        has_notices=Exists(notices),
        awaits_runs=Exists(runs),
        has_tasks=Exists(tasks),
        is_in_pools=Exists(pools),
        is_admin=Exists(administered),
    )


def count_password_attempt(request: HttpRequest, account: str) -> None:
    """Count it before the password is looked at. Raises TooManyAttemptsError."""
    address = client_address(request)
    try:
        AttemptCounter.objects.take(limits_for(PASSWORD, account, address))
    except TooManyAttemptsError:
        log.warning("Too many sign-in attempts from %s", address)
        raise


def forget_password_attempts(request: HttpRequest, account: str) -> None:
    """The password was right: the account starts again at zero, the address has one less."""
    of_pair, of_address = limits_for(PASSWORD, account, client_address(request))
    AttemptCounter.objects.forget(of_pair)
    AttemptCounter.objects.give_back([of_address])
