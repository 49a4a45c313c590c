"""Waivers and decisions on broken cases through the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.models import CaseDecision, Member, Role, Run, Scorer, Team, User, Waiver
from tests.api.conftest import MISSING, Api, ApiOf, codes
from tests.api.in_person import api_of
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.undone import undone

__all__ = ["api_of"]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abc"])
    return run_with(version, {"close": [1.0] * 3}), run_with(version, {"close": [0, 0, 1.0]})


def waiver(run: Run, **more: Any) -> dict[str, Any]:
    until = timezone.localdate() + timedelta(days=7)
    return {
        "dataset": str(run.output_set.version.dataset.uuid),
        "key": "a",
        "scorer": str(Scorer.objects.get(name="close").uuid),
        "until": until.isoformat(),
        "reason": "Known.",
    } | more


def decision(runs: tuple[Run, Run], *keys: str, **more: Any) -> dict[str, Any]:
    named = {"baseline": str(runs[0].uuid), "candidate": str(runs[1].uuid)}
    return {**named, "state": "accepted", "cases": [{"key": key} for key in keys]} | more


def test_a_waiver_is_made_listed_and_ended(
    ritas: Api, rita: User, alice: User, runs: tuple[Run, Run]
) -> None:
    made = ritas.post("waivers/", waiver(runs[1]))
    assert made.status_code == 201
    check_answer(made, "waivers/", "post")
    body = made.json()
    assert (body["owner"], body["state"], body["scorer_name"]) == (rita.email, "active", "close")
    other = ritas.post("waivers/", waiver(runs[1], key="b", owner="Alice@example.org")).json()
    assert other["owner"] == alice.email
    listed = ritas.get("waivers/")
    check_answer(listed, "waivers/", "get")
    assert [row["key"] for row in listed.json()["results"]] == ["b", "a"]
    assert [row["key"] for row in ritas.get("waivers/", key="a").json()["results"]] == ["a"]
    assert ritas.get("waivers/", dataset=MISSING).json()["results"] == []
    one = ritas.get(f"waivers/{body['id']}/")
    check_answer(one, "waivers/{uid}/", "get")
    assert one.json() == body
    assert ritas.delete(f"waivers/{body['id']}/").status_code == 204
    ended = ritas.get("waivers/", state="ended").json()["results"]
    assert [(row["key"], row["ended_by"]) for row in ended] == [("a", rita.email)]
    assert [row["key"] for row in ritas.get("waivers/", state="active").json()["results"]] == ["b"]


def test_an_unsound_waiver_is_refused(
    ritas: Api, bob: User, charlie: User, runs: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[Any, tuple[str, str]]] = [
        ({"reason": ""}, ("reason", "blank")),
        ({"reason": "  "}, ("reason", "invalid")),
        ({"until": "2020-01-01"}, ("until", "invalid")),
        ({"until": "soon"}, ("until", "invalid")),
        ({"owner": "charlie@example.org"}, ("owner", "unknown_member")),
        ({"owner": "bob@example.org"}, ("owner", "invalid")),
        ({"key": "x"}, ("key", "does_not_exist")),
        ({"scorer": MISSING}, ("scorer", "does_not_exist")),
        ({"dataset": MISSING}, ("dataset", "does_not_exist")),
        ({"days": 3}, ("days", "unknown_field")),
    ]
    for sent, fault in cases:
        with subtests.test(sent=sent, fault=fault), undone():
            answer = ritas.post("waivers/", waiver(runs[1], **sent))
            assert 400 <= answer.status_code < 500
            assert fault in codes(answer) or codes(answer)[0][0] == fault[0], codes(answer)
            assert not Waiver.objects.exists()


def test_a_scorer_of_another_team_is_none(alice: User, runs: tuple[Run, Run]) -> None:
    """Though the person is in both teams."""
    other = Team.objects.create(slug="other", name="Other")
    Member.objects.create(team=other, user=alice, role=Role.ADMIN)
    foreign = Scorer.objects.define(other, "foreign", "exact_match", {}, by=alice)
    api = Api()
    api.client.force_login(alice)
    answer = api.post("waivers/", waiver(runs[1], scorer=str(foreign.uuid)))
    assert (answer.status_code, codes(answer)) == (404, [("scorer", "not_found")])
    assert not Waiver.objects.exists()


def test_viewers_read_only(api_of: ApiOf, bob: User, alices: Api, runs: tuple[Run, Run]) -> None:
    made = alices.post("waivers/", waiver(runs[1])).json()
    bobs = api_of(bob)
    assert bobs.get(f"waivers/{made['id']}/").status_code == 200
    assert bobs.delete(f"waivers/{made['id']}/").status_code == 403
    assert bobs.post("waivers/", waiver(runs[1])).status_code == 403
    assert bobs.post("compare/decisions/", decision(runs, "a")).status_code == 403


def test_cases_are_decided_and_their_states_listed(
    ritas: Api, rita: User, runs: tuple[Run, Run]
) -> None:
    answer = ritas.post("compare/decisions/", decision(runs, "a", reason="Right."))
    check_answer(answer, "compare/decisions/", "post")
    assert answer.json() == {"open": 1, "accepted": 1, "rejected": 0, "waived": 0}
    kept = CaseDecision.objects.get()
    assert (kept.decided_by, kept.reason, kept.state) == (rita, "Right.", "accepted")
    ritas.post("waivers/", waiver(runs[1], key="b"))
    named = {"baseline": str(runs[0].uuid), "candidate": str(runs[1].uuid)}
    listed = ritas.get("compare/cases/", **named)
    check_answer(listed, "compare/cases/", "get")
    assert [(c["key"], c["state"]) for c in listed.json()["results"]] == [
        ("a", "accepted"),
        ("b", "waived"),
    ]
    for state, keys in {"waived": ["b"], "open": [], "accepted": ["a"]}.items():
        found = ritas.get("compare/cases/", **named, state=state).json()["results"]
        assert [case["key"] for case in found] == keys
    refused = ritas.get("compare/cases/", **named, kind="fixed", state="open")
    assert codes(refused)[0][0] == "state"
    opened = ritas.post("compare/decisions/", decision(runs, "a", state="open")).json()
    assert opened == {"open": 1, "accepted": 0, "rejected": 0, "waived": 1}
    opened = ritas.post("compare/decisions/", decision(runs, "b", state="open")).json()
    assert opened == {"open": 2, "accepted": 0, "rejected": 0, "waived": 0}
    assert [row["key"] for row in ritas.get("waivers/", state="ended").json()["results"]] == ["b"]


def test_a_case_that_did_not_break_is_refused(ritas: Api, runs: tuple[Run, Run]) -> None:
    answer = ritas.post("compare/decisions/", decision(runs, "a", "c"))
    assert codes(answer) == [("cases[1]", "not_broken")]
    same = ritas.post("compare/decisions/", decision((runs[1], runs[1]), "a"))
    assert codes(same) == [("candidate", "same_run")]
    gone = ritas.post("compare/decisions/", decision(runs, "a", baseline=MISSING))
    assert codes(gone)[0][0] == "baseline"
    assert not CaseDecision.objects.exists()


def test_a_state_that_a_colleague_changed_is_not_replaced(
    ritas: Api, alices: Api, alice: User, runs: tuple[Run, Run]
) -> None:
    alices.post("compare/decisions/", decision(runs, "a", state="rejected", reason="Wrong."))
    seen = [{"key": "a", "seen": "open"}, {"key": "b"}]
    answer = ritas.post("compare/decisions/", decision(runs, cases=seen))
    check_answer(answer, "compare/decisions/", "post")
    assert (answer.status_code, answer.json()["code"]) == (409, "decided_meanwhile")
    assert f"{alice} rejected a (Wrong)" in answer.json()["message"]
    assert CaseDecision.objects.get().state == "rejected"
    seen[0]["seen"] = "rejected"
    answer = ritas.post("compare/decisions/", decision(runs, cases=seen))
    assert answer.json() == {"open": 0, "accepted": 2, "rejected": 0, "waived": 0}


def test_a_person_of_no_team_here_is_as_unknown_as_nobody(
    ritas: Api, charlie: User, runs: tuple[Run, Run]
) -> None:
    """Lest the answer tells who has an account."""
    told = [
        ritas.post("waivers/", waiver(runs[1], owner=address)).json()
        for address in (charlie.email, "nobody@example.org")
    ]
    assert told[0] == told[1]
    assert told[0]["code"] == "unknown_member"
    assert not Waiver.objects.exists()
