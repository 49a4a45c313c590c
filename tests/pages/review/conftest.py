"""A run of four cases, a reviewer, and a queue with all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import Member, ReviewQueue, Role, Run, Team, User

BrowserOf = Callable[[User], Client]


@pytest.fixture
def rita(team: Team) -> User:
    """A reviewer."""
    rita = User.objects.create_user("rita@example.org")
    Member.objects.create(team=team, user=rita, role=Role.REVIEWER)
    return rita


@pytest.fixture
def ritas(browser_of: BrowserOf, rita: User) -> Client:
    return browser_of(rita)


@pytest.fixture
def queue(run: Run, rita: User) -> ReviewQueue:
    return create_queue(run, QueuePlan("w46", [rita], 4), by=rita)
