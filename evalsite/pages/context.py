"""What every page's frame is given."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from scoring.models import Notice, Team, User

THEMES = {"light", "dark"}


def frame(request: HttpRequest) -> dict[str, Any]:
    """The chosen theme ("" follows the system) and the person's teams, unread until shown.

    A view that shows a team puts it in its own context as `team`, which wins over the None here.
    """
    theme = request.COOKIES.get("theme", "")
    user = getattr(request, "user", None)
    has_notices = user is not None and getattr(user, "has_notices", False)
    return {
        "theme": theme if theme in THEMES else "",
        "team": None,
        "notices": SimpleLazyObject(lambda: _unread(user)) if user and has_notices else (),
        "teams": Team.objects.of(user) if user and user.is_authenticated else Team.objects.none(),
    }


def _unread(user: User) -> list[Notice]:
    return list(Notice.objects.unread_by(user))
