"""The new-run form says what its judges will ask and cost, and takes a budget."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import AuditEntry, OutputSet, Run, Scorer, Team, User
from tests.pages.runs.generation.steps import connected, part, suite_with
from tests.pages.runs.steps import MakeSet
from tests.support.undone import undone


@pytest.fixture
def outputs(make_set: MakeSet) -> OutputSet:
    return make_set(["yes", "no", "no", None])


def address(outputs: OutputSet) -> str:
    return reverse("new_run", args=[outputs.version.dataset.uuid])


def sent(alices: Client, outputs: OutputSet, **chosen: Any) -> dict[str, Any]:
    form = alices.get(address(outputs)).context["form"]
    return {"outputs": outputs.uuid, "key": form["key"].value(), **chosen}


def estimated(alices: Client, outputs: OutputSet, **chosen: Any) -> Any:
    asked = sent(alices, outputs, **chosen) | {"estimate": "yes"}
    answer = part(alices, address(outputs), "estimate", asked)
    assert answer.status_code == 200
    assert "<html" not in answer.text
    return answer


def test_judges_calls_and_cost_come_before_the_start(
    alices: Client, team: Team, outputs: OutputSet
) -> None:
    connected(team)
    judged = suite_with(team, "factuality", model="stub-1")
    page = estimated(alices, outputs, suite=judged.uuid)
    (line,) = page.context["cost_estimate"].lines
    assert (line.title, line.estimate.calls) == ("judges", 3)
    assert "What its judges will ask" in page.text
    assert not Run.objects.exists()


def test_single_scorers_count_as_well(alices: Client, team: Team, outputs: OutputSet) -> None:
    connected(team)
    suite_with(team, "factuality", model="stub-1")
    page = estimated(alices, outputs, scorers=[Scorer.objects.get().uuid])
    assert page.context["cost_estimate"].lines[0].estimate.calls == 3


def test_without_judges_nothing_is_said(alices: Client, team: Team, outputs: OutputSet) -> None:
    plain = suite_with(team)
    page = estimated(alices, outputs, suite=plain.uuid)
    assert page.context["cost_estimate"] is None
    assert "Cost" not in page.text


def test_a_form_that_is_not_filled_in_yet_estimates_nothing(
    alices: Client, team: Team, outputs: OutputSet
) -> None:
    suite_with(team)
    assert estimated(alices, outputs).context["cost_estimate"] is None


def test_without_a_connection_it_says_that_calls_will_fail(
    alices: Client, team: Team, outputs: OutputSet
) -> None:
    judged = suite_with(team, "factuality", model="stub-1")
    page = estimated(alices, outputs, suite=judged.uuid).text
    assert "Calls will fail: there is no default connection; set one" in page


def test_without_scripts_a_button_shows_the_whole_page(
    alices: Client, team: Team, outputs: OutputSet
) -> None:
    connected(team)
    judged = suite_with(team, "factuality", model="stub-1")
    asked = sent(alices, outputs, suite=judged.uuid) | {"estimate": "yes"}
    page = alices.post(address(outputs), asked)
    assert page.status_code == 200
    assert "What its judges will ask" in page.text
    assert "Start the run" in page.text


def test_a_budget_goes_with_the_run(
    alices: Client, team: Team, alice: User, outputs: OutputSet
) -> None:
    plain = suite_with(team)
    asked = sent(alices, outputs, suite=plain.uuid, budget_usd="2.5")
    assert alices.post(address(outputs), asked).status_code == 302
    assert Run.objects.get().budget_usd == 2.5
    assert AuditEntry.objects.get(action="run.created").new["budget_usd"] == 2.5


def test_a_budget_that_is_no_amount_is_refused(
    alices: Client, team: Team, outputs: OutputSet, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["-1", "nan", "inf", "much"]
    for budget in cases:
        with subtests.test(budget=budget), undone():
            asked = sent(alices, outputs, suite=suite_with(team).uuid, budget_usd=budget)
            answer = alices.post(address(outputs), asked)
            assert answer.status_code == 422
            assert "budget_usd" in answer.context["form"].errors
            assert not Run.objects.exists()
