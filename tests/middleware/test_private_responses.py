"""No cache stores what belongs to one person."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from evalsite.middleware.private_responses import PrivateResponses


@pytest.mark.parametrize(("own", "sent"), [("", "private, no-store"), ("max-age=60", "max-age=60")])
def test_a_response_is_private_unless_it_says_otherwise(
    rf: RequestFactory, own: str, sent: str
) -> None:
    answer = HttpResponse(headers={"Cache-Control": own} if own else {})
    assert PrivateResponses(lambda _: answer)(rf.get("/")).headers["Cache-Control"] == sent
