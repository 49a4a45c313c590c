"""What the watchers of a site are told."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from scoring.engine.jobs import lease
from scoring.engine.runs.progress import ALIVE_SECONDS
from scoring.engine.upgrades import known_migrations
from scoring.models import Worker

URL = "/healthz"


def seen(seconds_ago: float) -> None:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    Worker.objects.create(name=lease.own_name(), started_at=at, seen_at=at)


def test_a_site_with_a_live_worker_is_healthy(client: Client, db: None) -> None:
    seen(0)
    answer = client.get(URL)
    assert answer.status_code == 200
    assert answer.json() == {"healthy": True, "database": True, "worker": True, "disk": True}


@pytest.mark.parametrize(
    "seconds_ago", [None, ALIVE_SECONDS + 5, pytest.param(-3600, id="before a clock was set back")]
)
def test_a_site_without_a_live_worker_says_so(
    client: Client, db: None, seconds_ago: float | None
) -> None:
    if seconds_ago is not None:
        seen(seconds_ago)
    answer = client.get(URL)
    assert answer.status_code == 503
    assert answer.json() == {"healthy": False, "database": True, "worker": False, "disk": True}


def test_work_that_nobody_takes_is_not_healthy(client: Client, db: None) -> None:
    seen(0)
    Worker.objects.update(queues=["scoring", "imports", "jobs"])
    assert client.get(URL).json()["worker"] is False
    Worker.objects.update(queues=["scoring", "judges", "embeddings", "imports", "jobs"])
    assert client.get(URL).json()["worker"] is True


def test_a_site_without_its_database_says_so(client: Client, db: None) -> None:
    def fail(*_: object) -> None:
        raise DatabaseError("disk I/O error")

    with connection.execute_wrapper(fail):
        answer = client.get(URL)
    assert answer.status_code == 503
    assert answer.json() == {"healthy": False, "database": False, "worker": False, "disk": True}
    assert "I/O" not in answer.content.decode()


def test_a_site_without_room_on_its_disk_says_so(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.processes.disk_space._free_bytes", lambda: 0)
    seen(0)
    answer = client.get(URL)
    assert answer.status_code == 503
    assert answer.json() == {"healthy": False, "database": True, "worker": True, "disk": False}


def test_no_cache_may_answer_for_the_site(client: Client, db: None) -> None:
    assert "no-store" in client.get(URL)["Cache-Control"]


def test_it_is_read_and_never_written(client: Client, db: None) -> None:
    assert client.post(URL).status_code == 405


def test_it_answers_over_plain_http(client: Client, db: None, settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = True
    seen(0)
    assert client.get(URL).status_code == 200
    assert client.get("/").status_code == 301


class TestReadiness:
    def test_a_process_with_its_database_is_ready_without_a_worker(
        self, client: Client, db: None
    ) -> None:
        answer = client.get("/readyz")
        assert answer.status_code == 200
        assert answer.json() == {"ready": True, "database": True, "schema": True}

    def test_it_is_not_before_the_database_was_migrated(self, client: Client, db: None) -> None:
        newest = max(known_migrations())
        MigrationRecorder.Migration.objects.filter(app="scoring", name=newest).delete()
        answer = client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json() == {"ready": False, "database": True, "schema": False}

    def test_it_is_with_the_database_of_a_newer_version(self, client: Client, db: None) -> None:
        """The old processes answer until the new ones have started."""
        MigrationRecorder.Migration.objects.create(
            app="scoring", name="9999_newer", applied=timezone.now()
        )
        assert client.get("/readyz").status_code == 200

    def test_it_is_not_without_its_database(self, client: Client, db: None) -> None:
        def fail(*_: object) -> None:
            raise DatabaseError("disk I/O error")

        with connection.execute_wrapper(fail):
            answer = client.get("/readyz")
        assert answer.status_code == 503
        assert answer.json() == {"ready": False, "database": False, "schema": False}
