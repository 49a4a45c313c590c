"""Runs that make their outputs: the form, the preview of prompts and cost, a prompt tried."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.core.llm.endpoint import Endpoint
from scoring.models import (
    AuditEntry,
    Connection,
    Dataset,
    Generation,
    OutputSetState,
    Run,
    Suite,
    Team,
    User,
)
from tests.conftest import MakeDataset
from tests.pages.runs.generation.steps import address, connected, filled, part, suite_with
from tests.pages.runs.steps import BrowserOf, url


class TestStart:
    def test_a_run_is_queued_that_will_make_its_outputs(
        self, browser: Client, alice: User, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        sent = filled(browser, dataset, suite, system="Be\r\nbrief.", temperature="0", seed="7")
        sent |= {"series": "weekly", "name": "w47", "budget_usd": "1.5"}
        answer = browser.post(address(dataset), sent)
        run = Run.objects.get()
        assert answer["Location"] == url(run)
        assert (run.name, run.budget_usd, run.suite, run.state) == ("w47", 1.5, suite, "queued")
        made = run.output_set.generation
        assert (made.model, made.template, made.system) == (
            "stub-1",
            "Answer {{ input.q }}",
            "Be\nbrief.",
        )
        assert (made.connection, made.trials) == (own, 2)
        assert made.parameters == {"temperature": 0.0, "seed": 7}
        assert (run.output_set.state, run.output_set.series) == ("generating", "weekly")
        assert run.output_set.version == dataset.latest
        assert AuditEntry.objects.get(action="run.created").actor == alice

    def test_a_page_that_sent_the_form_in_place_is_led_to_the_run(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        htmx = {"HX-Request": "true", "HX-Boosted": "true", "HX-Target": "main"}
        refused = browser.post(address(dataset), {"model": ""}, headers=htmx)
        assert refused.status_code == 422
        assert '<main class="page" id="main"' in refused.text
        assert 'hx-trigger="load, change' in refused.text
        answer = browser.post(address(dataset), filled(browser, dataset, suite), headers=htmx)
        assert answer["HX-Redirect"] == url(Run.objects.get())

    def test_sent_twice_it_starts_one_run_and_changed_another(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        sent = filled(browser, dataset, suite)
        first, again = (browser.post(address(dataset), sent)["Location"] for _ in range(2))
        assert first == again
        assert (Run.objects.count(), Generation.objects.count()) == (1, 1)
        browser.post(address(dataset), sent | {"template": "Other {{ input.q }}"})
        assert (Run.objects.count(), Generation.objects.count()) == (2, 2)

    def test_what_cannot_be_used_is_said_at_its_field(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        for changed, field, says in [
            ({"model": ""}, "model", "required"),
            ({"template": ""}, "template", "required"),
            ({"template": "{{ question }}"}, "template", "no field of a case"),
            ({"template": "{{ input"}, "template", "opens or closes no place"),
            ({"system": "x" * 50_001}, "system", "50,000"),
            ({"trials": "21"}, "trials", "less than or equal to 20"),
            ({"trials": "0"}, "trials", "greater than or equal to 1"),
            ({"temperature": "3"}, "temperature", "less than or equal to 2"),
            ({"seed": "-1"}, "seed", "greater than or equal to 0"),
            ({"budget_usd": "-1"}, "budget_usd", "greater than or equal to 0"),
            ({"budget_usd": "nan"}, "budget_usd", "Enter a number"),
            ({"connection": str(uuid.uuid4())}, "connection", "valid choice"),
            ({"suite": ""}, "suite", "Choose a suite"),
        ]:
            answer = browser.post(address(dataset), filled(browser, dataset, suite) | changed)
            assert answer.status_code == 422
            assert says in str(answer.context["form"].errors[field])
            assert not Run.objects.exists()

    def test_another_team_s_connection_cannot_be_chosen(
        self, browser: Client, charlie: User, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        theirs = connected(Team.objects.get(slug="elsewhere"), "theirs")
        sent = filled(browser, dataset, suite, connection=str(theirs.uuid))
        assert "connection" in browser.post(address(dataset), sent).context["form"].errors

    def test_the_default_connection_comes_first_and_models_are_listed(
        self, browser: Client, team: Team, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        connected(team, "another")
        form = browser.get(address(dataset)).context["form"]
        assert form["connection"].value() == own.uuid
        assert list(form.models()) == [
            (model, name) for name in ("own", "another") for model in ("stub-1", "unpriced")
        ]

    def test_the_environment_s_endpoint_needs_no_choice(
        self,
        browser: Client,
        dataset: Dataset,
        suite: Suite,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        endpoint = Endpoint("environment", "https://api.example.org/v1", api_key="sk")
        monkeypatch.setattr(
            "evalsite.pages.runs.generation.views.environment_endpoint", lambda: endpoint
        )
        assert browser.post(address(dataset), filled(browser, dataset, suite)).status_code == 302
        assert Generation.objects.get().connection is None


class TestEmptyStates:
    def test_without_a_connection_an_administrator_is_led_to_one(
        self, browser_of: BrowserOf, browser: Client, dataset: Dataset, suite: Suite, team: Team
    ) -> None:
        page = browser.get(address(dataset)).text
        assert "No model to call" in page
        assert reverse("new_connection", args=[team.slug]) in page

    def test_without_scorers_a_scorer_comes_first(
        self, browser: Client, dataset: Dataset, own: Connection
    ) -> None:
        assert "No scorers yet" in browser.get(address(dataset)).text

    def test_a_dataset_that_is_loading_has_to_be_waited_for(
        self, browser: Client, team: Team
    ) -> None:
        dataset = Dataset.objects.create(team=team, name="later")
        assert "Still loading" in browser.get(address(dataset)).text
        assert browser.post(address(dataset), {}).status_code == 200
        assert not Run.objects.exists()

    def test_the_dataset_and_the_new_run_lead_here(self, browser: Client, dataset: Dataset) -> None:
        for name in ("dataset", "new_run"):
            page = browser.get(reverse(name, args=[dataset.uuid])).text
            assert f'href="{address(dataset)}"' in page


class TestPreview:
    def preview(self, browser: Client, dataset: Dataset, **sent: Any) -> Any:
        answer = part(browser, address(dataset), "preview", sent | {"preview": "yes"})
        assert answer.status_code == 200
        assert "<html" not in answer.text
        return answer

    def test_the_first_prompts_are_shown_filled(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        sent = filled(browser, dataset, suite)
        page = self.preview(browser, dataset, **sent)
        assert [prompt.text for prompt in page.context["preview"].prompts] == [
            f"Answer question {n}" for n in (1, 2, 3)
        ]
        assert "Answer question 3" in page.text
        assert not Run.objects.exists()

    def test_calls_and_cost_are_those_of_all_cases_and_trials(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        page = self.preview(browser, dataset, **filled(browser, dataset, suite))
        (line,) = page.context["preview"].cost_estimate.lines
        assert (line.title, line.estimate.calls) == ("outputs", 8)
        # "Answer question 1" is 17 bytes, five tokens, at 100 dollars a million
        assert line.estimate.cost_usd == pytest.approx(8 * 5 * 100 / 1e6)
        assert "2 seconds a call" in page.text

    def test_judges_are_a_line_of_their_own(
        self, browser: Client, team: Team, dataset: Dataset, own: Connection
    ) -> None:
        judged = suite_with(team, "factuality", model="stub-1")
        page = self.preview(browser, dataset, **filled(browser, dataset, judged))
        _, judges = page.context["preview"].cost_estimate.lines
        assert (judges.title, judges.estimate.calls) == ("judges", 8)
        assert "Together about $" in page.text

    def test_a_model_without_a_price_is_named_with_what_to_do(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        sent = filled(browser, dataset, suite, model="unpriced")
        page = self.preview(browser, dataset, **sent).text
        assert "not known" in page
        assert "The price of unpriced is not known." in page
        assert "in the connection own" in page

    def test_a_prompt_that_shows_what_is_expected_is_warned_of(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        warning = "the model is told what it should answer"
        sent = filled(browser, dataset, suite)
        assert warning not in self.preview(browser, dataset, **sent).text
        sent["template"] = "{{ input.q }} {{ expected }}"
        assert warning in self.preview(browser, dataset, **sent).text

    def test_cases_that_lack_a_place_are_counted(
        self, browser: Client, make_dataset: MakeDataset, own: Connection, suite: Suite
    ) -> None:
        cases = [{"input": {"q": "a"}}, *[{"input": "plain"}] * 6]
        dataset = make_dataset(cases, "mixed").dataset
        page = self.preview(browser, dataset, **filled(browser, dataset, suite))
        assert page.context["preview"].lacking.case_count == 6
        assert "6 of 7 cases lack" in page.text
        assert "No prompt: the case has nothing at input.q." in page.text

    def test_where_no_case_can_be_asked_it_says_so(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        sent = filled(browser, dataset, suite, template="{{ input.z }}")
        page = self.preview(browser, dataset, **sent)
        assert "No case can be asked" in page.text
        assert "Try it" not in page.text

    @pytest.mark.parametrize("model", ["stub-1", ""])
    def test_a_broken_template_is_explained(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite, model: str
    ) -> None:
        sent = filled(browser, dataset, suite, template="{{ question }}", model=model)
        page = self.preview(browser, dataset, **sent)
        assert "names no field of a case" in page.text
        assert page.context["preview"].prompts == []

    def test_without_a_model_there_are_prompts_and_no_cost(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        page = self.preview(browser, dataset, **filled(browser, dataset, suite, model="")).text
        assert "Answer question 1" in page
        assert "Name the model" in page

    def test_without_scripts_it_is_a_whole_page(
        self, browser: Client, dataset: Dataset, own: Connection, suite: Suite
    ) -> None:
        sent = filled(browser, dataset, suite) | {"preview": "yes"}
        page = browser.post(address(dataset), sent)
        assert page.status_code == 200
        assert "Answer question 1" in page.text
        assert 'id="generate-form"' in page.text

    def test_what_cases_hold_is_shown_as_text(
        self, browser: Client, make_dataset: MakeDataset, own: Connection, suite: Suite
    ) -> None:
        dataset = make_dataset([{"input": {"q": "<script>alert(1)</script>"}}], "odd").dataset
        page = self.preview(browser, dataset, **filled(browser, dataset, suite)).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


def test_the_set_waits_until_its_run_has_filled_it(
    browser: Client, dataset: Dataset, own: Connection, suite: Suite
) -> None:
    browser.post(address(dataset), filled(browser, dataset, suite))
    assert Run.objects.get().output_set.state == OutputSetState.GENERATING
    form = browser.get(reverse("new_run", args=[dataset.uuid])).context["form"]
    assert not form.fields["outputs"].queryset.exists()
