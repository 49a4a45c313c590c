"""Two machines on one PostgreSQL database: each has a worker, a web server and files of its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as site_settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from scoring.engine import imports
from scoring.engine.imports import shared_storage
from scoring.engine.jobs import lease
from scoring.engine.runs import planning
from scoring.models import (
    CaseVerdict,
    Connection,
    EndpointLimit,
    Run,
    Score,
    Shard,
    Team,
    User,
    Worker,
)
from tests.conftest import MakeDataset, MakeOutputs
from tests.stub import Stub
from tests.support.fixtures.runs import MakeRun, MakeScorer, rows_of, verdicts_of
from tests.support.fixtures.sites import Site
from tests.support.fixtures.storages import SharedStorage, s3_server, shared
from tests.support.fixtures.uploads import Put, cases_of, is_imported, put, spooled
from tests.support.private_server import free_port
from tests.support.thoroughness import IS_THOROUGH
from tests.support.visitor import Visitor
from tests.support.waiting import DEADLINE_SECONDS, wait_until

__all__ = ["put", "s3_server", "shared", "spooled"]

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]

RUNS, OUTPUTS = (8, 20_000) if IS_THOROUGH else (6, 600)
ROWS = b"id,input\n1,a\n2,b\n"
ANSWERS = ["yes", "yes!", "no", "YES", "perhaps", None]


@pytest.fixture
def sites(site: Site, tmp_path: Path) -> Iterator[list[Site]]:
    """Two sites on the test's own database."""
    folder = tmp_path / "other"
    folder.mkdir()
    other = Site(folder)
    yield [site, other]
    other.end()


@pytest.mark.long("a worker starts")
def test_a_file_is_read_by_a_worker_that_did_not_receive_it(
    sites: list[Site], shared: SharedStorage, put: Put
) -> None:
    upload = put(ROWS)
    assert imports.request_check(upload)
    secret = site_settings.SECRET_KEY
    sites[1].start("worker", EVALSITE_SECRET_KEY=secret, **shared.environment)
    wait_until(lambda: is_imported(upload), 2 * DEADLINE_SECONDS)
    assert [case.input for case in cases_of(upload.version)] == ["a", "b"]
    wait_until(lambda: shared_storage.names_older_than(-60) == [])
    assert list((sites[1].folder / "spool").glob("*.rows")) == []


@pytest.mark.long("two workers ask a model slowly")
def test_two_workers_together_make_as_many_calls_as_the_connection_allows(
    sites: list[Site], stub: Stub, team: Team, make_run: MakeRun, make_scorer: MakeScorer
) -> None:
    calls = Connection.objects.define(
        team, "slow", stub.url("same"), offered=[{"name": "stub-1"}], concurrency=3, by=None
    )
    judge = make_scorer("factuality", "slow", model="stub-1", connection="slow")
    stub.latency = 0.2
    for site in sites:
        site.start(
            "worker",
            EVALSITE_SECRET_KEY=site_settings.SECRET_KEY,
            EVALSITE_ENCRYPTION_KEY=site_settings.EVALSITE_ENCRYPTION_KEY,
            EVALSITE_MODEL_HOSTS=",".join(stub.hosts),
        )
    wait_until(lambda: Worker.objects.count() == 2)
    with transaction.atomic():
        runs = [
            make_run([f"{name} {number}" for number in range(40)], judge, name=name)
            for name in "ab"
        ]
        for run, worker in zip(runs, Worker.objects.all(), strict=True):  # one for each
            until = timezone.now() + timedelta(seconds=lease.LEASE_SECONDS)
            Run.objects.filter(pk=run.pk).update(lease_owner=worker.name, lease_expires_at=until)
    owners: set[str] = set()

    def are_finished() -> bool:
        shares = EndpointLimit.objects.values_list("shares", flat=True)
        owners.update(name for each in shares for name in each)
        return not Run.objects.unfinished().exists()

    wait_until(are_finished, 4 * DEADLINE_SECONDS)
    assert len(owners) == 2
    assert stub.most_in_flight == calls.concurrency
    assert len(stub.requests) == 80
    assert [Run.objects.get(pk=run.pk).error_count for run in runs] == [0, 0]


@pytest.mark.long("two workers start")
def test_a_worker_says_what_another_one_has_otherwise(sites: list[Site]) -> None:
    secret = {"EVALSITE_SECRET_KEY": site_settings.SECRET_KEY}
    sites[0].start("worker", EVALSITE_MODEL_HOSTS="models.lan", **secret)
    wait_until(Worker.objects.exists)
    sites[1].start("worker", **secret)
    said = "workers differ: EVALSITE_MODEL_HOSTS is empty here, models.lan at the worker "
    wait_until(lambda: said in sites[1].log)
    assert "workers differ" not in sites[0].log
    told = [line for line in sites[1].log.splitlines() if "workers differ" in line]
    assert not [
        line for line in told if "package" in line or "the code" in line or "Python" in line
    ]


@pytest.mark.long("two workers score several runs while two web servers answer")
def test_two_sites_share_the_runs(
    sites: list[Site],
    make_dataset: MakeDataset,
    make_run: MakeRun,
    make_outputs: MakeOutputs,
    make_scorer: MakeScorer,
    put: Put,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each run is scored once, and as by one worker; a session holds on both. A file is read where
    it came in.
    """
    monkeypatch.setattr(planning, "SHARD_OUTPUTS", OUTPUTS // 20)
    scorers = [make_scorer("exact_match"), make_scorer("levenshtein"), make_scorer("includes")]
    texts = [ANSWERS[number % 6] for number in range(OUTPUTS)]
    version = make_dataset([{"expected": "yes"}] * OUTPUTS)
    ports = [free_port(), free_port()]
    for each, port in zip(sites, ports, strict=True):
        secret = site_settings.SECRET_KEY
        each.start("start", "--port", str(port), EVALSITE_SECRET_KEY=secret)
    paths = [reverse("team_home", args=["support"]), "/healthz"]
    visitors = [Visitor(port, alice, paths) for port in ports]
    wait_until(lambda: Worker.objects.count() == 2)
    wait_until(lambda: all(visitor.get("/healthz") == 200 for visitor in visitors))
    with visitors[0].browsing(), visitors[1].browsing():
        with transaction.atomic():
            runs = [
                make_run(make_outputs(version, texts, series=name), *scorers, name=name)
                for name in map(str, range(RUNS))
            ]
            for run in runs:
                planning.plan_attempt(run)
        uploads = [put(ROWS, dataset_name=name) for name in map(str, range(RUNS))]
        assert all(imports.request_check(upload) for upload in uploads)
        owners: set[str] = set()

        def are_finished() -> bool:
            owners.update(Run.objects.values_list("lease_owner", flat=True))
            return not Run.objects.unfinished().exists()

        wait_until(are_finished, 10 * DEADLINE_SECONDS)
        for upload in uploads:
            wait_until(lambda: is_imported(upload))  # noqa: B023  called within this round
    assert len(owners - {""}) == 2  # each worker took some
    assert all(set(visitor.seen) == {200} for visitor in visitors)
    assert len({tuple(rows_of(run)) for run in runs}) == 1
    assert len({tuple(verdicts_of(run)) for run in runs}) == 1
    figures = Run.objects.values_list("pass_count", "fail_count", "error_count", "skipped_count")
    assert figures.distinct().count() == 1
    assert Score.objects.count() == RUNS * 3 * OUTPUTS
    assert CaseVerdict.objects.count() == RUNS * OUTPUTS
    assert not Shard.objects.filter(done_at=None).exists()
    assert not any("Traceback" in each.log for each in sites)
