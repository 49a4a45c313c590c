"""A browser tab of an editor, with a spool of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from scoring.models import Member, Role, Team, User


@pytest.fixture
def spool(settings: Settings, tmp_path: Path) -> Path:
    """A spool of the test's own."""
    folder = tmp_path / "spool"
    folder.mkdir()
    settings.SPOOL_DIR = settings.FILE_UPLOAD_TEMP_DIR = folder
    return folder


@pytest.fixture
def browser(browser_of: Callable[[User], Client], team: Team, spool: Path) -> Client:
    """A test client signed in as an editor of the team."""
    erin = User.objects.create_user("erin@example.org")
    Member.objects.create(team=team, user=erin, role=Role.EDITOR)
    return browser_of(erin)
