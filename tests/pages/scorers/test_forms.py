"""A config as one JSON text, and any config through the fields of its parts."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsite.pages.scorers.model_fields import ModelOptions
from evalsite.pages.scorers.tree_forms import Tree
from scoring.core.config_diff import spell_out_defaults
from scoring.core.registry import all_types
from scoring.core.services import AvailableServices
from scoring.models import Scorer, Team
from tests.pages.scorers.steps import NESTED, EditedScorer, NewScorer
from tests.support.browser_forms import as_sent
from tests.support.thoroughness import examples


def test_a_tree_is_shown_as_json_and_back(edited_scorer: EditedScorer, nested: Scorer) -> None:
    form = edited_scorer(nested)
    form.press("json")
    assert "node" not in form.fields
    assert json.loads(form.fields["config"][0])["scorers"] == NESTED
    form.press("fields")
    assert form.tokens == ["1", "2", "3", "4", "5"]
    form.save()
    assert nested.versions.count() == 1


def test_a_pasted_config_is_saved_and_its_own_threshold_has_to_be_the_one_beside_it(
    new_scorer: NewScorer,
) -> None:
    form = new_scorer("levenshtein")
    form.press("json")
    pasted = json.dumps({"decimals": 3, "threshold": 0.8})
    form.save(name="close", config=pasted, threshold="0.7")
    assert "It has the threshold 0.8; the scorer&#x27;s is 0.7" in form.page
    form.save(name="close", config=pasted, threshold="0.8")
    made = Scorer.objects.get(name="close")
    assert made.current is not None
    assert (made.threshold, made.current.config["decimals"]) == (0.8, 3)


@pytest.mark.parametrize(
    ("pasted", "says"),
    [
        ("{", "not usable JSON"),
        ("[1]", "A config is a JSON object"),
        ('{"decimal": 2}', "decimal: is not a setting of this scorer"),
        ('{"target_output_key": "a\\u0000"}', "holds a NUL character"),
        ('{"decimals": "two"}', "decimals:"),
    ],
)
@pytest.mark.parametrize("how", ["save", "fields"])
def test_json_that_is_no_config_stays_where_it_is(
    new_scorer: NewScorer, pasted: str, says: str, how: str
) -> None:
    form = new_scorer("levenshtein")
    form.press("json")
    act = form.save if how == "save" else partial(form.press, "fields")
    act(name="close", config=pasted)
    assert form.answer.status_code == 422
    assert says in form.page.replace("&quot;", '"')
    assert form.fields["config"] == [pasted]
    assert not Scorer.objects.exists()


def test_settings_that_cannot_be_used_are_not_turned_into_json(
    new_scorer: NewScorer,
) -> None:
    form = new_scorer("regex")
    form.press("json", config__pattern="")
    assert form.answer.status_code == 422
    assert "config" not in form.fields


def test_a_combination_too_large_for_a_tree_is_edited_as_json(
    edited_scorer: EditedScorer, team: Team
) -> None:
    row = [{"type": "exact_match"}] * 40
    parts = [{"type": "all", "config": {"scorers": row}} for _ in range(3)]
    form = edited_scorer(Scorer.objects.define(team, "both", "all", {"scorers": parts}))
    assert "config" in form.fields
    assert "node" not in form.fields


# Any config

#: What one line of a form holds: line ends of any kind end it.
TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\0\v\f\x1c\x1d\x1e\x85\u2028\u2029"),
    max_size=8,
)
VALUES = st.one_of(TEXT, st.integers(-9, 9), st.booleans(), st.lists(st.integers(0, 3)))
LISTS = st.lists(TEXT.filter(str.strip), min_size=1, max_size=3)
LOWS = st.floats(-5, 4).map(lambda low: round(low, 3))
RUBRIC = {"model": "m", "rubric": "r"}


def _part(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind), "config": st.fixed_dictionaries(fields)})


LEAVES = st.one_of(
    _part("exact_match", trim=st.booleans(), default_expected=VALUES),
    _part("includes", values=LISTS),
    _part("levenshtein", decimals=st.none() | st.integers(0, 9)),
    _part(
        "llm_judge", **{k: st.just(v) for k, v in RUBRIC.items()}, range=LOWS.map(lambda n: [n, 5])
    ),
)
WEIGHTS = st.floats(0.001, 1000).map(lambda weight: round(weight, 3))


def _combined(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    weighed = st.lists(st.tuples(parts, WEIGHTS), min_size=1, max_size=3)
    return st.builds(
        lambda kind, row: {
            "type": kind,
            "config": {"scorers": [part | {"weight": weight} for part, weight in row]},
        },
        st.sampled_from(["all", "any", "weighted"]),
        weighed,
    )


@pytest.mark.django_db
@settings(max_examples=examples(40), deadline=None)
@given(whole=_combined(st.recursive(LEAVES, _combined, max_leaves=6)))
def test_any_config_goes_through_the_forms_unchanged(whole: dict[str, Any]) -> None:
    offer = ModelOptions(AvailableServices(), ())
    tree = Tree.from_config(all_types()[whole["type"]], lambda: offer, whole["config"]["scorers"])
    drawn = render_to_string("scorers/tree/_tree.html", {"tree": tree})
    fields = as_sent(f'<form id="scorer-form">{drawn}</form>')
    sent = QueryDict(mutable=True)
    for name, values in fields.items():
        sent.setlist(name, values)
    again = Tree.from_data(tree.kind, lambda: offer, sent)
    assert again.is_valid(), list(again.problems())
    back = {"scorers": again.scorers()}
    assert spell_out_defaults(whole["type"], back) == spell_out_defaults(
        whole["type"], whole["config"]
    )
