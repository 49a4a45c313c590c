"""Until their own verdict nobody is told what scorers and others say of an output to review."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.review.carry_over import carry_over
from scoring.engine.review.feedback import give_review
from scoring.engine.review.queues import close_queue
from scoring.engine.review.review_import import import_reviews
from scoring.engine.runs import planning
from scoring.engine.runs.execution import execute_shard
from scoring.engine.runs.summaries import summarize_run
from scoring.models import (
    Adjudication,
    Comment,
    Output,
    ReviewQueue,
    ReviewTask,
    ReviewVerdict,
    Run,
    RunState,
    Score,
    TaskReason,
    Team,
    User,
    Verdict,
    Waiver,
)
from scoring.models.reviews.waiver import Terms, WaivedScorer
from tests.conftest import MakeDataset, MakeOutputs
from tests.contracts.addresses import listed, url_of
from tests.contracts.doors import API, PAGES

REASON, CODE, NOTE, JUDGED = "secret-reason", "secret_code", "secret-note", "0.1234567"
SECRETS = (REASON, CODE, NOTE, JUDGED, "0.1235", "Jo Doe")
#: Addresses whose rows of cases are made of many outputs, and their queries.
LISTS = ({}, {"sort": "same"}, {"sort": "same", "order": "desc"}, {"verdict": "fail"})
CODED = {"scorer": "same", "code": CODE}
RANGE = {"scorer": "same", "min": "0.1", "max": "0.2"}
#: How the paths end whose answers tell the secrets after the own verdict.
TELLING = {"1", "export", "results", "report", "release-report"}
TELLING |= {"preview", "reviews", "comments"}


def scored_run(outputs: Any, house: dict[str, Any], name: str) -> Run:
    run = planning.create_run(outputs, suite=house["suite"], name=name)
    for shard in planning.plan_attempt(run).shards.all():
        execute_shard(shard.pk)
    summarize_run(run)
    planning.change_state(run, (RunState.RUNNING,), RunState.FINISHED)
    run.refresh_from_db()
    return run


@pytest.fixture
def secret(
    house: dict[str, Any],
    alice: User,
    team: Team,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
) -> Output:
    """The output that Alice is to review, of the first case; it broke since the baseline."""
    version = make_dataset([{"expected": "a", "input": f"q{n}"} for n in range(6)], "Blind")
    baseline = scored_run(make_outputs(version, ["a"] * 6), house, "w45")
    run = scored_run(make_outputs(version, ["b", *"aaaab"]), house, "w46")
    output = Output.objects.get(output_set=run.output_set, case__position=1)
    Score.objects.filter(output=output).update(
        score=float(JUDGED), verdict=Verdict.FAIL, reason=REASON, code=CODE
    )
    summarize_run(run)
    row = {"key": "case-1", "reviewer": "Jo Doe", "verdict": "fail", "note": NOTE}
    import_reviews(run, [row, row | {"reviewer": "Sue", "verdict": "pass"}], by=None)
    Comment.objects.add(run, output, NOTE, by=User.objects.create_user("jo@example.org"))
    compare_runs(baseline, run)
    queue = ReviewQueue.objects.create(team=team, run=run, name="blind", case_count=1)
    ReviewTask.objects.create(
        queue=queue, output=output, reviewer=alice, position=1, reason=TaskReason.SAMPLED
    )
    house |= {"run": run, "review": queue, "dataset": version.dataset, "outputs": run.output_set}
    house["baseline"] = baseline
    return output


def asked(house: dict[str, Any], team: Team) -> Iterator[str]:
    """Every address that is got, as it is and with what makes it list cases."""
    run, baseline = house["run"], house["baseline"]
    pair = {"baseline": str(baseline.uuid), "candidate": str(run.uuid)}
    for kind, name, wanted in listed():
        if (PAGES if kind == "page" else API)[name][0] is not None and name != "asset":
            yield url_of(kind, name, wanted, house, team)
    for query in (*LISTS, RANGE, {"change": "broke"}, {"reviewed": "yes"}, CODED):
        yield f"{reverse('run', args=[run.uuid])}?{urlencode(query)}"
        for file_format in ("csv", "jsonl", "json"):
            page = reverse("export_run", args=[run.uuid])
            yield f"{page}?{urlencode(query | {'format': file_format})}"
    for query in ({}, {"ordering": "score", "scorer": "same"}, RANGE, {"change": "broke"}):
        for name in ("api:run_results", "api:run_export"):
            yield f"{reverse(name, args=[run.uuid])}?{urlencode(query)}"
    for kind in ("", "broke", "pairs", "fixed", "unchanged"):
        query = pair | ({"kind": kind} if kind else {})
        yield f"{reverse('compare', args=[team.slug])}?{urlencode(query)}"
        yield f"{reverse('compare', args=[team.slug])}?{urlencode(query | {'scorer': 'same'})}"
        yield f"{reverse('api:compare_cases')}?{urlencode(query)}"
    yield f"{reverse('compare_report', args=[team.slug])}?{urlencode(pair)}"
    for name in ("run_release_report", "api:run_release_report"):
        yield f"{reverse(name, args=[run.uuid])}?format=json"
    gates = urlencode({"gate": ["regressions<=0", "no_regression"]}, doseq=True)
    yield from (
        f"{reverse(name, args=[run.uuid])}?{gates}" for name in ("run_gate", "api:run_gate")
    )
    case = reverse("run_case", args=[run.uuid, 1])
    yield from (f"{case}?{query}" for query in ("history=all", f"against={baseline.uuid}"))
    back = reverse("run_case", args=[baseline.uuid, 1])
    yield from (f"{back}?{query}" for query in ("history=all", f"against={run.uuid}"))
    threshold = reverse("suite_threshold", args=[house["suite"].uuid, house["scorer"].uuid])
    yield f"{threshold}?threshold=0.1&run={run.uuid}"
    chosen = {"suite": str(house["suite"].uuid), "scorer": str(house["scorer"].uuid)}
    yield f"{reverse('api:threshold_preview')}?{urlencode(chosen | {'threshold': '0.1'})}"
    for name in ("api:reviews", "api:comments"):
        yield f"{reverse(name)}?run={run.uuid}"


def last_part(url: str) -> str:
    """The last part of its path."""
    return url.partition("?")[0].rstrip("/").rpartition("/")[2]


def text_of(answer: Any) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(content.decode(errors="replace"))


def leaks(client: Client, urls: Iterable[str]) -> dict[str, list[str]]:
    """By address the secrets that its answer holds, also behind a redirect."""
    found = {}
    for url in urls:
        answer = client.get(url, follow=True)
        assert answer.status_code < 500 or url == reverse("healthz"), url
        text = text_of(answer)
        if told := [secret for secret in SECRETS if secret in text and secret not in url]:
            found[url] = told
    return found


@pytest.mark.long("every address is asked")
def test_no_address_tells_what_is_yet_to_be_reviewed(
    secret: Output, house: dict[str, Any], team: Team, alice: User
) -> None:
    client = Client()
    client.force_login(alice)
    urls = list(asked(house, team))
    assert leaks(client, urls) == {}
    give_review(house["run"], secret, ReviewVerdict.FAIL, by=alice)
    told = leaks(client, [url for url in urls if last_part(url) in TELLING])
    assert {url for url in told if "release" in url and "json" in url} == {
        f"{reverse(name, args=[house['run'].uuid])}?format=json"
        for name in ("run_release_report", "api:run_release_report")
    }
    assert {last_part(url) for url in told} == TELLING
    assert {secret for secrets in told.values() for secret in secrets} == set(SECRETS)


def test_a_list_by_verdict_or_score_leaves_the_output_out(
    secret: Output, house: dict[str, Any], alice: User
) -> None:
    client = Client()
    client.force_login(alice)
    page = reverse("run", args=[house["run"].uuid])

    def keys(query: str) -> list[str]:
        return [row.key for row in client.get(f"{page}{query}").context["cases"].page.rows]

    assert keys("") == [f"case-{n}" for n in range(1, 7)]
    text = client.get(page).text
    assert "hidden until reviewed" in text
    assert "left out" not in text
    for query in ("?verdict=fail", "?change=broke"):
        assert keys(query) == ["case-6"]
        assert "1 case that you are yet to review" in client.get(f"{page}{query}").text
    assert keys("?sort=same") == ["case-6", *(f"case-{n}" for n in range(2, 6))]
    assert client.get(f"{page}?sort=same").context["cases"].table.count == 5
    pair = {"baseline": str(house["baseline"].uuid), "candidate": str(house["run"].uuid)}
    compared = client.get(reverse("compare", args=[alice.memberships.get().team.slug]), pair)
    cases = compared.context["pair"].cases
    assert [each.row.pair.key for each in cases.rows] == ["case-6"]
    assert {tab.cases for tab in cases.tabs()} == {None}
    answer = client.get(reverse("api:compare_cases"), pair)
    assert [row["key"] for row in answer.json()["results"]] == ["case-6"]
    assert answer.headers["X-Left-Out"] == "1"
    exported = client.get(reverse("export_run", args=[house["run"].uuid]))
    assert exported.headers["X-Left-Out"] == "1"
    assert b"case-1" not in b"".join(exported.streaming_content)


def test_the_case_leads_to_its_task_with_and_without_htmx(
    secret: Output, house: dict[str, Any], alice: User
) -> None:
    client = Client()
    client.force_login(alice)
    task = reverse("review_task", args=[house["review"].uuid, 1])
    case = reverse("run_case", args=[house["run"].uuid, 1])
    other = reverse("run_case", args=[house["baseline"].uuid, 1])
    for url in (case, f"{case}?whole=output", f"{other}?against={house['run'].uuid}"):
        for headers in ({}, {"HX-Request": "true", "HX-Target": "main"}):
            assert client.get(url, headers=headers).headers["Location"] == task
    assert client.get(other).context["view"].history.count == 1
    refused = client.post(reverse("add_comment", args=[house["run"].uuid, 1]), {"text": "Why?"})
    assert refused.status_code == 403


@pytest.mark.parametrize("name", ["run_gate", "api:run_gate"])
def test_gates_name_the_case_after_the_own_verdict(
    secret: Output, house: dict[str, Any], alice: User, name: str
) -> None:
    client = Client()
    client.force_login(alice)
    terms = Terms(timezone.localdate(), "Known.", alice)
    about = [WaivedScorer("case-1", house["scorer"].pk)]
    Waiver.objects.waive(house["dataset"], about, terms, by=alice)
    address = reverse(name, args=[house["run"].uuid])

    def told() -> str:
        text = text_of(client.get(address, {"gate": ["regressions<=0", "no_regression"]}))
        return text.partition("<main")[2] or text

    assert "1 waived" in told()
    assert "case-1" not in told()
    assert "case-6" in told()
    give_review(house["run"], secret, ReviewVerdict.FAIL, by=alice)
    assert "case-1" in told()


@pytest.mark.parametrize("filters", [{"verdict": "fail"}, {"change": "broke"}, RANGE])
def test_a_queue_by_verdicts_leaves_the_output_out(
    secret: Output, house: dict[str, Any], alice: User, filters: dict[str, str]
) -> None:
    client = Client()
    client.force_login(alice)
    path, run = reverse("api:review_queues"), house["run"]
    wanted = {"run": str(run.uuid), "filters": filters}

    def draw() -> set[str]:
        """The keys of a new queue's tasks, drawn through the API."""
        made = client.post(path, wanted, "application/json")
        if made.status_code == 422:
            return set()
        tasks = client.get(reverse("api:review_tasks", args=[made.json()["id"]])).json()
        return {task["key"] for task in tasks["results"]}

    page = f"{reverse('new_review_queue', args=[run.uuid])}?{urlencode(filters)}"
    assert "1 case that you are yet to review" in client.get(page).text
    client.post(page, {"name": "On a page", "order": "value", "case_count": 9})
    made = ReviewQueue.objects.filter(name="On a page")
    assert not ReviewTask.objects.filter(queue__in=made, output=secret).exists()
    assert "case-1" not in draw()
    give_review(run, secret, ReviewVerdict.FAIL, by=alice)
    assert "case-1" in draw()


