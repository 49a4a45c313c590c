"""Release decisions and release reports through the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from scoring.engine.reports.verification import verify_file
from scoring.models import AuditEntry, ReleaseDecision, Run, RunState, User
from tests.api.conftest import MISSING, Api, ApiOf, codes
from tests.api.in_person import api_of
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import ask_to_review
from tests.support.undone import undone

__all__ = ["api_of"]

SENT = {"state": "approved", "reason": "Good."}


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abc"])
    old = run_with(version, {"close": [1.0] * 3}, name="w45")
    return old, run_with(version, {"close": [0, 0, 1.0]}, name="w46")


@pytest.fixture
def path(runs: tuple[Run, Run]) -> str:
    return f"runs/{runs[1].uuid}/release-decisions/"


@pytest.fixture
def report_path(runs: tuple[Run, Run]) -> str:
    return f"runs/{runs[1].uuid}/release-report/"


def test_a_run_is_approved_with_the_evidence_of_the_moment(
    alices: Api, bobs: Api, alice: User, runs: tuple[Run, Run], path: str
) -> None:
    made = alices.post(path, SENT)
    assert made.status_code == 201
    check_answer(made, "runs/{uid}/release-decisions/", "post")
    body = made.json()
    assert (body["state"], body["decided_by"], body["withdrawn_at"]) == (
        "approved",
        alice.email,
        None,
    )
    assert (body["run"], body["baseline"]) == (str(runs[1].uuid), str(runs[0].uuid))
    evidence = body["evidence"]
    assert [evidence[name] for name in ("baseline", "broke", "open", "passed")] == ["w45", 2, 2, 1]
    assert AuditEntry.objects.filter(action="release.approved").count() == 1
    listed = bobs.get(path)
    check_answer(listed, "runs/{uid}/release-decisions/", "get")
    assert listed.json()["results"] == [body]
    one = bobs.get(f"release-decisions/{body['id']}/")
    check_answer(one, "release-decisions/{uid}/", "get")
    assert one.json() == body


def test_a_later_decision_replaces_the_one_that_stands(alices: Api, path: str) -> None:
    first = alices.post(path, SENT).json()
    alices.post(path, {"state": "rejected", "reason": "Worse."})
    listed = alices.get(path).json()["results"]
    assert [each["state"] for each in listed] == ["rejected", "approved"]
    assert [each["withdrawn_at"] is None for each in listed] == [True, False]
    assert listed[1]["id"] == first["id"]


def test_a_decision_on_what_no_longer_stands_conflicts(alices: Api, path: str) -> None:
    first = alices.post(path, SENT | {"seen": None}).json()
    refused = alices.post(path, {"state": "rejected", "reason": "Worse.", "seen": None})
    check_answer(refused, "runs/{uid}/release-decisions/", "post")
    assert refused.status_code == 409
    assert (refused.json()["code"], refused.json()["id"]) == ("decided_meanwhile", first["id"])
    seen = {"seen": first["id"]}
    assert alices.post(path, {"state": "rejected", "reason": "Worse."} | seen).status_code == 201
    alices.delete(f"release-decisions/{ReleaseDecision.objects.standing().get().uuid}/")
    refused = alices.post(path, SENT | seen)
    assert refused.status_code == 409
    assert "id" not in refused.json()


def test_an_unfinished_run_conflicts(
    alices: Api, runs: tuple[Run, Run], path: str, report_path: str
) -> None:
    Run.objects.filter(pk=runs[1].pk).update(state=RunState.CANCELLED)
    for answer in (alices.post(path, SENT), alices.get(report_path)):
        assert answer.status_code == 409
        assert (answer.json()["code"], answer.json()["id"]) == (
            "run_unfinished",
            str(runs[1].uuid),
        )
    assert not ReleaseDecision.objects.exists()


def test_an_unsound_decision_is_refused(alices: Api, path: str, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"reason": ""}, ("reason", "blank")),
        ({"reason": "  "}, ("reason", "invalid")),
        ({"state": "maybe"}, ("state", "invalid_choice")),
        ({"seen": "x"}, ("seen", "invalid")),
        ({"why": "x"}, ("why", "unknown_field")),
    ]
    for sent, fault in cases:
        with subtests.test(sent=sent, fault=fault), undone():
            answer = alices.post(path, SENT | sent)
            assert answer.status_code in {400, 422}
            assert codes(answer)[0][0] == fault[0], codes(answer)
            assert not ReleaseDecision.objects.exists()


def test_a_decision_is_withdrawn_once(alices: Api, path: str) -> None:
    made = alices.post(path, SENT).json()
    one = f"release-decisions/{made['id']}/"
    assert alices.delete(one).status_code == 204
    again = alices.delete(one)
    check_answer(again, "release-decisions/{uid}/", "delete")
    assert (again.status_code, again.json()["code"]) == (409, "decision_over")
    assert alices.get(one).json()["withdrawn_by"] == "alice@example.org"


def test_admins_decide_and_members_read(
    api_of: ApiOf, alices: Api, erin: User, bobs: Api, path: str, report_path: str
) -> None:
    made = alices.post(path, SENT).json()
    one = f"release-decisions/{made['id']}/"
    for refused in (bobs, api_of(erin)):
        assert refused.post(path, SENT).status_code == 403
        assert refused.delete(one).status_code == 403
        assert refused.get(report_path).status_code == 200


def test_strangers_find_nothing(alices: Api, charlies: Api, path: str, report_path: str) -> None:
    made = alices.post(path, SENT).json()
    for answer in (
        charlies.get(path),
        charlies.post(path, SENT),
        charlies.get(report_path),
        charlies.get(f"release-decisions/{made['id']}/"),
        charlies.delete(f"release-decisions/{made['id']}/"),
        alices.get(f"release-decisions/{MISSING}/"),
    ):
        assert answer.status_code == 404


def test_decisions_on_a_deleted_run_are_gone(alices: Api, runs: tuple[Run, Run], path: str) -> None:
    made = alices.post(path, SENT).json()
    Run.objects.filter(pk=runs[1].pk).update(deleted_at=timezone.now())
    assert alices.get(f"release-decisions/{made['id']}/").status_code == 404


@pytest.mark.parametrize(
    ("query", "name"),
    [({}, "r.json"), ({"format": "json"}, "r.json"), ({"format": "html"}, "r.html")],
)
def test_the_report_verifies(
    bobs: Api, report_path: str, query: dict[str, str], name: str, tmp_path: Path
) -> None:
    answer = bobs.get(report_path, **query)
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"].startswith("attachment")
    (tmp_path / name).write_bytes(answer.content)
    assert verify_file(tmp_path / name).faults == []


def test_a_report_that_is_not_to_be_had(
    alices: Api, alice: User, bobs: Api, runs: tuple[Run, Run], report_path: str
) -> None:
    first = alices.get(f"runs/{runs[0].uuid}/release-report/")
    assert (first.status_code, first.json()["code"]) == (409, "no_baseline")
    assert codes(alices.get(report_path, format="pdf"))[0][0] == "format"
    ask_to_review(runs[1], alice, "a")
    refused = alices.get(report_path)
    check_answer(refused, "runs/{uid}/release-report/", "get")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_reviewed_yet")
    assert bobs.get(report_path).status_code == 200


def test_large_runs_are_compared_first(
    alices: Api, report_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.compare.jobs.MAX_INLINE_PAIRS", 0)
    answer = alices.get(report_path)
    check_answer(answer, "runs/{uid}/release-report/", "get")
    assert (answer.status_code, answer.headers["Retry-After"]) == (202, "2")
