"""Review queues through the API."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.models import AuditEntry, ReviewQueue, Run, Team, User
from tests.api.conftest import Api, ApiOf, codes
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

PATH = "reviews/queues/"
ONE = f"{PATH}{{uid}}/"


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"input": f"q{n}", "expected": "yes"} for n in range(4)]
    return finished_run(make_outputs(make_dataset(cases), ["yes", "no", "yes", "no"]))


def create(api: Api, run: Run, **more: Any) -> Any:
    return api.post(PATH, {"run": str(run.uuid)} | more)


def test_a_queue_is_created_listed_and_closed(alices: Api, run: Run, rita: User) -> None:
    people = ["rita@example.org", "ALICE@example.org"]
    made = create(alices, run, name="w46", cases=3, reviewers=people, due_on="2099-01-01")
    assert made.status_code == 201, made.content
    check_answer(made, PATH, "post")
    body = made.json()
    assert (body["name"], body["cases"], body["is_open"]) == ("w46", 3, True)
    assert [(each["reviewer"], each["total"], each["done"]) for each in body["progress"]] == [
        ("alice@example.org", 1, 0),
        ("rita@example.org", 2, 0),
    ]
    listed = alices.get(PATH)
    check_answer(listed, PATH, "get")
    assert [each["id"] for each in listed.json()["results"]] == [body["id"]]
    one = alices.get(f"{PATH}{body['id']}/")
    check_answer(one, ONE, "get")
    assert one.json() == body
    closed = alices.post(f"{PATH}{body['id']}/close/", {})
    check_answer(closed, f"{ONE}close/", "post")
    assert closed.json()["is_open"] is False
    assert AuditEntry.objects.filter(action="review_queue.closed").count() == 1


def test_disagreements_of_a_queue_are_counted_for_whoever_may_see_them(
    alices: Api, ritas: Api, run: Run, rita: User
) -> None:
    people = ["rita@example.org", "alice@example.org"]
    body = create(alices, run, reviewers=people, reviewers_per_case=2, is_pooled=True).json()
    queue = ReviewQueue.objects.get()
    for api, verdict in ((ritas, "pass"), (alices, "fail")):
        number = api.post(f"{PATH}{body['id']}/tasks/next/").json()["number"]
        api.post(f"{PATH}{body['id']}/tasks/{number}/", {"verdict": verdict})
    counted = ritas.get(f"{PATH}{body['id']}/").json()
    assert counted["in_adjudication"] == 1
    assert counted["counts"]["reviewed"] == [0, 1]
    assert queue.is_pooled


def test_filters_are_those_of_results(alices: Api, run: Run) -> None:
    body = create(alices, run, filters={"verdict": "fail", "search": "q"}).json()
    assert (body["cases"], body["filters"]) == (2, "verdict=fail&q=q")
    refused = create(alices, run, filters={"verdict": "great"})
    assert refused.status_code in {400, 422}
    assert create(alices, run, filters={"tag": "none"}).json()["code"] == "no_queue"
    assert ReviewQueue.objects.count() == 1


def test_reviewers_ask_themselves_alone(api_of: ApiOf, run: Run, alice: User, rita: User) -> None:
    ritas = api_of(rita)
    assert create(ritas, run).json()["progress"][0]["reviewer"] == "rita@example.org"
    refused = create(ritas, run, reviewers=["alice@example.org"])
    assert refused.status_code == 403
    queue = ReviewQueue.objects.get()
    assert ritas.post(f"{PATH}{queue.uuid}/close/", {}).status_code == 403


def test_who_may_not_review_is_not_asked(alices: Api, run: Run, bob: User) -> None:
    refused = create(alices, run, reviewers=["alice@example.org", "bob@example.org"])
    assert codes(refused) == [("reviewers[1]", "unknown_member")]
    assert not ReviewQueue.objects.exists()


def test_viewers_read_and_strangers_find_nothing(
    alices: Api, bobs: Api, charlies: Api, run: Run
) -> None:
    uid = create(alices, run).json()["id"]
    assert bobs.get(f"{PATH}{uid}/").status_code == 200
    assert create(bobs, run).status_code == 403
    assert charlies.get(f"{PATH}{uid}/").status_code == 404
    assert create(charlies, run).status_code == 404
    assert charlies.get(PATH).json()["results"] == []


@pytest.fixture
def baseline(run: Run, make_outputs: MakeOutputs) -> Run:
    outputs = make_outputs(run.output_set.version, ["Yes", "no", "Yes", "No"], "old")
    return finished_run(outputs, name="old")


def test_a_pairwise_queue_is_created_and_listed(alices: Api, run: Run, baseline: Run) -> None:
    made = create(alices, run, baseline=str(baseline.uuid), cases=10)
    assert made.status_code == 201, made.content
    check_answer(made, PATH, "post")
    body = made.json()
    assert (body["baseline"], body["order"], body["cases"]) == (str(baseline.uuid), "random", 3)
    assert body["name"] == f"{run.name} vs. old"
    listed = alices.get(PATH)
    check_answer(listed, PATH, "get")
    assert listed.json()["results"][0]["baseline"] == str(baseline.uuid)
    assert create(alices, run).json()["baseline"] is None


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"order": "value"}, ("order", "not_pairwise")),
        ({"filters": {"verdict": "fail"}}, ("filters", "not_pairwise")),
    ],
)
def test_pairs_are_drawn_at_random_from_the_whole_run(
    alices: Api, run: Run, baseline: Run, more: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert codes(create(alices, run, baseline=str(baseline.uuid), **more)) == [fault]
    assert not ReviewQueue.objects.exists()


def test_a_run_makes_pairs_with_another_one_of_its_dataset(
    alices: Api, run: Run, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{"input": "q0"}], "Others")
    stranger = finished_run(make_outputs(version, ["yes"]))
    for other in (run, stranger):
        assert codes(create(alices, run, baseline=str(other.uuid))) == [("baseline", "no_pairs")]


def test_the_baseline_of_another_team_is_not_found(alices: Api, run: Run, baseline: Run) -> None:
    other = Team.objects.create(name="Other", slug="other")
    Run.objects.filter(pk=baseline.pk).update(team=other)
    assert create(alices, run, baseline=str(baseline.uuid)).status_code == 404