def test_no_place_in_a_queue_tells_what_changed(
    secret: Output, house: dict[str, Any], alice: User
) -> None:
    client = Client()
    client.force_login(alice)
    run = house["run"]

    def draw() -> list[int]:
        wanted = {"run": str(run.uuid)}
        made = client.post(reverse("api:review_queues"), wanted, "application/json").json()
        tasks = ReviewTask.objects.filter(queue__uuid=made["id"]).order_by("position")
        return list(tasks.values_list("output__case__position", flat=True))

    assert draw() == [6, 2, 3, 4, 5, 1]
    give_review(run, secret, ReviewVerdict.FAIL, by=alice)
    assert draw() == [1, 2, 3, 4, 5, 6]


def test_nobody_adjudicates_before_the_own_verdict(
    secret: Output, house: dict[str, Any], alice: User
) -> None:
    client = Client()
    client.force_login(alice)
    run = str(house["run"].uuid)
    sent = {"run": run, "key": "case-1", "verdict": "fail", "seen": 0}
    refused = client.post(reverse("api:adjudications"), sent, "application/json")
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (404, "key")
    assert not Adjudication.objects.exists()
    close_queue(house["review"], alice)
    assert client.post(reverse("api:adjudications"), sent, "application/json").status_code == 200


@pytest.mark.parametrize("verdict", ["pass", "fail"])
@pytest.mark.parametrize("reviewer", ["Jo Doe", "Nobody yet"])
def test_an_import_does_not_tell_what_others_said(
    secret: Output, house: dict[str, Any], alice: User, verdict: str, reviewer: str
) -> None:
    client = Client()
    client.force_login(alice)
    row = {"key": "case-1", "reviewer": reviewer, "verdict": verdict, "note": NOTE}
    counts = {"created": 0, "changed": 0, "unchanged": 0, "kept": 0, "withheld": 1}
    path = reverse("run_reviews", args=[house["run"].uuid])
    content = json.dumps([row]).encode()
    sent = {"file": SimpleUploadedFile("reviews.json", content), "preview": "on"}
    previewed = client.post(path, sent)
    assert previewed.context["report"].counts.items() >= counts.items()
    assert "1 row about outputs that you are yet to review" in " ".join(previewed.text.split())
    made = client.post(
        reverse("api:run_reviews", args=[house["run"].uuid]), {"reviews": [row]}, "application/json"
    )
    assert made.json().items() >= counts.items()
    assert secret.reviews.filter(reviewer_name=reviewer, verdict=ReviewVerdict[verdict.upper()])


