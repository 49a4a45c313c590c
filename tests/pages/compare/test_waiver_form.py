"""The form of waivers: who may own one, and until when it holds."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evalsite.pages.compare.waiver_form import DEFAULT_DAYS, WaiverForm
from scoring.models import Member, Role, Team, User

pytestmark = pytest.mark.django_db


def filled(team: Team, user: User, **changed: object) -> WaiverForm:
    sent = {"reason": "known", "until": timezone.localdate().isoformat(), "owner": user.pk}
    return WaiverForm(sent | changed, team=team, user=user)


def test_it_offers_the_person_and_thirty_days(team: Team, alice: User) -> None:
    form = WaiverForm(team=team, user=alice)
    assert form["owner"].initial == alice
    assert form["until"].initial == timezone.localdate() + timedelta(days=DEFAULT_DAYS)


def test_owners_are_those_who_may_review(team: Team, alice: User, bob: User, charlie: User) -> None:
    rita, gone = (User.objects.create_user(f"{name}@example.org") for name in ("rita", "gone"))
    for user in (rita, gone):
        Member.objects.create(team=team, user=user, role=Role.REVIEWER)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    assert filled(team, alice, owner=rita.pk).is_valid()
    for other in (bob, charlie, gone):
        assert list(filled(team, alice, owner=other.pk).errors) == ["owner"]


def test_it_holds_today_and_no_day_that_is_over(team: Team, alice: User) -> None:
    form = filled(team, alice)
    assert form.is_valid()
    assert form.terms() == (timezone.localdate(), "known", alice)
    past = timezone.localdate() - timedelta(days=1)
    assert list(filled(team, alice, until=past.isoformat()).errors) == ["until"]
