"""`manage.py worker`: exactly one a data folder."""

from __future__ import annotations

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
