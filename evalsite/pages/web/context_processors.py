"""Context processor: the data of every page's frame."""

from __future__ import annotations

import re
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from scoring.engine.processes.disk_space import DISK_FULL, is_out_of_space
from scoring.models import Notice, Team, User
from scoring.models.prepared_query import prepared_query

THEMES = {"light", "dark"}
#: Which link of the bar an address belongs to, by its first word behind the team.
SECTIONS: Final = {
    "datasets": "datasets",
    "uploads": "datasets",
    "prompts": "datasets",
    "runs": "runs",
    "compare": "compare",
    "drift": "drift",
    "review": "review",
    "reviews": "review",
    "scorers": "scorers",
    "suites": "scorers",
    "try_count": "scorers",
    "previews": "scorers",
}
_FIRST: Final = re.compile(r"(?:/teams/[^/]+)?/([a-z]+)/")


def page_frame(request: HttpRequest) -> dict[str, Any]:
    """The theme ("" follows the system), the active section of the bar, whether the disk is full,
    and the user's teams and notices, which are queried when a template shows them.

    The `team` in a view's own context takes precedence over the None here.
    """
    theme = request.COOKIES.get("theme", "")
    user = getattr(request, "user", None)
    has_notices = user is not None and getattr(user, "has_notices", False)
    return {
        "theme": theme if theme in THEMES else "",
        "bar_part": site_section(request.path),
        "team": None,
        "disk_problem": DISK_FULL if is_out_of_space() else "",
        "notices": SimpleLazyObject(lambda: _unread(user)) if user and has_notices else (),
        "teams": SimpleLazyObject(lambda: _teams_of(user.pk)) if user and user.pk else (),
    }


def site_section(path: str) -> str:
    """The section of the bar that the address belongs to, from `SECTIONS`; "" for none."""
    first = _FIRST.match(path)
    return SECTIONS.get(first[1], "") if first else ""


@prepared_query
def _teams_of(user: int) -> QuerySet[Team]:
    return Team.objects.filter(members__user=user).order_by("name")


def _unread(user: User) -> list[Notice]:
    return list(Notice.objects.unread_by(user))