def test_the_page_to_review_on_tells_no_reason(
    secret: Output, house: dict[str, Any], alice: User
) -> None:
    ReviewTask.objects.update(reason=TaskReason.DISAGREEING)
    client = Client()
    client.force_login(alice)
    page = reverse("review_task", args=[house["review"].uuid, 1])
    assert "scorers disagree" not in client.get(page).text
    give_review(house["run"], secret, ReviewVerdict.FAIL, by=alice)
    assert "scorers disagree" in client.get(page).text


def test_a_verdict_that_is_taken_back_hides_the_scores_again(
    secret: Output, house: dict[str, Any], alice: User
) -> None:
    client = Client()
    client.force_login(alice)
    case = reverse("review_case", args=[house["run"].uuid, 1])
    client.post(case, {"verdict": "fail", "note": ""})
    page = reverse("run_case", args=[house["run"].uuid, 1])
    assert NOTE in client.get(page).text
    headers = {"HX-Request": "true", "HX-Target": "reviews"}
    answer = client.post(case, {"verdict": "", "note": ""}, headers=headers)
    assert NOTE not in answer.text
    assert client.get(page).status_code == 302


def test_a_closed_queue_hides_nothing(
    secret: Output, house: dict[str, Any], alice: User, browser_of: Any
) -> None:
    close_queue(house["review"], alice)
    page = reverse("run_case", args=[house["run"].uuid, 1])
    assert browser_of(alice).get(page).context["view"].verdict == "fail"


