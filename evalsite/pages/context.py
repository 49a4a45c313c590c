"""What every page's frame is given."""

from __future__ import annotations

import re
from typing import Any, Final

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from scoring.models import Notice, Team, User

THEMES = {"light", "dark"}
#: Which link of the bar an address belongs to, by its first word behind the team.
PARTS: Final = {
    "datasets": "datasets",
    "uploads": "datasets",
    "prompts": "datasets",
    "runs": "runs",
    "compare": "compare",
    "drift": "drift",
    "scorers": "scorers",
    "suites": "scorers",
    "tries": "scorers",
    "previews": "scorers",
}
_FIRST: Final = re.compile(r"(?:/teams/[^/]+)?/([a-z]+)/")


def frame(request: HttpRequest) -> dict[str, Any]:
    """The chosen theme ("" follows the system), the part of the site, and the person's teams,
    unread until shown.

    A view that shows a team puts it in its own context as `team`, which wins over the None here.
    """
    theme = request.COOKIES.get("theme", "")
    user = getattr(request, "user", None)
    has_notices = user is not None and getattr(user, "has_notices", False)
    return {
        "theme": theme if theme in THEMES else "",
        "bar_part": part_of(request.path),
        "team": None,
        "notices": SimpleLazyObject(lambda: _unread(user)) if user and has_notices else (),
        "teams": Team.objects.of(user) if user and user.is_authenticated else Team.objects.none(),
    }


def part_of(path: str) -> str:
    """The part of the site that the address lies in, as PARTS names them; "" in none."""
    first = _FIRST.match(path)
    return PARTS.get(first[1], "") if first else ""


def _unread(user: User) -> list[Notice]:
    return list(Notice.objects.unread_by(user))
