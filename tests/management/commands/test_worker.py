"""`manage.py worker`: exactly one a data folder, unless a broker shares the work out."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from scoring.models import Worker
from tests.support.fixtures.sites import Site
from tests.support.waiting import DEADLINE_SECONDS, wait_until


def test_a_second_worker_says_so_and_ends_with_2(site: Site) -> None:
    first = site.start("worker")
    wait_until(Worker.objects.exists)
    second = site.start("worker")
    assert second.wait(DEADLINE_SECONDS) == 2
    assert "another worker works on this data folder" in site.log
    assert first.poll() is None


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("broker", "said"),
    [("", "name it in CELERY_BROKER_URL"), ("redis://localhost", "DATABASE_URL")],
)
def test_celery_needs_a_broker_and_postgresql(
    settings: Settings, db: None, broker: str, said: str
) -> None:
    settings.EVALSITE_BROKER_URL = broker
    with pytest.raises(CommandError, match=said):
        call_command("worker", celery=True)
