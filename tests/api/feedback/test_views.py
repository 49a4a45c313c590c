"""Reviews and comments through the API."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.models import (
    AuditEntry,
    Comment,
    Output,
    Review,
    ReviewVerdict,
    Role,
    Run,
    Team,
    User,
)
from tests.api.conftest import MISSING, Api, ApiOf, codes
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run
from tests.support.undone import undone

PATHS = ["reviews/", "comments/"]


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"key": "q1", "input": "a"}, {"key": "q2", "input": "b"}]
    return queued_run(make_outputs(make_dataset(cases), ["a", "b"]))


def review(run: Run, **more: Any) -> dict[str, Any]:
    return {"run": str(run.uuid), "key": "q1", "verdict": "fail"} | more


def comment(run: Run, **more: Any) -> dict[str, Any]:
    return {"run": str(run.uuid), "key": "q1", "text": "Why?"} | more


def output_of(run: Run, key: str = "q1") -> Output:
    return Output.objects.get(output_set=run.output_set, case__key=key)


def test_a_review_is_given_and_changed(ritas: Api, rita: User, run: Run) -> None:
    given = ritas.post("reviews/", review(run, note="rude"))
    assert given.status_code == 200
    check_answer(given, "reviews/", "post")
    changed = ritas.post("reviews/", review(run, verdict="bad_case")).json()
    kept = Review.objects.get()
    assert changed == given.json() | {
        "verdict": "bad_case",
        "note": "",
        "changed_at": changed["changed_at"],
    }
    assert changed["id"] == str(kept.uuid)
    assert (kept.output, kept.reviewer) == (output_of(run), rita)
    assert AuditEntry.objects.by(rita).filter(action="review.said").count() == 2
    listed = ritas.get("reviews/", run=str(run.uuid))
    check_answer(listed, "reviews/", "get")
    assert listed.json()["results"] == [changed]


def test_a_third_person_adjudicates_and_two_at_once_do_not_overwrite_each_other(
    ritas: Api, api_of: ApiOf, rita: User, alice: User, bob: User, run: Run
) -> None:
    sent = review(run, note="it is polite")
    refused = ritas.post("adjudications/", sent)
    assert (refused.status_code, refused.json()["code"]) == (409, "not_adjudicable")
    for name, verdict in (("tom", ReviewVerdict.PASS), ("uma", ReviewVerdict.FAIL)):
        Review.objects.create(output=output_of(run), reviewer_name=name, verdict=verdict)
    decided = ritas.post("adjudications/", sent)
    assert decided.status_code == 200
    check_answer(decided, "adjudications/", "post")
    assert decided.json()["decided_by"] == rita.email
    seen = decided.json()["revision"]
    late = api_of(alice).post("adjudications/", review(run, verdict="pass"))
    assert (late.status_code, late.json()["code"]) == (409, "adjudicated_meanwhile")
    assert late.json()["id"] == decided.json()["id"]
    assert api_of(bob).post("adjudications/", sent).status_code == 403
    listed = api_of(bob).get("adjudications/", run=str(run.uuid))
    check_answer(listed, "adjudications/", "get")
    assert listed.json()["results"] == [decided.json()]
    changed = api_of(alice).post("adjudications/", review(run, verdict="pass", seen=seen)).json()
    assert changed["verdict"] == "pass"
    assert changed["revision"] > seen


def test_a_comment_is_written_and_listed(ritas: Api, rita: User, run: Run) -> None:
    text = " Why \N{ZERO WIDTH SPACE}<b>not</b>?\n"
    written = ritas.post("comments/", comment(run, text=text))
    assert written.status_code == 201
    check_answer(written, "comments/", "post")
    assert written.json()["text"] == text
    assert (written.json()["author"], written.json()["edited_at"]) == (rita.email, None)
    later = ritas.post("comments/", comment(run, key="q2")).json()
    listed = ritas.get("comments/", run=str(run.uuid))
    check_answer(listed, "comments/", "get")
    assert listed.json()["results"] == [later, written.json()]
    assert ritas.get("comments/", run=str(run.uuid), key="q2").json()["results"] == [later]
    rita.delete()
    Comment.objects.filter(output=output_of(run)).delete()
    assert [each.author for each in Comment.objects.all()] == [None]


def test_a_deleted_comment_and_a_gone_author(
    ritas: Api, api_of: ApiOf, team: Team, alice: User, rita: User, run: Run
) -> None:
    first, second = (Comment.objects.add(run, output_of(run), text, by=rita) for text in "ab")
    first.remove(run, by=rita)
    rita.delete()
    listed = api_of(alice).get("comments/", run=str(run.uuid))
    check_answer(listed, "comments/", "get")
    (shown,) = listed.json()["results"]
    assert (shown["id"], shown["author"]) == (str(second.uuid), None)


def test_a_reviewer_is_blind_to_others_whatever_the_token(
    api_of: ApiOf, ritas: Api, rita: User, team: Team, alice: User, bob: User, run: Run
) -> None:
    for key in ("q1", "q2"):
        Review.objects.record(run, output_of(run, key), ReviewVerdict.FAIL, by=alice, note="secret")
    narrow = api_of(rita, role=Role.VIEWER)
    for api in (ritas, narrow):
        answer = api.get("reviews/", run=str(run.uuid))
        assert answer.json()["results"] == []
        assert "secret" not in answer.text
    assert len(api_of(bob).get("reviews/", run=str(run.uuid)).json()["results"]) == 2
    ritas.post("reviews/", review(run))
    seen = narrow.get("reviews/", run=str(run.uuid)).json()["results"]
    assert [(each["key"], each["reviewer"]) for each in seen] == [
        ("q1", rita.email),
        ("q1", alice.email),
    ]


def test_pages_follow_one_another(ritas: Api, run: Run) -> None:
    for number in range(5):
        ritas.post("comments/", comment(run, text=f"{number}"))
    texts, address = [], f"comments/?run={run.uuid}&page_size=2"
    while address:
        page = ritas.get(address if "//" not in address else address.partition("testserver")[2])
        texts += [each["text"] for each in page.json()["results"]]
        address = page.json()["next"]
    assert texts == ["4", "3", "2", "1", "0"]


def test_a_trial_is_named(ritas: Api, run: Run) -> None:
    first = output_of(run)
    second = Output.objects.create(output_set=run.output_set, case=first.case, trial=3, text="c")
    assert ritas.post("reviews/", review(run, trial=3)).json()["trial"] == 3
    assert Review.objects.get().output == second


def test_what_cannot_be_used_is_refused(ritas: Api, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, Any], int, tuple[str, str]]] = [
        ("reviews/", {"verdict": "perfect"}, 422, ("verdict", "invalid_choice")),
        ("reviews/", {"verdict": 0}, 422, ("verdict", "invalid_choice")),
        ("reviews/", {"note": "x" * 10_001}, 422, ("note", "max_length")),
        ("reviews/", {"note": 5}, 400, ("note", "invalid")),
        ("reviews/", {"key": "q9"}, 404, ("key", "not_found")),
        ("reviews/", {"trial": 1}, 404, ("key", "not_found")),
        ("reviews/", {"run": MISSING}, 404, ("run", "not_found")),
        ("reviews/", {"mood": "bad"}, 400, ("mood", "unknown_field")),
        ("comments/", {"text": ""}, 422, ("text", "blank")),
        ("comments/", {"text": " \n"}, 422, ("text", "blank")),
        ("comments/", {"text": "x" * 10_001}, 422, ("text", "max_length")),
        ("comments/", {"text": "a\0b"}, 400, ("text", "nul_character")),
        ("comments/", {"key": "q9"}, 404, ("key", "not_found")),
    ]
    for path, body, status, where in cases:
        with subtests.test(path=path, body=body, status=status, where=where), undone():
            whole = review(run) if path == "reviews/" else comment(run)
            answer = ritas.post(path, whole | body)
            assert answer.status_code == status
            assert codes(answer) == [where] or where[1] == "nul_character"
            assert not Review.objects.exists()
            assert not Comment.objects.exists()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("query", "status", "where"),
    [
        ({}, 400, ("run", "required")),
        ({"run": "first"}, 400, ("run", "invalid")),
        ({"run": MISSING}, 404, ("run", "not_found")),
        ({"run": "", "colour": "red"}, 400, None),
    ],
)
def test_a_list_is_of_a_run(
    ritas: Api, path: str, query: dict[str, str], status: int, where: tuple[str, str] | None
) -> None:
    answer = ritas.get(path, **query)
    assert answer.status_code == status
    assert where is None or codes(answer) == [where]


@pytest.mark.parametrize("path", PATHS)
def test_who_may_say_something(
    api_of: ApiOf, team: Team, bob: User, charlie: User, alice: User, run: Run, path: str
) -> None:
    body = review(run) if path == "reviews/" else comment(run)
    assert api_of(bob).post(path, body).status_code == 403
    narrow = api_of(alice, role=Role.VIEWER)
    assert narrow.post(path, body).status_code == 403
    assert narrow.get(path, run=str(run.uuid)).status_code == 200
    theirs = api_of(charlie)
    assert theirs.post(path, body).status_code == 404
    assert theirs.get(path, run=str(run.uuid)).status_code == 404
    assert not Review.objects.exists()
    assert not Comment.objects.exists()


@pytest.mark.parametrize("path", PATHS)
def test_the_same_request_again_counts_once(ritas: Api, run: Run, path: str) -> None:
    body = review(run) if path == "reviews/" else comment(run)
    one, two = (ritas.post(path, body, Idempotency_Key="k") for _ in range(2))
    assert one.json() == two.json()
    assert Review.objects.count() + Comment.objects.count() == 1
