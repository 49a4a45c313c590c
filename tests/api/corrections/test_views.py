"""Corrections through the API: listed, proposed, approved and rejected."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.jobs import job_queue
from scoring.engine.review import jobs
from scoring.models import Case, Correction, Job, JobKind, Run, User
from tests.api.conftest import Api, ApiOf
from tests.api.in_person import api_of
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run

__all__ = ["api_of"]


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": "q1", "input": "a", "expected": "x"}]
    return queued_run(make_outputs(make_dataset(cases), ["a"]))


def correction(run: Run, **more: Any) -> dict[str, Any]:
    return {"run": str(run.uuid), "key": "q1", "expected": {"y": None}} | more


def decision(run: Run, uid: str, what: str = "approve", **more: Any) -> dict[str, Any]:
    dataset = str(run.output_set.version.dataset.uuid)
    return {"dataset": dataset, "corrections": [uid], "decision": what} | more


def test_one_is_proposed_listed_and_approved(
    ritas: Api, api_of: ApiOf, alice: User, bob: User, run: Run
) -> None:
    made = ritas.post("corrections/", correction(run, note="moved"))
    assert made.status_code == 201
    check_answer(made, "corrections/", "post")
    uid = made.json()["id"]
    assert ritas.post("corrections/decide/", decision(run, uid)).status_code == 403
    done = api_of(alice).post("corrections/decide/", decision(run, uid))
    check_answer(done, "corrections/decide/", "post")
    assert done.json()["version"] == 2
    assert Case.objects.get(version__number=2).expected == {"y": None}
    dataset = str(run.output_set.version.dataset.uuid)
    listed = api_of(bob).get("corrections/", dataset=dataset, state="approved")
    check_answer(listed, "corrections/", "get")
    assert listed.json()["results"] == done.json()["corrections"]
    assert not api_of(bob).get("corrections/", dataset=dataset, state="open").json()["results"]


def test_null_expects_nothing(ritas: Api, alices: Api, run: Run) -> None:
    made = ritas.post("corrections/", correction(run, expected=None))
    check_answer(made, "corrections/", "post")
    assert (made.status_code, made.json()["expected"]) == (201, None)
    alices.post("corrections/decide/", decision(run, made.json()["id"]))
    assert not Case.objects.get(version__number=2).has_expected


def test_a_large_version_is_made_by_the_worker(
    ritas: Api, alices: Api, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "CASES_AT_ONCE", 0)
    uid = ritas.post("corrections/", correction(run)).json()["id"]
    accepted = alices.post("corrections/decide/", decision(run, uid))
    check_answer(accepted, "corrections/decide/", "post")
    assert accepted.status_code == 202
    assert accepted.json()["version"] is None
    assert accepted.json()["corrections"][0]["state"] == "open"
    job_queue.run_job(Job.objects.get(kind=JobKind.APPROVE_CORRECTIONS))
    dataset = str(run.output_set.version.dataset.uuid)
    (listed,) = alices.get("corrections/", dataset=dataset).json()["results"]
    assert (listed["state"], listed["version"]) == ("approved", 2)


def test_what_cannot_be_done_is_said(
    ritas: Api, api_of: ApiOf, alice: User, bob: User, charlie: User, run: Run
) -> None:
    assert api_of(bob).post("corrections/", correction(run)).status_code == 403
    assert api_of(charlie).post("corrections/", correction(run)).status_code == 404
    same = ritas.post("corrections/", correction(run, expected="x"))
    assert (same.status_code, same.json()["code"]) == (409, "not_correctable")
    assert ritas.post("corrections/", correction(run, key="no")).status_code == 404
    uid = ritas.post("corrections/", correction(run)).json()["id"]
    assert api_of(charlie).post("corrections/decide/", decision(run, uid)).status_code == 404
    alices = api_of(alice)
    no_reason = alices.post("corrections/decide/", decision(run, uid, "reject"))
    assert (no_reason.status_code, no_reason.json()["code"]) == (409, "not_decidable")
    rejected = decision(run, uid, "reject", reason="no")
    assert alices.post("corrections/decide/", rejected).json()["version"] is None
    late = alices.post("corrections/decide/", decision(run, uid))
    assert (late.status_code, late.json()["code"]) == (409, "decided_meanwhile")
    other = decision(run, "01936000-0000-7000-8000-000000000000")
    assert alices.post("corrections/decide/", other).status_code == 404
    assert Correction.objects.get().reason == "no"
