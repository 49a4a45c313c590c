"""A sign-off that was refused keeps what was sent."""

from __future__ import annotations

from django.http import QueryDict
from django.test import RequestFactory

from evalsite.pages.compare.refused_sign_off import RefusedSignOff
from evalsite.pages.compare.waiver_form import WaiverForm
from scoring.models import Team, User


def test_ticks_and_the_note_are_kept(team: Team, alice: User) -> None:
    request = RequestFactory().post("/", {"place": ["1", "2.1"], "note": "Fine."})
    request.user = alice
    waiver = WaiverForm(QueryDict(), team=team, user=alice)
    refused = RefusedSignOff.of(request, waiver, 409)  # type: ignore[arg-type]
    assert refused == RefusedSignOff(waiver, 409, frozenset({"1", "2.1"}), "Fine.")
