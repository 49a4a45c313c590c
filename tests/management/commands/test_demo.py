"""`manage.py demo`: who becomes a member, what is told, and what is left to the worker."""

from __future__ import annotations

import sys

import pytest
from django.core.management import call_command

from scoring.core.embeddings.local import LocalModel
from scoring.engine.demo import DEMO_SLUG
from scoring.engine.demo.reviews import OWN_CASES
from scoring.models import Member, ReviewQueue, User


def test_the_command_makes_site_administrators_members(
    db: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    root = User.objects.create_superuser("root@example.org", "a long enough phrase")
    call_command("demo")
    team = Member.objects.get(user=root).team
    assert team.slug == DEMO_SLUG
    (queue,) = ReviewQueue.objects.waiting_for(root).filter(team=team)
    assert queue.own_open == OWN_CASES
    first, second = capsys.readouterr().out.splitlines()
    assert first == "The demo team has 3 datasets with 156 cases and 36 scored runs"
    assert "not installed" in second
    assert "requirements-embeddings.txt" in second


@pytest.mark.slow
def test_the_command_can_leave_them_to_the_worker(
    minilm: str, db: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalModel, "compute", lambda *_: pytest.fail("a text was embedded"))
    call_command("demo", queue_embeddings=True)
    assert "24 scored runs; the worker scores 12 more" in capsys.readouterr().out
