"""A scorer tried on a case of the team's own."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evalsite.pages.forms.tryout import MAX_CHARS, TryForm
from scoring.models import Case, Dataset, DatasetVersion, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.run_steps import BrowserOf
from tests.pages.test_tryouts import CASE, new, said, sent
from tests.scored import EXACT, finished_run


@pytest.fixture
def own(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> str:
    """A choice: the second case of the team's own dataset."""
    long = "x" * (MAX_CHARS + 5)
    cases = [
        {"input": long, "expected": "a"},
        {
            "input": {"q": 1},
            "expected": {"b": 2},
            "references": ["one\ntwo", "three"],
            "metadata": {"lang": "en"},
        },
    ]
    version = make_dataset(cases)
    make_outputs(version, ["first", "old"])
    make_outputs(version, ["first", "newest"])
    return f"{version.dataset.uuid}/2"


def test_the_page_begins_with_a_case_of_the_team_and_cuts_a_long_one(
    browser_of: BrowserOf, alice: User, team: Team, own: str
) -> None:
    page = browser_of(alice).get(new(team, "exact_match"))
    fields = page.context["panel"].fields
    assert (fields["output"].value(), fields["expected"].value()) == ("first", "a")
    assert fields["input"].value() == "x" * MAX_CHARS
    assert "are cut" in page.text


def test_a_saved_scorer_begins_with_a_case_of_the_dataset_it_scored_last(
    browser_of: BrowserOf, alice: User, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    asked = [{"input": "Who?", "expected": "Ada"}]
    run = finished_run(make_outputs(make_dataset(asked, "Scored"), ["Ida"]), EXACT)
    make_dataset([{"expected": "later"}], "Later")
    scorer = run.scorers.get().version.scorer
    panel = browser_of(alice).get(reverse("edit_scorer", args=[scorer.uuid])).context["panel"]
    assert (panel.fields["input"].value(), panel.fields["output"].value()) == ("Who?", "Ida")
    assert [name for name, _ in panel.choices] == ["Scored", "Later"]


def test_a_case_of_the_team_fills_the_fields_and_is_scored(
    browser_of: BrowserOf, alice: User, team: Team, own: str
) -> None:
    browser, url = browser_of(alice), new(team, "expression")
    config = {"threshold": "0.5", "config-expression": 'metadata.lang == "en"'}
    page = sent(browser, url, "case", **config, **{"try-from": own, "try-output": "typed"})
    assert page.text.lstrip().startswith('<section class="try" id="try"')
    fields = page.context["panel"].fields
    assert fields["output"].value() == "newest"
    assert "1 ≥ 0.5 → pass" in said(page)
    typed = {field.html_name: field.value() for field in fields}
    again = TryForm(typed)
    assert again.is_valid()
    case = again.case()
    assert (case.input, case.expected, case.output) == ({"q": 1}, {"b": 2}, "newest")
    assert (case.references, case.metadata) == (("one\ntwo", "three"), {"lang": "en"})


@pytest.mark.parametrize("choice", ["", "nonsense", "{other}/1", "{own}/99", "{own}/x"])
def test_no_choice_and_a_foreign_one_leave_what_was_typed(
    browser_of: BrowserOf, alice: User, charlie: User, team: Team, own: str, choice: str
) -> None:
    dataset = Dataset.objects.create(team=Team.objects.get(slug="elsewhere"), name="Theirs")
    version = DatasetVersion.with_loading.create(dataset=dataset)
    Case.objects.create(version=version, position=1, key="k", input_json='"secret"')
    version.publish(content_hash="", case_count=1)
    choice = choice.format(own=own.partition("/")[0], other=dataset.uuid)
    fields = {"threshold": "0.7", "try-from": choice, **CASE}
    page = sent(browser_of(alice), new(team, "levenshtein"), "case", **fields)
    assert page.context["panel"].fields["output"].value() == "helo"
    assert "secret" not in page.text
