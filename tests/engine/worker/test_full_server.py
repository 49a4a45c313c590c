"""The disk of a PostgreSQL server is full, and gets room again."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.db import connection

from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.engine.worker.shard_scheduler import NOT_STORED
from scoring.models import Run, RunState, Score, Worker
from tests.conftest import MakeOutputs
from tests.support.broker_server import Broker
from tests.support.fixtures.brokers import rabbitmq
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.full_disk import SmallDisk, small_disk
from tests.support.outages import control_server
from tests.support.postgresql_server import UNPRIVILEGED
from tests.support.private_server import unprivileged
from tests.support.waiting import wait_until

__all__ = ["rabbitmq"]

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]

OUTPUTS = 4_000
ANSWERS = ["yes", "yes!", "no", "YES", "perhaps", None]


@pytest.fixture
def disk(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    """Where the tables of this test are; its processes find them there, too."""
    name = f"small_{uuid.uuid4().hex}"
    url = urlsplit(os.environ["DATABASE_URL"])
    with small_disk() as disk:
        tables = disk.folder / "tables"
        tables.mkdir()
        owner = unprivileged(UNPRIVILEGED)
        shutil.chown(tables, owner["user"], owner["group"])
        model = connection.settings_dict["TEST"]["TEMPLATE"]
        with control_server() as control:
            control.execute(f"CREATE TABLESPACE {name} LOCATION '{tables}'")
            control.execute(f"CREATE DATABASE {name} TEMPLATE {model} TABLESPACE {name}")
        monkeypatch.setenv("DATABASE_URL", url._replace(path=f"/{name}").geturl())
        connection.close()
        monkeypatch.setitem(connection.settings_dict, "NAME", name)
        yield disk
        connection.close()
        disk.make_room()
        with control_server() as control:
            control.execute(f"DROP DATABASE {name} WITH (FORCE)")
            control.execute(f"DROP TABLESPACE {name}")


@pytest.fixture
def run(disk: SmallDisk, make_run: MakeRun, make_scorer: MakeScorer) -> Run:
    """A run whose scores take more room than a full disk has left."""
    scorers = [make_scorer(kind) for kind in ("exact_match", "levenshtein", "includes")]
    run = make_run([ANSWERS[number % 6] for number in range(OUTPUTS)], *scorers, name="full")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "SHARD_OUTPUTS", OUTPUTS // 20)
        planning.plan_attempt(run)
    return run


@pytest.mark.long("a worker waits for room, and scores")
def test_a_run_goes_on_once_there_is_room(
    disk: SmallDisk, run: Run, site: Site, make_outputs: MakeOutputs
) -> None:
    _is_finished_later(disk, run, site, make_outputs)


@pytest.mark.broker
@pytest.mark.long("a worker waits for room, and scores")
def test_behind_a_broker_it_does_so_too(
    disk: SmallDisk, run: Run, site: Site, make_outputs: MakeOutputs, rabbitmq: Broker
) -> None:
    _is_finished_later(disk, run, site, make_outputs, "--celery", CELERY_BROKER_URL=rabbitmq.url)


def _is_finished_later(
    disk: SmallDisk,
    run: Run,
    site: Site,
    make_outputs: MakeOutputs,
    *options: str,
    **environment: str,
) -> None:
    """By a worker with these options, whose scores are those of a calm one."""
    disk.fill_up()
    worker = site.start("worker", *options, **environment)
    wait_until(lambda: Run.objects.get(pk=run.pk).stall_reason == NOT_STORED)
    assert "could not extend file" in site.log
    disk.make_room()
    wait_until(lambda: Run.objects.get(pk=run.pk).state == RunState.FINISHED)
    assert worker.poll() is None
    assert Worker.objects.count() == 1
    texts = list(run.output_set.outputs.order_by("case__position").values_list("text", flat=True))
    outputs = make_outputs(run.output_set.version, texts, series="calm")
    calm = planning.create_run(outputs, suite=run.suite, name="calm")
    run_to_end(calm, InlineExecutor())
    assert rows_of(run) == rows_of(calm)
    assert verdicts_of(run) == verdicts_of(calm)
    assert Score.objects.filter(scorer__run=run).count() == 3 * OUTPUTS
    assert "Traceback" not in site.log
