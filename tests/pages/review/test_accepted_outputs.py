"""An editor accepts an output on its page; it goes into the draft and can be undone."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Draft, Output, Run, User
from tests.pages.review.conftest import BrowserOf


@pytest.fixture
def erins(browser_of: BrowserOf, erin: User) -> Client:
    return browser_of(erin)


def case_url(run: Run, position: int = 2) -> str:
    return reverse("run_case", args=[run.uuid, position])


def accept(browser: Client, run: Run, position: int = 2, **fields: Any) -> Any:
    url = reverse("accept_case_output", args=[run.uuid, position])
    return browser.post(url, fields, follow=True)


def draft_of(run: Run) -> Draft:
    draft = Draft.objects.open_of(run.output_set.version.dataset)
    assert draft is not None
    return draft


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"as": "expected"}, "this output is the expected value of"),
        ({"as": "reference"}, "this output is a further right answer of"),
    ],
)
def test_it_goes_into_the_draft_and_the_page_leads_on(
    erins: Client, run: Run, fields: dict[str, str], said: str
) -> None:
    before = erins.get(case_url(run))
    assert "Accept this output as right" in before.text
    assert "Publish version" not in before.text
    after = accept(erins, run, **fields)
    assert said in after.text
    assert after.request["PATH_INFO"] == case_url(run)
    assert "Publish version 2 and score again" in after.text
    output = Output.objects.get(output_set=run.output_set, case__position=2)
    edit = draft_of(run).edits.get()
    is_expected = fields["as"] == "expected"
    assert (edit.expected if is_expected else edit.references) == (
        output.text if is_expected else [output.text]
    )


def test_it_can_be_undone(erins: Client, run: Run) -> None:
    page = accept(erins, run, **{"as": "expected"})
    (message,) = page.context["messages"]
    erins.post(
        reverse("revert_draft_case", args=[run.output_set.version.dataset.uuid]),
        {"key": draft_of(run).edits.get().key},
    )
    assert message.extra_tags
    assert not draft_of(run).edits.exists()


def test_a_refusal_is_said_on_the_case(erins: Client, run: Run) -> None:
    accept(erins, run, **{"as": "reference"})
    assert "That is a right answer already." in accept(erins, run, **{"as": "reference"}).text


def test_reviewers_and_viewers_may_not(
    browser_of: BrowserOf, run: Run, rita: User, bob: User
) -> None:
    for person in (rita, bob):
        browser = browser_of(person)
        assert "Accept this output" not in browser.get(case_url(run)).text
        assert accept(browser, run).status_code == 403


def test_a_stranger_finds_nothing(browser_of: BrowserOf, run: Run, charlie: User) -> None:
    assert accept(browser_of(charlie), run).status_code == 404
