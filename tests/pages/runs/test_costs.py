"""What a run's page tells of money, time, stages and how the outputs were made."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.engine.outputs.generation import OutputRecipe, create_output_set
from scoring.engine.reports.run_summary import Report, as_json, as_table
from scoring.engine.runs import planning
from scoring.models import (
    AuditEntry,
    Connection,
    ModelCall,
    Run,
    RunSummary,
    Score,
    Scorer,
    Status,
    Team,
    User,
)
from tests.conftest import MakeDataset
from tests.pages.runs.steps import url
from tests.support.html import on_one_line
from tests.support.undone import undone


@pytest.fixture
def generating(team: Team, make_dataset: MakeDataset) -> Run:
    """A queued run that will make its outputs."""
    own = Connection.objects.define(team, "own", "https://api.example.org/v1", by=None)
    recipe = OutputRecipe(
        "stub-1",
        "Answer {{ input }} <b>",
        system="Be brief.",
        connection=own,
        parameters={"temperature": 0.2, "max_tokens": 50},
        trials=3,
    )
    outputs = create_output_set(make_dataset([{"input": "q"}] * 4), recipe)
    scorer = Scorer.objects.define(team, "same", "exact_match", {})
    return planning.create_run(outputs, scorers=[(scorer, 1.0)], budget_usd=2.0)


def facts(answer: Any) -> str:
    return on_one_line(answer.text)


def test_costs_calls_and_latencies_are_told(alices: Client, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(
        cost_usd=0.0042,
        judge_calls=1200,
        judge_tokens_in=34_000,
        judge_tokens_out=5_600,
        judge_cost_usd=1.5,
        latencies_ms={"p50": 420.4, "p95": 1333.3},
    )
    page = facts(alices.get(url(run)))
    assert "outputs $0.0042" in page
    assert "judges $1.50, 1,200 paid calls, 34,000 tokens in, 5,600 out" in page
    assert "outputs took 420 ms (median), 95&nbsp;% at most 1333 ms" in page


def test_what_is_not_known_is_not_told(alices: Client, run: Run) -> None:
    page = facts(alices.get(url(run)))
    assert "judges" not in page
    assert "budget" not in page.lower()
    assert "outputs took" not in page


def test_a_judge_without_paid_calls_says_so(alices: Client, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(judge_calls=0)
    assert "judges 0 paid calls </li>" in facts(alices.get(url(run)))


def test_the_budget_says_what_is_left(
    alices: Client, team: Team, generating: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[tuple[float | None, ...], str]] = [
        ((), "$2.00"),
        ((0.5, 0.25), "$1.25"),
        ((1.5, None, 0.6), "$0.00"),
    ]
    for paid, left in cases:
        with subtests.test(paid=paid, left=left), undone():
            for cost_usd in paid:
                ModelCall.objects.create(
                    team=team, run=generating, purpose="judge", cost_usd=cost_usd
                )
            ModelCall.objects.create(team=team, purpose="judge", cost_usd=9.0)  # another run's
            assert f"budget $2.00, {left} left" in facts(alices.get(url(generating)))


def test_how_the_outputs_were_made_is_told(alices: Client, generating: Run) -> None:
    page = facts(alices.get(url(generating)))
    for text in ("How the outputs were made", "through own", "3 trials a case"):
        assert text in page
    assert "<li>temperature 0.2</li>" in page
    assert "<li>max tokens 50</li>" in page
    assert "Answer {{ input }} &lt;b&gt;" in page
    assert "Be brief." in page


def test_outputs_that_came_from_outside_have_no_recipe(alices: Client, run: Run) -> None:
    assert "How the outputs were made" not in alices.get(url(run)).text


def test_the_stage_is_named_and_counted_in_outputs(alices: Client, generating: Run) -> None:
    planning.plan_attempt(generating)
    page = facts(alices.get(url(generating)))
    assert "> Making outputs </h2>" in page
    assert "0 of 12 outputs made" in page


def test_a_standstill_says_what_is_waited_for(alices: Client, generating: Run) -> None:
    from scoring.engine.jobs import lease

    planning.plan_attempt(generating)
    lease.acquire(generating)
    Run.objects.filter(pk=generating.pk).update(stall_reason="rate-limited until 14:05")
    assert "Rate-limited until 14:05." in alices.get(url(generating)).text


@pytest.mark.parametrize(("code", "asks"), [("budget_reached", True), ("timeout", False)])
def test_a_retry_after_a_spent_budget_asks_for_a_new_one(
    alices: Client, run: Run, code: str, asks: bool
) -> None:
    Run.objects.filter(pk=run.pk).update(budget_usd=1.0)
    RunSummary.objects.filter(scorer__run=run).update(errors=1, causes={code: 1})
    assert ("New budget" in alices.get(url(run)).text) is asks


def test_the_new_budget_goes_with_the_retry(alices: Client, alice: User, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(budget_usd=1.0)
    row = Score.objects.filter(scorer__run=run, score__isnull=False)[:1].get()
    row.status, row.score, row.verdict, row.code = Status.ERROR, None, None, "budget_reached"
    row.save()
    alices.post(reverse("retry_run", args=[run.uuid]), {"budget_usd": "2.5"})
    run.refresh_from_db()
    assert (run.state, run.budget_usd) == ("queued", 2.5)
    assert AuditEntry.objects.get(action="run.budget_changed").actor == alice


def test_a_budget_that_is_no_amount_starts_nothing(
    alices: Client, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["-1", "nan", "much"]
    for budget in cases:
        with subtests.test(budget=budget), undone():
            address = reverse("retry_run", args=[run.uuid])
            answer = alices.post(address, {"budget_usd": budget}, follow=True)
            assert "The budget is no amount in US dollars." in answer.text
            run.refresh_from_db()
            assert run.state == "finished"


def test_the_page_of_a_run_at_work_needs_few_queries(alices: Client, generating: Run) -> None:
    planning.plan_attempt(generating)
    with CaptureQueriesContext(connection) as captured:
        alices.get(url(generating))
    assert len(captured) <= 18


def test_a_cost_that_is_only_estimated_is_called_so(alices: Client, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(estimated_cost_usd=0.25, budget_usd=1.0)
    ModelCall.objects.create(team=run.team, run=run, model="m", cost_usd=0.5)
    ModelCall.objects.create(team=run.team, run=run, model="m", estimated_cost_usd=0.25)
    page = facts(alices.get(url(run)))
    assert "about $0.25 for calls without reported usage" in page
    assert "$0.25 left" in page
    report = on_one_line(alices.get(reverse("run_report", args=[run.uuid])).text)
    assert "estimated from the length of the texts" in report
    told = Report(run, None, None, [], seeks_baseline=False)
    run.refresh_from_db()
    run.judge_calls = 2
    assert as_json(told)["estimated_cost_usd"] == 0.25
    assert "about 0.2500 USD for calls without reported usage" in as_table(told)
