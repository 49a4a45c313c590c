"""Whatever is done with a connection, its key is nowhere to be read."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.jobs import job_queue
from scoring.engine.tryout import connection_test
from scoring.models import AuditEntry, Connection, Job, JobKind, User
from tests.pages.connections.steps import (
    KEY,
    administrator,
    at,
    changed,
    filled,
    no_environment,
    own,
)

__all__ = ["administrator", "no_environment", "own"]  # fixtures

pytestmark = pytest.mark.usefixtures("no_environment")


def every_answer(administrator: Client, own: Connection) -> Iterator[str]:
    """All pages about a connection, the admin's included, shown and sent."""
    slug = own.team.slug
    yield administrator.get(reverse("connections", args=[slug])).text
    yield administrator.get(reverse("new_connection", args=[slug])).text
    bad = filled(("", "1", ""), name="own", key=KEY, base_url="http://10.0.0.1")
    yield administrator.post(reverse("new_connection", args=[slug]), bad).text
    yield administrator.post(at("connection", own), changed(("", "1", ""), key=f"{KEY} x")).text
    yield administrator.post(at("connection", own), changed(("m", "1", "")) | {"key": KEY}).text
    yield administrator.post(at("test_connection", own), follow=True).text
    yield from (
        administrator.get(at(name, own)).text for name in ("connection", "remove_connection")
    )
    for model in ("connection", "job", "auditentry", "modelcall"):
        yield administrator.get(reverse(f"admin:scoring_{model}_changelist")).text
    for row in (own, *Job.objects.all(), *AuditEntry.objects.all()):
        name = f"admin:scoring_{row._meta.model_name}_change"
        yield administrator.get(reverse(name, args=[row.pk])).text
        yield administrator.get(reverse(name.replace("change", "history"), args=[row.pk])).text
    yield administrator.get(reverse("admin:scoring_connection_delete", args=[own.pk])).text


def test_no_answer_log_or_row_ever_shows_the_key(
    administrator: Client, alice: User, own: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    alice.is_staff = alice.is_superuser = True
    alice.save()
    with caplog.at_level(logging.DEBUG):
        texts = list(every_answer(administrator, own))
    assert len(texts) > 15
    for text in [*texts, caplog.text, str(list(AuditEntry.objects.values()))]:
        assert KEY not in text
        assert KEY[:-4] not in text
        assert own.encrypted_key not in text


def test_a_failing_page_tells_nobody_the_key(
    administrator: Client,
    own: Connection,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Neither the page of an error nor its traceback in the log holds what was typed."""

    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Connection, "save", fails)
    administrator.raise_request_exception = False
    sent = changed(("m", "1", ""), key=KEY)
    with caplog.at_level(logging.DEBUG):
        answer = administrator.post(at("connection", own), sent)
    assert answer.status_code == 500
    assert "Traceback" in caplog.text
    assert KEY not in answer.text + caplog.text


def test_a_job_that_breaks_logs_no_key(
    own: Connection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(job: Job) -> Any:
        endpoint = own.endpoint()
        raise RuntimeError(f"broken: {endpoint!r}")

    monkeypatch.setattr(connection_test, "run_connection_test", fails)
    job = job_queue.enqueue_once(JobKind.TEST_CONNECTION, own.team, None, {})
    with caplog.at_level(logging.DEBUG):
        job_queue.run_job(job)
    assert "broken: Endpoint(name='own'" in caplog.text
    assert KEY not in caplog.text


def test_the_admin_removes_with_an_audit_entry(
    administrator: Client, alice: User, own: Connection
) -> None:
    alice.is_staff = alice.is_superuser = True
    alice.save()
    administrator.post(reverse("admin:scoring_connection_delete", args=[own.pk]), {"post": "yes"})
    assert not Connection.objects.exists()
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor, entry.old["key"]) == ("connection.removed", alice, "…6789")
