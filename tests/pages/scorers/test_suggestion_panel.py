"""The page of types begins with what suits a dataset, and its links begin with that config."""

from __future__ import annotations

import re
from html import unescape

from django.test import Client
from django.urls import reverse

from scoring.models import Scorer, Team
from tests.conftest import MakeDataset, MakeOutputs


def said(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def types_url(team: Team, query: str = "") -> str:
    return reverse("new_scorer_type", args=[team.slug]) + query


def test_the_page_asks_for_the_newest_dataset_and_scores_nothing(
    browser: Client, team: Team, make_dataset: MakeDataset
) -> None:
    make_dataset([{"expected": "x"}], "old")
    newest = make_dataset([{"expected": "x"}], "new").dataset
    page = browser.get(types_url(team))
    assert page.context["panel"].suggestions is None
    assert f'hx-get="{types_url(team)}?dataset={newest.uuid}"' in page.text


def test_a_team_without_datasets_sees_the_types_alone(browser: Client, team: Team) -> None:
    assert "Recommended for a dataset" not in browser.get(types_url(team)).text


def test_what_is_suggested_is_shown_with_its_result_and_leads_to_its_form(
    browser: Client, team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{"expected": 5}, {"expected": 1200}])
    make_outputs(version, ["It is 5.", "A: 1,300"])
    page = browser.get(
        types_url(team, f"?dataset={version.dataset.uuid}"),
        headers={"HX-Request": "true", "HX-Target": "suggested"},
    )
    assert page.text.lstrip().startswith("<section")
    assert "Tried on 2 outputs" in said(page.text)
    assert "50 % pass" in said(page.text)
    assert "Not recommended: exact_match , by which 0" in said(page.text)
    first = next(page.context["panel"].scorers())
    form = browser.get(first.url).context["form"]
    assert form["name"].value() == "same last number"
    assert form["config-extract"].value() == ["last_number", ""]
    assert form["config-tolerance"].value() == 0
    fields = {field.html_name: field.value() or "" for field in form}
    fields |= {"config-extract": "last_number", "config-extract_expected": "", "threshold": "1"}
    assert browser.post(first.url, fields).status_code == 302
    made = Scorer.objects.get(team=team)
    assert made.current is not None
    assert made.current.config["extract"] == "last_number"


def test_a_link_with_a_config_of_another_type_begins_with_the_defaults(
    browser: Client, team: Team
) -> None:
    for config in ("{", "[]", '{"pattern": 1}', "x" * 10_000):
        url = reverse("new_scorer", args=[team.slug, "levenshtein"], query={"config": config})
        form = browser.get(url).context["form"]
        assert form["config-decimals"].value() == 2


def test_another_teams_dataset_is_not_shown(
    browser: Client, team: Team, make_dataset: MakeDataset
) -> None:
    own = make_dataset([{"expected": "x"}]).dataset
    unknown = "0191c2d0-0000-7000-8000-000000000000"
    page = browser.get(types_url(team, f"?dataset={unknown}"))
    assert page.context["panel"].chosen == own
