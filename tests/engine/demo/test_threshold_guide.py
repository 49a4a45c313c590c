"""The guide to thresholds does on the demo what it says."""

from __future__ import annotations

import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from scoring.models import Member, Role, Suite, Team, ThresholdChange, User

GUIDE = Path(__file__).parents[3] / "docs" / "thresholds.md"
STEP = re.compile(r"```sh\nmanage\.py (.*?)\n```\n\n```text\n(.*?)```", re.DOTALL)


def test_its_commands_print_what_it_shows(loaded: Team) -> None:
    steps = STEP.findall(GUIDE.read_text())
    assert len(steps) == 6
    for command, shown in steps:
        out = StringIO()
        call_command(*shlex.split(command), stdout=out)
        assert out.getvalue() == shown, command
    changes = ThresholdChange.objects.order_by("pk").values_list("old", "new")
    assert list(changes) == [(0.7, 0.85), (0.85, 0.7)]


@pytest.fixture
def administrator(loaded: Team, client: Client) -> Client:
    user = User.objects.create_user("ann@example.org", name="Ann")
    Member.objects.create(team=loaded, user=user, role=Role.ADMIN)
    client.force_login(user)
    return client


def test_its_pages_show_what_it_names(administrator: Client) -> None:
    suite = Suite.objects.get(name="Support release")
    entry = suite.entries.get(scorer__name="close enough")
    page = administrator.get(reverse("suite", args=[suite.uuid]))
    url = reverse("suite_threshold", args=[suite.uuid, entry.scorer.uuid])
    assert url in page.text
    assert "Preview other thresholds" in page.text
    preview = administrator.get(url, {"threshold": "0.85"})
    assert len(list(preview.context["page"].rows())) == 4
    effects = administrator.get(preview.context["page"].effects_url)
    assert "Gates and comparison" in effects.text
    assert effects.context["effects"].sentence.startswith("Against 2026-w4")
    sent = {"threshold": "0.85", "old": "0.7", "reason": "Replies that miss a step passed."}
    changed = administrator.post(url, sent, follow=True)
    assert "Re-label 10 runs" in changed.text


def test_people_agree_on_the_suite_it_names(administrator: Client) -> None:
    suite = Suite.objects.get(name="Question release")
    entry = suite.entries.get(scorer__name="names the answer")
    page = administrator.get(reverse("suite_threshold", args=[suite.uuid, entry.scorer.uuid]))
    assert "Agreement with people" in page.text