@pytest.mark.parametrize("asked", ["copy", "original"])
def test_an_output_that_was_carried_over_is_the_same_output(
    secret: Output,
    house: dict[str, Any],
    alice: User,
    make_dataset: MakeDataset,
    browser_of: Any,
    asked: str,
) -> None:
    cases = [{"expected": "c", "input": f"q{n}"} for n in range(6)]
    copied = carry_over(secret.output_set, make_dataset(cases, "Blind"), alice)
    copy = scored_run(copied, house, "w46 again")
    told, task = house["run"], reverse("review_task", args=[house["review"].uuid, 1])
    if asked == "original":
        told = copy
        output = Output.objects.get(output_set=copied, case__key="case-1")
        Score.objects.filter(output=output).update(score=float(JUDGED), reason=REASON)
        row = {"key": "case-1", "reviewer": "Jo Doe", "verdict": "fail", "note": NOTE}
        import_reviews(copy, [row, row | {"reviewer": "Sue", "verdict": "pass"}], by=None)
        Comment.objects.add(copy, output, NOTE, by=User.objects.get(email="jo@example.org"))
    else:
        house["review"].delete()
        queue = ReviewQueue.objects.create(team=copy.team, run=copy, name="copy", case_count=1)
        output = Output.objects.get(output_set=copied, case__key="case-1")
        ReviewTask.objects.create(
            queue=queue, output=output, reviewer=alice, position=1, reason=TaskReason.SAMPLED
        )
        task = reverse("review_task", args=[queue.uuid, 1])
    client = browser_of(alice)
    answer = client.get(reverse("run_case", args=[told.uuid, 1]))
    assert (answer.status_code, answer.headers.get("Location")) == (302, task)
    run = f"run={told.uuid}"
    for path in (
        f"{reverse('run', args=[told.uuid])}?verdict=fail",
        reverse("run", args=[told.uuid]),
        reverse("api:run_results", args=[told.uuid]),
        reverse("export_run", args=[told.uuid]),
        reverse("export_run_reviews", args=[told.uuid]),
        reverse("disagreements", args=[told.uuid]),
        f"{reverse('api:reviews')}?{run}",
        f"{reverse('api:comments')}?{run}",
        f"{reverse('api:adjudications')}?{run}",
        f"{reverse('run_case', args=[copy.uuid, 1])}?history=all",
    ):
        text = text_of(client.get(path, follow=True))
        assert [each for each in SECRETS if each in text and each not in path] == [], path
    give_review(
        house["run"] if asked == "original" else copy,
        secret if asked == "original" else output,
        ReviewVerdict.FAIL,
        by=alice,
    )
    assert NOTE in client.get(reverse("run_case", args=[told.uuid, 1])).text


def test_a_waiver_of_a_case_is_not_told_before_the_own_review(
    secret: Output, house: dict[str, Any], alice: User
) -> None:
    """It says that a scorer fails the case."""
    client = Client()
    client.force_login(alice)
    dataset, scorer = house["dataset"], house["run"].scorers.get().version.scorer
    terms = Terms(timezone.localdate(), NOTE, alice)
    (waiver,) = Waiver.objects.waive(dataset, [WaivedScorer("case-1", scorer.pk)], terms, by=alice)
    page = reverse("dataset_waivers", args=[dataset.uuid])
    listed = f"{reverse('api:waivers')}?dataset={dataset.uuid}"
    ending = reverse("end_waiver", args=[waiver.uuid])
    assert NOTE not in client.get(page).text
    assert "1 case that you are yet to review" in client.get(page).text
    assert client.get(listed).json()["results"] == []
    assert client.post(ending).status_code == 404
    give_review(house["run"], secret, ReviewVerdict.FAIL, by=alice)
    assert NOTE in client.get(page).text
    assert len(client.get(listed).json()["results"]) == 1
    assert client.post(ending).status_code == 302
