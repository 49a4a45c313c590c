"""Which places cases have, and prompts filled before they are sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.core.llm.prompt_template import PromptTemplate
from scoring.engine.outputs import prompt_preview
from scoring.engine.outputs.prompt_preview import (
    FilledPrompt,
    MissingValues,
    fill_prompts,
    find_missing_values,
    find_placeholders,
)
from tests.conftest import MakeDataset

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("case", "paths"),
    [
        ({"input": "why"}, ["input", "key"]),
        ({"input": {"q": "why", "n": 1}}, ["input", "input.q", "input.n", "key"]),
        ({"input": json.dumps({"q": "why"})}, ["input", "input.q", "key"]),
        ({"input": "{no json"}, ["input", "key"]),
        ({"input": {"odd key": 1}}, ["input", 'input["odd key"]', "key"]),
        ({"input": [{"q": 1}, {"z": 2}]}, ["input", "input[0]", "input[0].q", "key"]),
        (
            {"input": {"a": {"b": {"c": {"d": 1}}}}},
            ["input", "input.a", "input.a.b", "input.a.b.c", "key"],
        ),
        (
            {"input": "q", "tags": ["x"], "metadata": {"lang": "en"}, "expected": "e"},
            ["input", "expected", "metadata", "metadata.lang", "tags", "tags[0]", "key"],
        ),
        ({"input": "q", "references": ["r"]}, ["input", "references", "references[0]", "key"]),
    ],
)
def test_the_places_of_a_case(
    make_dataset: MakeDataset, case: dict[str, Any], paths: list[str]
) -> None:
    found = find_placeholders(make_dataset([case]))
    assert [place.path for place in found] == paths
    template = PromptTemplate(" ".join(place.written for place in found))
    assert template.problem() == "", "what is listed can be written into a template"
    assert find_missing_values(make_dataset([case]), template) == MissingValues(0, [])


def test_a_place_says_how_many_cases_have_it(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"input": {"q": 1}}, {"input": {"q": 2}}, {"input": "plain"}])
    counts = {place.path: place.case_count for place in find_placeholders(version)}
    assert counts == {"input": 3, "input.q": 2, "key": 3}


def test_the_list_of_places_has_an_end(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"input": {f"k{n}": n for n in range(500)}}])
    assert len(find_placeholders(version)) == prompt_preview.MAX_PATHS


def test_the_first_prompts_are_filled_or_say_why_not(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"input": {"q": "A"}}, {"input": "B"}, {"input": {"q": "C"}}, {}])
    assert fill_prompts(version, PromptTemplate("Say {{ input.q }}.")) == [
        FilledPrompt(1, "case-1", "Say A.", ""),
        FilledPrompt(2, "case-2", "", "the case has nothing at input.q"),
        FilledPrompt(3, "case-3", "Say C.", ""),
    ]


def test_cases_that_lack_a_place_are_counted_and_the_first_named(make_dataset: MakeDataset) -> None:
    cases = [{"input": {"q": n}} if n % 2 else {"input": "text"} for n in range(1, 21)]
    found = find_missing_values(make_dataset(cases), PromptTemplate("{{ input.q }}"))
    assert found == MissingValues(10, [f"case-{n}" for n in (2, 4, 6, 8, 10)])


def test_in_a_large_version_nobody_counts(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = make_dataset([{"input": "a"}, {"input": "b"}])
    monkeypatch.setattr(prompt_preview, "MAX_COUNTED", 1)
    assert find_missing_values(version, PromptTemplate("{{ input.q }}")) == MissingValues(None, ())
