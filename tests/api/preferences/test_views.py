"""Preferences through the API."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.models import AuditEntry, Preference, Run, User
from tests.api.conftest import Api, ApiOf
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run


@pytest.fixture
def runs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> tuple[Run, Run]:
    version = make_dataset([{"key": "q1", "input": "a"}])
    return queued_run(make_outputs(version, ["new"])), queued_run(make_outputs(version, ["old"]))


def preference(runs: tuple[Run, Run], **more: Any) -> dict[str, Any]:
    run, baseline = (str(run.uuid) for run in runs)
    return {"run": run, "baseline": baseline, "key": "q1", "verdict": "better"} | more


def test_one_is_given_changed_and_listed_after_the_own_one(
    ritas: Api, api_of: ApiOf, alice: User, bob: User, runs: tuple[Run, Run]
) -> None:
    given = ritas.post("preferences/", preference(runs))
    assert given.status_code == 200
    check_answer(given, "preferences/", "post")
    changed = ritas.post("preferences/", preference(runs, verdict="same", note="close")).json()
    assert (changed["id"], changed["verdict"]) == (given.json()["id"], "same")
    assert AuditEntry.objects.filter(action="preference.given").count() == 2
    named = {"run": str(runs[0].uuid), "baseline": str(runs[1].uuid)}
    listed = api_of(bob).get("preferences/", **named)
    check_answer(listed, "preferences/", "get")
    assert listed.json()["results"] == [changed]
    assert api_of(alice).get("preferences/", **named).json()["results"] == []


def test_who_may_and_what_is_there(
    ritas: Api, api_of: ApiOf, bob: User, charlie: User, runs: tuple[Run, Run]
) -> None:
    assert api_of(bob).post("preferences/", preference(runs)).status_code == 403
    assert api_of(charlie).post("preferences/", preference(runs)).status_code == 404
    assert ritas.post("preferences/", preference(runs, key="q2")).status_code == 404
    itself = preference(runs, baseline=str(runs[0].uuid))
    assert ritas.post("preferences/", itself).status_code == 404
    assert not Preference.objects.exists()
