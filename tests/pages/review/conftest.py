"""A run of four cases, a reviewer, and a queue with all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import ReviewQueue, Run, User

BrowserOf = Callable[[User], Client]


@pytest.fixture
def queue(run: Run, rita: User) -> ReviewQueue:
    return create_queue(run, QueuePlan("w46", [rita], 4), by=rita)
