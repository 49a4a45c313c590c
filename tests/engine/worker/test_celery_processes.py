from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from kombu import Connection

from scoring.core import registry
from scoring.core.custom import load_custom
from scoring.engine.runs import planning
from scoring.engine.worker import celery_processes
from scoring.engine.worker.celery_tasks import score_shard
from scoring.models import Score, Shard
from tests.support.broker_server import Broker
from tests.support.fixtures.brokers import redis
from tests.support.fixtures.runs import MakeRun, MakeScorer
from tests.support.fixtures.sites import Site
from tests.support.paths import ROOT
from tests.support.waiting import wait_until

__all__ = ["redis"]

pytestmark = [
    pytest.mark.broker,
    pytest.mark.postgresql,
    pytest.mark.django_db(transaction=True),
]

SLOW = "tests.engine.odd_scorers.slow"


@pytest.fixture
def celery(redis: Broker) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", celery_processes.__name__, "1"],
        cwd=ROOT,
        env={**os.environ, "CELERY_BROKER_URL": redis.url, "EVALSITE_SCORERS": SLOW},
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdin
    process.stdin.close()


@pytest.mark.long("a worker starts, and ends a shard after a second")
def test_a_shard_that_takes_too_long_is_closed_and_its_process_ended(
    celery: subprocess.Popen[bytes],
    redis: Broker,
    site: Site,
    make_run: MakeRun,
    make_scorer: MakeScorer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next shard is scored. All of it ends when the other end of its stdin closes."""
    monkeypatch.setattr(registry, "CUSTOM_TYPES", dict(registry.CUSTOM_TYPES))
    load_custom([SLOW])
    late, quick = make_scorer("slow", "late", seconds=600), make_scorer("slow", seconds=0.01)
    for scorer in (late, quick):
        planning.plan_attempt(make_run(["yes"], scorer))
    with Connection(redis.url) as broker:
        for shard in Shard.objects.order_by("pk"):
            score_shard.apply_async((shard.pk,), connection=broker, time_limit=1)
    wait_until(lambda: Score.objects.count() == 2)
    codes = Score.objects.order_by("scorer_id").values_list("code", flat=True)
    assert list(codes) == ["too_slow", ""]
    assert celery.stdin
    celery.stdin.close()
    wait_until(lambda: not site.members(celery.pid))
