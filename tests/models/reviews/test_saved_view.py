"""Views under a name: a person's own and the team's, kept once each and dropped once."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from scoring.models import AuditEntry, SavedView, Team, User


def keep(team: Team, name: str, by: User, *, is_shared: bool = False) -> SavedView:
    return SavedView.objects.keep(team, name, "verdict=fail", by=by, is_shared=is_shared)


def test_the_teams_views_come_first_and_others_own_ones_never(
    team: Team, alice: User, bob: User
) -> None:
    for name in ("b", "a"):
        keep(team, name, alice)
    keep(team, "z", bob, is_shared=True)
    keep(team, "bobs", bob)
    found = SavedView.objects.for_person(alice, team)
    assert [view.name for view in found] == ["z", "a", "b"]


@pytest.mark.parametrize(("is_shared", "who"), [(True, "The team has"), (False, "You have")])
def test_a_name_is_kept_once_for_each(team: Team, alice: User, is_shared: bool, who: str) -> None:
    keep(team, "a", alice, is_shared=is_shared)
    with pytest.raises(ValidationError, match=f"{who} a view called a already"):
        keep(team, "a", alice, is_shared=is_shared)
    keep(team, "a", alice, is_shared=not is_shared)
    assert AuditEntry.objects.filter(action="view.created").count() == 2


def test_it_is_dropped_once(team: Team, alice: User, bob: User) -> None:
    view = keep(team, "a", alice, is_shared=True)
    assert [view.drop(by=bob), view.drop(by=alice)] == [True, False]
    assert AuditEntry.objects.get(action="view.removed").actor == bob
