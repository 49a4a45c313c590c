"""Who is signed in, with what every page asks about them, in the one query for the person."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.db.models import Exists, OuterRef, Q

from scoring.models import Notice, Run, User


class Backend(AuthenticationBackend):  # type: ignore[misc]  # allauth is untyped
    """Adds to the person `has_notices`, and `awaits_runs` while a run they started goes on."""

    def get_user(self, user_id: Any) -> User | None:
        """As every backend; None for nobody and for who may not sign in."""
        notices = Notice.objects.filter(user=OuterRef("pk"), read_at=None)
        is_own = Q(created_by=OuterRef("pk")) | Q(attempts__started_by=OuterRef("pk"))
        runs = Run.objects.unfinished().filter(is_own)
        people = User.objects.annotate(has_notices=Exists(notices), awaits_runs=Exists(runs))
        user = people.filter(pk=user_id).first()
        return user if user and self.user_can_authenticate(user) else None
