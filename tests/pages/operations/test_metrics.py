"""The figures of a site, as Prometheus reads them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django.fixtures import Settings

from scoring.models import Job, JobKind, Team, Worker

URL = "/metrics"
TOKEN = "a-token-of-the-monitoring"


@pytest.fixture(autouse=True)
def token(db: None, settings: Settings) -> None:
    settings.EVALSITE_METRICS_TOKEN = TOKEN


def read(client: Client) -> dict[str, Any]:
    answer = client.get(URL, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    return {
        sample.name + "".join(sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_all_figures_are_told(client: Client, team: Team) -> None:
    now = timezone.now()
    Worker.objects.create(name="a:1", started_at=now, seen_at=now, process_count=4)
    Job.objects.create(team=team, kind=JobKind.COMPARE)
    Job.objects.update(created_at=now - timedelta(minutes=2))
    found = read(client)
    age = found.pop("evalsite_queue_oldest_age_secondsjobs")
    assert 120 <= age < 180
    assert found == {
        "evalsite_workers": 1,
        "evalsite_worker_processes": 4,
        "evalsite_outputs_per_minute": 0,
        "evalsite_disk_full": 0,
        "evalsite_queue_lengthruns": 0,
        "evalsite_queue_lengthshards": 0,
        "evalsite_queue_lengthuploads": 0,
        "evalsite_queue_lengthjobs": 1,
        "evalsite_queue_lengthmail": 0,
    }


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", TOKEN])
def test_nobody_reads_them_without_the_token(client: Client, given: str) -> None:
    answer = client.get(URL, headers={"Authorization": given} if given else {})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.content == b""


def test_where_there_is_no_token_there_are_no_metrics(client: Client, settings: Settings) -> None:
    settings.EVALSITE_METRICS_TOKEN = ""
    assert client.get(URL, headers={"Authorization": "Bearer "}).status_code == 404
