"""Thresholds are read, previewed and changed through the API."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.models import AuditEntry, Role, Run, ThresholdChange, ThresholdProposal, User
from tests.api.conftest import MISSING, Api, ApiOf, codes
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

HOST = "http://testserver"
SCORES = {"close": [0.2, 0.6, 0.7, "error"], "same": [1, 0, 1, 1]}


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    """The latest of two runs of the suite `release`."""
    version = make_dataset([{}] * 4)
    suite_run(version, SCORES, name="w45")
    return suite_run(version, SCORES, name="w46")


def named(**more: Any) -> dict[str, Any]:
    entry = entry_of()
    return {"suite": str(entry.suite.uuid), "scorer": str(entry.scorer.uuid), **more}


def test_the_thresholds_of_a_suite_have_pass_rates_and_history(bobs: Api, run: Run) -> None:
    entry_of().change_threshold(0.65, by=None, reason="Too lenient.")
    shown = bobs.get("thresholds/", suite=entry_of().suite.uuid).json()
    assert (shown["name"], shown["revision"]) == ("release", 2)
    assert [(e["name"], e["threshold"], e["default"]) for e in shown["entries"]] == [
        ("close", 0.65, 0.7),
        ("same", 0.5, 0.7),
    ]
    latest = shown["entries"][0]["runs"][0]
    assert (latest["name"], latest["run_threshold"], latest["pass_rate"]) == ("w46", 0.5, 1 / 3)
    (change,) = shown["changes"]
    assert (change["old"], change["new"], change["reason"], change["by"]) == (
        0.5, 0.65, "Too lenient.", None,
    )  # fmt: skip


def test_a_preview_lists_the_cases_that_would_flip(bobs: Api, run: Run) -> None:
    shown = bobs.get("thresholds/preview/", **named(threshold=0.65)).json()
    assert (shown["threshold"], shown["new_threshold"], shown["run"]) == (0.5, 0.65, str(run.uuid))
    assert shown["results"] == [{"key": "case-2", "trial": 0, "score": 0.6, "changes_case": False}]
    assert [(r["name"], r["to_pass"], r["to_fail"]) for r in shown["runs"]] == [
        ("w46", 0, 1),
        ("w45", 0, 1),
    ]
    assert (shown["case_verdicts"], shown["next"], shown["agreement"]) == (0, None, None)
    assert "would fail instead of pass" in shown["sentence"]
    assert entry_of().threshold == 0.5


def test_pages_of_a_preview_follow_each_other(bobs: Api, run: Run) -> None:
    answer = bobs.get("thresholds/preview/", **named(threshold=0.8, page_size=1)).json()
    assert [case["key"] for case in answer["results"]] == ["case-2"]
    answer = bobs.get(answer["next"].removeprefix(HOST)).json()
    assert [case["key"] for case in answer["results"]] == ["case-3"]
    assert answer["next"] is None
    assert bobs.get(answer["previous"].removeprefix(HOST)).json()["results"][0]["key"] == "case-2"


def test_a_preview_may_be_of_an_earlier_run(bobs: Api, run: Run) -> None:
    first = Run.objects.get(name="w45")
    shown = bobs.get("thresholds/preview/", **named(threshold=0.65, run=first.uuid)).json()
    assert shown["run"] == str(first.uuid)


def test_without_a_finished_run_a_preview_is_empty(bobs: Api, run: Run) -> None:
    Run.objects.all().delete()
    shown = bobs.get("thresholds/preview/", **named(threshold=0.65)).json()
    assert (shown["run"], shown["sentence"], shown["results"]) == (None, None, [])


def test_a_preview_that_cannot_be_is_refused(
    bobs: Api, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], int, list[tuple[str, str]]]] = [
        ({"suite": MISSING}, 404, [("suite", "not_found")]),
        ({"scorer": MISSING}, 404, [("scorer", "not_found")]),
        ({"run": MISSING}, 404, [("run", "not_found")]),
        ({"threshold": "2"}, 422, [("threshold", "max_value")]),
        ({"threshold": "x"}, 400, [("threshold", "invalid")]),
        ({"cursor": "after-x"}, 400, [("cursor", "bad_cursor")]),
        ({"cursor": "0.5,3"}, 400, [("cursor", "bad_cursor")]),
        ({"colour": "red"}, 400, [("colour", "unknown_field")]),
    ]
    for changed, status, errors in cases:
        with subtests.test(changed=changed, status=status, errors=errors), undone():
            answer = bobs.get("thresholds/preview/", **named(threshold="0.65") | changed)
            assert (answer.status_code, codes(answer)) == (status, errors)


def test_an_admin_changes_a_threshold_with_a_reason(alice_in_person: Api, run: Run) -> None:
    body = named(threshold=0.65, reason="Too lenient.")
    answer = alice_in_person.post("thresholds/", body, Idempotency_Key="once")
    assert answer.status_code == 201
    made = answer.json()
    assert (made["name"], made["old"], made["new"]) == ("close", 0.5, 0.65)
    assert alice_in_person.post("thresholds/", body, Idempotency_Key="once").json() == made
    assert entry_of().threshold == 0.65
    assert ThresholdChange.objects.count() == 1
    assert AuditEntry.objects.get(action="threshold.changed").new["reason"] == "Too lenient."


def test_a_change_that_cannot_be_is_refused(
    alice_in_person: Api, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"reason": " "}, 422, "blank"),
        ({"reason": None}, 400, "null"),
        ({"threshold": 0.5}, 409, "same_threshold"),
        ({"threshold": -0.1}, 422, "min_value"),
        ({"threshold": "0.6"}, 400, "invalid"),
        ({"scorer": MISSING}, 404, "not_found"),
    ]
    for changed, status, code in cases:
        with subtests.test(changed=changed, status=status, code=code), undone():
            answer = alice_in_person.post(
                "thresholds/", named(threshold=0.65, reason="Too lenient.") | changed
            )
            assert (answer.status_code, answer.json()["code"]) == (status, code)
            assert entry_of().threshold == 0.5


def test_others_than_admins_change_nothing(bobs: Api, charlies: Api, run: Run) -> None:
    body = named(threshold=0.65, reason="Too lenient.")
    assert bobs.post("thresholds/", body).status_code == 403
    assert charlies.post("thresholds/", body).status_code == 404
    assert charlies.get("thresholds/", suite=body["suite"]).status_code == 404
    assert charlies.get("thresholds/preview/", **named(threshold=0.6)).status_code == 404
    assert entry_of().threshold == 0.5


def test_without_a_suite_the_default_is_meant(alice_in_person: Api, run: Run) -> None:
    asked = {"scorer": str(entry_of().scorer.uuid), "threshold": 0.55}
    shown = alice_in_person.get("thresholds/preview/", **asked).json()
    assert (shown["suite"], shown["threshold"]) == (None, 0.7)
    assert [case["key"] for case in shown["results"]] == ["case-2"]
    answer = alice_in_person.post("thresholds/", asked | {"reason": "Too strict."})
    assert (answer.status_code, answer.json()["old"], answer.json()["new"]) == (201, 0.7, 0.55)
    assert (entry_of().scorer.threshold, entry_of().threshold) == (0.55, 0.5)


@pytest.mark.parametrize("of_suite", [True, False])
def test_a_change_of_another_threshold_than_the_seen_one_is_refused(
    alice_in_person: Api, run: Run, of_suite: bool
) -> None:
    subject = named() if of_suite else {"scorer": named()["scorer"]}
    body = subject | {"threshold": 0.65, "reason": "Too lenient."}
    answer = alice_in_person.post("thresholds/", body | {"seen": 0.4})
    assert (answer.status_code, answer.json()["code"]) == (409, "changed_meanwhile")
    assert (
        f"set the threshold of close to {'0.5' if of_suite else '0.7'}" in answer.json()["message"]
    )
    assert not ThresholdChange.objects.exists()
    seen = 0.5 if of_suite else 0.7
    assert alice_in_person.post("thresholds/", body | {"seen": seen}).status_code == 201


def test_a_token_changes_no_threshold_and_may_propose(alices: Api, run: Run) -> None:
    body = named(threshold=0.65, reason="Too lenient.")
    refused = alices.post("thresholds/", body)
    assert (refused.status_code, refused.json()["code"]) == (403, "person_required")
    assert "Propose the change at /api/v1/thresholds/proposals/." in refused.json()["message"]
    assert not ThresholdChange.objects.exists()


def proposed(threshold: float = 0.65, **more: Any) -> dict[str, Any]:
    subject = named()
    given = [{"scorer": subject["scorer"], "threshold": threshold}]
    return {"suite": subject["suite"], "thresholds": given, "reason": "Too lenient."} | more


def test_an_editor_proposes_thresholds_once(api_of: ApiOf, erin: User, run: Run) -> None:
    erins = api_of(erin, Role.EDITOR)
    answer = erins.post("thresholds/proposals/", proposed())
    assert answer.status_code == 201
    made = answer.json()
    assert made["thresholds"] == {named()["scorer"]: 0.65}
    assert (made["suite"], made["reason"], made["state"]) == (
        named()["suite"], "Too lenient.", "open",
    )  # fmt: skip
    assert (made["by"], made["decided_by"]) == ("erin@example.org", None)
    assert erins.post("thresholds/proposals/", proposed()).json()["id"] == made["id"]
    assert erins.get("thresholds/proposals/").json()["results"] == [made]
    assert entry_of().threshold == 0.5
    entry = AuditEntry.objects.get(action="proposal.created")
    assert entry.new == {
        "suite": "release", "thresholds": {named()["scorer"]: 0.65}, "rationale": "Too lenient.",
    }  # fmt: skip


def test_a_default_is_proposed_without_a_suite(api_of: ApiOf, erin: User, run: Run) -> None:
    body = proposed()
    del body["suite"]
    assert api_of(erin).post("thresholds/proposals/", body).json()["suite"] is None
    assert ThresholdProposal.objects.get().suite is None


def test_a_proposal_that_cannot_be_is_refused(
    api_of: ApiOf, erin: User, bobs: Api, charlies: Api, run: Run, subtests: pytest.Subtests
) -> None:
    erins, other = api_of(erin), entry_of("same").scorer.uuid
    two = [*proposed()["thresholds"], {"scorer": str(other), "threshold": 0.9}]
    without_suite = proposed(thresholds=two)
    del without_suite["suite"]
    cases: list[tuple[Api, dict[str, Any], int]] = [
        (bobs, proposed(), 403),
        (charlies, proposed(), 404),
        (erins, proposed(0.5), 409),
        (erins, proposed(1.5), 422),
        (erins, proposed(reason=" "), 422),
        (erins, proposed(thresholds=[]), 422),
        (erins, proposed(thresholds=[{"scorer": MISSING, "threshold": 0.6}]), 404),
        (
            erins,
            {name: value for name, value in proposed(thresholds=two).items() if name != "suite"},
            422,
        ),
    ]
    for api, body, status in cases:
        with subtests.test(body=str(body), status=status), undone():
            answer = api.post("thresholds/proposals/", body)
            assert answer.status_code == status
            assert status != 409 or answer.json()["code"] == "same_threshold"
            assert not ThresholdProposal.objects.exists()
