"""What a recipe for outputs must be like."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.core.contract import ConfigError
from scoring.engine.outputs.generation import OutputRecipe
from scoring.engine.outputs.output_recipe import check_recipe

GOOD: dict[str, Any] = {"model": "m", "template": "Answer {{ input }}"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"trials": 20, "system": "Be brief."},
        {"parameters": {"temperature": 0, "top_p": 1.0, "max_tokens": 1, "seed": 0}},
        {"parameters": {"temperature": 1.5, "seed": 12}},
    ],
)
def test_a_good_recipe_passes(given: dict[str, Any]) -> None:
    check_recipe(OutputRecipe(**GOOD | given))


@pytest.mark.parametrize(
    ("given", "part", "says"),
    [
        ({"model": " "}, "model", "name the model"),
        ({"model": "m" * 201}, "model", "200 characters"),
        ({"template": " "}, "template", "empty"),
        ({"template": "{{ question }}"}, "template", "no field of a case"),
        ({"template": "{% if %}"}, "template", "opens or closes no place"),
        ({"system": "x" * 50_001}, "system", "50,000"),
        ({"trials": 0}, "trials", "from 1 to 20"),
        ({"trials": 21}, "trials", "from 1 to 20"),
        ({"parameters": {"temperature": 2.1}}, "parameters", "from 0 to 2"),
        ({"parameters": {"temperature": float("nan")}}, "parameters", "a number"),
        ({"parameters": {"temperature": "1"}}, "parameters", "a number"),
        ({"parameters": {"max_tokens": 1.5}}, "parameters", "a whole number"),
        ({"parameters": {"max_tokens": 0}}, "parameters", "from 1"),
        ({"parameters": {"seed": True}}, "parameters", "a whole number"),
        ({"parameters": {"seed": 2**31}}, "parameters", "a whole number"),
        ({"parameters": {"stream": True}}, "parameters", "unknown"),
    ],
)
def test_what_is_wrong_is_said_by_part(given: dict[str, Any], part: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_recipe(OutputRecipe(**GOOD | given))
    assert list(caught.value.errors) == [part]
    assert says in " ".join(caught.value.errors[part])


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        check_recipe(OutputRecipe("", "", trials=0, parameters={"seed": -1, "odd": 1}))
    errors = caught.value.errors
    assert set(errors) == {"model", "template", "trials", "parameters"}
    assert len(errors["parameters"]) == 2
