"""A person's tasks through the API: listed, read and done, of cases and of pairs."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.questions import Questions
from scoring.engine.review.pairwise import task_pair
from scoring.engine.review.queues import QueuePlan, create_queue
from scoring.models import (
    FailureTag,
    Preference,
    PreferenceVerdict,
    QuestionSet,
    QueueOrder,
    Review,
    ReviewQueue,
    ReviewVerdict,
    Run,
    User,
)
from tests.api.conftest import Api, codes
from tests.api.openapi.test_schema import check_answer
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run
from tests.support.undone import undone

LIST = "reviews/queues/{uid}/tasks/"
ONE = f"{LIST}{{number}}/"


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases: list[dict[str, Any]] = [
        {"key": f"q{n}", "input": f"q{n}", "expected": "yes"} for n in range(3)
    ]
    return finished_run(make_outputs(make_dataset(cases), ["yes", "no", "perhaps"]))


@pytest.fixture
def cases(run: Run, rita: User, alice: User) -> ReviewQueue:
    """Each of the two has all three."""
    plan = QueuePlan("cases", [rita, alice], 3, QueueOrder.RANDOM, reviewers_per_case=2, seed=1)
    return create_queue(run, plan, alice)


@pytest.fixture
def pairs(run: Run, rita: User, make_outputs: MakeOutputs) -> ReviewQueue:
    old = finished_run(make_outputs(run.output_set.version, ["Yes", "No", "maybe"], "old"))
    plan = QueuePlan("pairs", [rita], 3, QueueOrder.RANDOM, baseline=old, seed=1)
    return create_queue(run, plan, rita)


def path_of(queue: ReviewQueue, number: int | None = None) -> str:
    path = f"reviews/queues/{queue.uuid}/tasks/"
    return path if number is None else f"{path}{number}/"


def test_the_own_tasks_are_listed_in_their_order(ritas: Api, cases: ReviewQueue) -> None:
    listed = ritas.get(path_of(cases))
    check_answer(listed, LIST, "get")
    rows = listed.json()["results"]
    assert [row["number"] for row in rows] == [1, 2, 3]
    assert {row["key"] for row in rows} == {"q0", "q1", "q2"}
    assert not any(row["is_done"] for row in rows)
    page = ritas.get(path_of(cases), page_size="2").json()
    assert [row["number"] for row in page["results"]] == [1, 2]
    assert page["next"]


def test_cases_of_a_pool_are_taken_one_at_a_time(
    ritas: Api, alices: Api, run: Run, rita: User, alice: User
) -> None:
    plan = QueuePlan("pool", [rita, alice], 2, QueueOrder.RANDOM, seed=1, is_pooled=True)
    pool = create_queue(run, plan, alice)
    following = f"{path_of(pool)}next/"
    assert ritas.get(path_of(pool)).json()["results"] == []
    taken = ritas.post(following)
    check_answer(taken, f"{LIST}next/", "post")
    assert ritas.post(following).json() == taken.json()
    assert taken.json()["number"] == 1
    assert alices.post(following).json()["number"] == 2
    assert ritas.post(path_of(pool, 1), {"verdict": "pass"}).status_code == 200
    none_left = ritas.post(following)
    assert (none_left.status_code, none_left.json()["code"]) == (404, "nothing_to_review")
    body = ritas.get(f"reviews/queues/{pool.uuid}/").json()
    assert body["is_pooled"] is True
    assert body["counts"] == {
        "waiting": 0,
        "reserved": 1,
        "reviewed": [1],
        "is_complete": False,
    }
    progress = {each["reviewer"]: (each["total"], each["done"]) for each in body["progress"]}
    assert progress == {"alice@example.org": (1, 0), "rita@example.org": (1, 1)}


def test_a_case_is_read_and_reviewed(ritas: Api, cases: ReviewQueue, rita: User) -> None:
    task = cases.tasks.select_related("output__case").get(position=2, reviewer=rita)
    read = ritas.get(path_of(cases, 2))
    check_answer(read, ONE, "get")
    assert read.json() == {
        "number": 2,
        "key": task.output.case.key,
        "trial": 0,
        "is_done": False,
        "input": task.output.case.key,
        "expected": "yes",
        "output": task.output.text,
        "verdict": None,
        "note": "",
        "failure_tags": [],
        "questions": [],
        "answers": {},
    }
    said = ritas.post(path_of(cases, 2), {"verdict": "bad_case", "note": "ambiguous"})
    check_answer(said, ONE, "post")
    body = said.json()
    assert (body["verdict"], body["note"], body["is_done"]) == ("bad_case", "ambiguous", True)
    review = Review.objects.get()
    assert (review.output, review.reviewer) == (task.output, rita)
    assert review.verdict == ReviewVerdict.BAD_CASE


def test_questions_are_answered_with_the_verdict(
    ritas: Api, run: Run, rita: User, alice: User
) -> None:
    asked = [
        {"text": "Polite?", "kind": "choice", "choices": ["yes", "no"], "is_required": True},
        {"text": "Points", "kind": "number", "minimum": 0.0, "maximum": 10.0},
    ]
    QuestionSet.objects.publish(run.team, "Tone", Questions.parse(asked), by=alice)
    path = "reviews/queues/"
    refused = ritas.post(path, {"run": str(run.uuid), "question_set": "Facts"})
    assert codes(refused) == [("question_set", "unknown_questions")]
    made = ritas.post(path, {"run": str(run.uuid), "question_set": "Tone"})
    assert made.json()["question_set"] == "Tone v1"
    queue = ReviewQueue.objects.get()
    read = ritas.get(path_of(queue, 1))
    check_answer(read, ONE, "get")
    assert read.json()["questions"] == asked
    for answers, question in (
        ({}, "Polite?"),
        ({"Polite?": "yes", "Points": 11}, "Points"),
        ({"Polite?": "yes", "Who?": "me"}, "Who?"),
    ):
        refused = ritas.post(path_of(queue, 1), {"verdict": "pass", "answers": answers})
        assert refused.status_code == 422
        assert codes(refused) == [(f"answers.{question}", "invalid_answer")]
    sent = {"verdict": "fail", "answers": {"Polite?": "no"}, "failure_tags": ["tone"]}
    said = ritas.post(path_of(queue, 1), sent).json()
    assert (said["answers"], said["failure_tags"], said["is_done"]) == (
        {"Polite?": "no"},
        ["tone"],
        True,
    )
    assert FailureTag.objects.get().name == "tone"
    again = ritas.post(path_of(queue, 1), {"verdict": "pass", "answers": {"Polite?": "yes"}})
    assert again.json()["failure_tags"] == ["tone"]
    listed = ritas.get("reviews/", run=str(run.uuid)).json()["results"]
    assert listed[0]["answers"] == {"Tone v1": {"Polite?": "yes"}}


def test_a_pair_is_read_without_names_and_compared(ritas: Api, pairs: ReviewQueue) -> None:
    task = pairs.tasks.get(position=1)
    pair = task_pair(pairs, task)
    assert pair is not None
    read = ritas.get(path_of(pairs, 1))
    check_answer(read, ONE, "get")
    body = read.json()
    assert (body["left"], body["right"]) == (pair.left.text, pair.right.text)
    assert (body["choice"], body["is_done"]) == (None, False)
    assert not {"output", "verdict", "candidate", "baseline"} & set(body)
    said = ritas.post(path_of(pairs, 1), {"choice": "right", "note": "clearer"})
    check_answer(said, ONE, "post")
    assert (said.json()["choice"], said.json()["is_done"]) == ("right", True)
    given = Preference.objects.get()
    wins = PreferenceVerdict.BETTER if pair.is_swapped else PreferenceVerdict.WORSE
    assert (given.verdict, given.is_swapped, given.note) == (wins, pair.is_swapped, "clearer")
    assert ritas.post(path_of(pairs, 1), {"choice": "same"}).json()["choice"] == "same"
    assert Preference.objects.get().verdict == PreferenceVerdict.SAME


def test_a_queue_gets_what_it_asks_for(
    ritas: Api, cases: ReviewQueue, pairs: ReviewQueue, subtests: pytest.Subtests
) -> None:
    given: list[tuple[str, dict[str, Any], tuple[str, str]]] = [
        ("cases", {"choice": "left"}, ("verdict", "required")),
        ("cases", {}, ("verdict", "required")),
        ("cases", {"verdict": "pass", "choice": "left"}, ("choice", "not_asked")),
        ("pairs", {"verdict": "pass"}, ("choice", "required")),
        ("pairs", {"verdict": "pass", "choice": "left"}, ("verdict", "not_asked")),
        ("pairs", {"choice": "best"}, ("choice", "invalid_choice")),
    ]
    for kind, sent, fault in given:
        with subtests.test(kind=kind, sent=sent, fault=fault), undone():
            queue = {"cases": cases, "pairs": pairs}[kind]
            assert codes(ritas.post(path_of(queue, 1), sent)) == [fault]
            assert not Review.objects.exists()
            assert not Preference.objects.exists()


def test_tasks_of_others_are_not_found(
    alices: Api, bobs: Api, charlies: Api, pairs: ReviewQueue
) -> None:
    assert alices.get(path_of(pairs)).json()["results"] == []
    for api, status in ((alices, 404), (bobs, 403), (charlies, 404)):
        assert api.get(path_of(pairs, 1)).status_code == status
        assert api.post(path_of(pairs, 1), {"choice": "left"}).status_code == status
    assert charlies.get(path_of(pairs)).status_code == 404
    assert bobs.get(path_of(pairs)).status_code == 403


def test_a_pair_whose_other_output_is_gone_is_not_found(ritas: Api, pairs: ReviewQueue) -> None:
    assert pairs.baseline is not None
    pairs.baseline.output_set.outputs.all().delete()
    assert ritas.get(path_of(pairs, 1)).status_code == 404
    assert ritas.post(path_of(pairs, 1), {"choice": "left"}).status_code == 404
