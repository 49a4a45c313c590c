"""Corrections on their pages: proposed on a case, decided in a list, scored again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from scoring.engine.jobs import job_queue
from scoring.engine.review import jobs
from scoring.models import (
    Correction,
    CorrectionState,
    Job,
    OutputSet,
    ReviewQueue,
    Run,
    Team,
    User,
)
from tests.support.run_states import EXACT, finished_run

BrowserOf = Callable[[User], Client]


def propose_url(run: Run) -> str:
    return reverse("propose_correction", args=[run.uuid, 1])


def list_url(run: Run, name: str = "dataset_corrections") -> str:
    return reverse(name, args=[run.output_set.version.dataset.uuid])


@pytest.fixture
def proposed(ritas: Client, run: Run) -> Correction:
    sent = {"expected": "certainly", "kind": "text", "why": "people say so"}
    assert ritas.post(propose_url(run), sent).status_code == 302
    return Correction.objects.get()


def test_it_is_proposed_where_a_case_is_reviewed_and_leads_back_there(
    ritas: Client, browser: Client, run: Run, queue: ReviewQueue
) -> None:
    task = reverse("review_task", args=[queue.uuid, 1])
    case = reverse("run_case", args=[run.uuid, 1])
    assert "Propose another expected value" in ritas.get(task).text
    assert propose_url(run) in browser.get(case).text
    sent = {"expected": '{"a": 1}', "kind": "json", "next": task}
    assert ritas.post(propose_url(run), sent)["Location"] == task
    assert Correction.objects.get().expected == {"a": 1}
    elsewhere = sent | {"expected": "[]", "next": "https://example.org/"}
    assert ritas.post(propose_url(run), elsewhere)["Location"] == case


def test_a_wrong_value_is_shown_with_its_fault(ritas: Client, run: Run) -> None:
    answer = ritas.post(propose_url(run), {"expected": "{", "kind": "json"})
    assert answer.status_code == 422
    assert "This cannot be read as JSON" in answer.text
    same = ritas.post(propose_url(run), {"expected": "yes", "kind": "text"})
    assert same.status_code == 422
    assert "This is the expected value already." in same.text


def test_nothing_may_be_expected(ritas: Client, browser: Client, run: Run) -> None:
    sent = {"expected": "yes", "kind": "nothing", "why": "open question"}
    assert ritas.post(propose_url(run), sent).status_code == 302
    assert Correction.objects.get().expected_json is None
    page = browser.get(list_url(run)).text
    assert "Nothing is expected any more; it was:" in page
    typed = ritas.post(propose_url(run), sent | {"expected": "maybe"})
    assert typed.status_code == 422
    assert "Something is written here." in typed.text


def test_the_notice_of_a_decision_leads_to_the_list_and_is_read_there(
    ritas: Client, browser: Client, team: Team, run: Run, proposed: Correction
) -> None:
    decide = list_url(run, "decide_dataset_corrections")
    sent = {"decision": "reject", "corrections": [str(proposed.uuid)], "reason": "It is right."}
    browser.post(decide, sent)
    text = "Your correction of case-1 was rejected: It is right."
    home = ritas.get(reverse("team_home", args=[team.slug])).text
    assert text in home
    assert f'href="{list_url(run)}"' in home
    ritas.get(list_url(run))
    assert text not in ritas.get(reverse("team_home", args=[team.slug])).text


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "CASES_AT_ONCE", 1)
    monkeypatch.setattr(jobs, "OUTPUTS_AT_ONCE", 1)


def run_job() -> None:
    """As the worker would."""
    job_queue.run_job(Job.objects.exclude(state__in=["done", "failed"]).latest("pk"))


def test_a_large_version_is_waited_for(
    browser: Client, run: Run, proposed: Correction, large: None
) -> None:
    decide = list_url(run, "decide_dataset_corrections")
    sent = {"decision": "approve", "corrections": [str(proposed.uuid)]}
    page = browser.post(decide, sent, follow=True).text
    assert "1 correction approved. The next version is being created." in page
    assert 'id="correction-jobs"' in page
    assert "Approve selected" not in page
    assert 'name="corrections"' not in page
    run_job()
    page = browser.get(list_url(run)).text
    assert 'id="correction-jobs"' not in page
    assert "Approved by erin@example.org" in " ".join(page.split())


def test_a_failed_approval_says_why(
    browser: Client, run: Run, proposed: Correction, large: None
) -> None:
    decide = list_url(run, "decide_dataset_corrections")
    browser.post(decide, {"decision": "approve", "corrections": [str(proposed.uuid)]})
    Correction.objects.update(state=CorrectionState.REJECTED)
    run_job()
    page = browser.get(list_url(run)).text
    assert "Nothing was approved: a former member decided in the meantime: case-1 rejected." in page


def test_many_outputs_are_carried_over_by_the_worker(
    browser: Client, run: Run, proposed: Correction, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = list_url(run, "decide_dataset_corrections")
    browser.post(decide, {"decision": "approve", "corrections": [str(proposed.uuid)]})
    monkeypatch.setattr(jobs, "OUTPUTS_AT_ONCE", 1)
    rescore = reverse("rescore_run", args=[run.uuid])
    page = browser.post(rescore, follow=True).text
    assert 'id="correction-jobs"' in page
    assert not OutputSet.objects.filter(copied_from=run.output_set).exists()
    run_job()
    carried = OutputSet.objects.get(copied_from=run.output_set)
    page = browser.get(list_url(run)).text
    assert f"The outputs of {carried.name} are carried over." in page
    assert browser.post(rescore)["Location"].endswith(f"?outputs={carried.uuid}")
    finished_run(carried, EXACT, name="after")
    assert "are carried over" not in browser.get(list_url(run)).text


def test_a_viewer_proposes_nothing_and_decides_on_nothing(
    browser_of: BrowserOf, bob: User, run: Run, proposed: Correction
) -> None:
    bobs = browser_of(bob)
    assert bobs.get(propose_url(run)).status_code == 403
    page = bobs.get(list_url(run)).text
    assert "certainly" in page
    assert "Approve" not in page


def test_team_and_dataset_say_how_many_are_open(
    ritas: Client, run: Run, team: Team, proposed: Correction
) -> None:
    for url in (
        reverse("review", args=[team.slug]),
        reverse("dataset", args=[run.output_set.version.dataset.uuid]),
    ):
        assert list_url(run) in ritas.get(url).text
    Correction.objects.update(state=CorrectionState.REJECTED)
    assert list_url(run) not in ritas.get(reverse("review", args=[team.slug])).text


def test_an_editor_approves_and_scores_the_run_again_before_and_after(
    browser: Client, run: Run, proposed: Correction
) -> None:
    page = browser.get(list_url(run)).text
    assert "people say so" in page
    assert "<del" in page
    assert "Runs over older versions" not in page
    decide = list_url(run, "decide_dataset_corrections")
    sent = {"decision": "approve", "corrections": [str(proposed.uuid)]}
    page = browser.post(decide, sent, follow=True).text
    assert "1 correction approved: version 2 is published." in page
    rescore = reverse("rescore_run", args=[run.uuid])
    assert rescore in page
    answer = browser.post(rescore)
    carried = OutputSet.objects.get(copied_from=run.output_set)
    assert answer["Location"].endswith(f"?outputs={carried.uuid}")
    assert f'<option value="{carried.uuid}" selected>' in browser.get(answer["Location"]).text
    again = finished_run(carried, EXACT, name="after")
    page = browser.get(list_url(run)).text
    assert f"?baseline={run.uuid}&amp;candidate={again.uuid}" in page


def test_a_rejection_keeps_its_reason_and_needs_one(
    browser: Client, run: Run, proposed: Correction
) -> None:
    decide = list_url(run, "decide_dataset_corrections")
    sent = {"decision": "reject", "corrections": [str(proposed.uuid)]}
    refused = browser.post(decide, sent)
    assert refused.status_code == 422
    assert "Enter a reason." in refused.text
    assert " checked" in refused.text
    page = browser.post(decide, sent | {"reason": "It is right."}, follow=True).text
    assert "It is right." in page
    assert "No open corrections" in page
    late = browser.post(decide, sent | {"decision": "approve"})
    assert late.status_code == 409
    assert "decided in the meantime: case-1 rejected" in late.text
    assert browser.post(decide, {"decision": "approve"}).status_code == 422
    other = sent | {"corrections": ["01936000-0000-7000-8000-000000000000"]}
    assert browser.post(decide, other).status_code == 422


def test_nobody_but_the_author_withdraws(
    ritas: Client, browser: Client, proposed: Correction
) -> None:
    url = reverse("withdraw_correction", args=[proposed.uuid])
    assert browser.post(url).status_code == 403
    assert "is withdrawn" in ritas.post(url, follow=True).text
    again = ritas.post(url)
    assert again.status_code == 409
    assert "decided in the meantime" in again.text
    assert Correction.objects.get().state == CorrectionState.WITHDRAWN


def test_a_correction_that_somebody_decided_on_meanwhile_is_not_withdrawn(
    ritas: Client, proposed: Correction, alice: User
) -> None:
    rejected = CorrectionState.REJECTED
    Correction.objects.decide([proposed], rejected, by=alice, reason="Not polite.")
    answer = ritas.post(reverse("withdraw_correction", args=[proposed.uuid]))
    assert answer.status_code == 409
    assert "Not polite." in answer.text
    assert Correction.objects.get().state == CorrectionState.REJECTED
