"""Configs: reading mappings, naming what is wrong, describing the fields."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le

from scoring.core.config import (
    About,
    Config,
    FieldSpec,
    config_fields,
    config_mapping,
    config_schema,
    read_config,
)
from scoring.core.contract import ConfigError
from scoring.core.registry import ScorerType, all_types


@dataclass(frozen=True, kw_only=True)
class BaseConfig(Config):
    shared: Annotated[str, About("Shared", "Comes last.")] = "s"


@dataclass(frozen=True, kw_only=True)
class SampleConfig(BaseConfig):
    name: Annotated[str, About("Name", "What it is called.", "long text")]
    count: Annotated[int, Ge(1), Le(5), About("Count", "How many.")] = 2
    share: Annotated[float | None, Gt(0), About("Share", "Above zero.")] = None
    mode: Annotated[Literal["fast", "slow"], About("Mode", "How.")] = "fast"
    is_on: bool = False
    words: tuple[str, ...] = ()
    labels: list[str] = field(default_factory=lambda: ["a"])
    anything: Any = None

    def check(self) -> None:
        if self.name == "forbidden":
            raise ConfigError({"name": ["is forbidden"]})


def _errors(mapping: Any) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        read_config(SampleConfig, mapping)
    return caught.value.errors


def test_a_mapping_becomes_a_config() -> None:
    config = read_config(SampleConfig, {"name": "n", "count": 3, "share": 1, "words": ["a", "b"]})
    assert config == SampleConfig(name="n", count=3, share=1.0, words=("a", "b"))


@pytest.mark.parametrize(
    ("mapping", "name", "text"),
    [
        ({}, "name", "is required"),
        ({"name": 5}, "name", "must be a text"),
        ({"name": "n", "count": "3"}, "count", "must be a valid integer"),
        ({"name": "n", "count": 0}, "count", "must be greater than or equal to 1"),
        ({"name": "n", "count": 6}, "count", "must be less than or equal to 5"),
        ({"name": "n", "count": True}, "count", "must be a valid integer"),
        ({"name": "n", "count": 1.5}, "count", "integer"),
        ({"name": "n", "share": 0}, "share", "must be greater than 0"),
        ({"name": "n", "mode": "other"}, "mode", "must be 'fast' or 'slow'"),
        ({"name": "n", "is_on": 1}, "is_on", "must be true or false"),
        ({"name": "n", "words": "a"}, "words", "must be a"),
        ({"name": "n", "words": ["a", 1]}, "words", "must be a text"),
        ({"name": "n", "nmae": "x"}, "nmae", "is not a setting of this scorer"),
        ({"name": "n", "anything": math.nan}, "config", "anything is not finite"),
        ({"name": "n", "anything": object()}, "config", "not a JSON value"),
        ({"name": "forbidden"}, "name", "is forbidden"),
        ([], "config", "must be an object"),
        (None, "config", "must be an object"),
    ],
)
def test_a_bad_mapping_names_the_field_and_what_it_must_be(
    mapping: Any, name: str, text: str
) -> None:
    errors = _errors(mapping)
    assert list(errors) == [name]
    assert text in errors[name][0]


def test_every_bad_field_is_named_at_once() -> None:
    assert set(_errors({"count": 9, "mode": "x", "odd": 1})) == {"name", "count", "mode", "odd"}


def test_fields_come_with_all_that_a_form_needs() -> None:
    specs = {spec.name: spec for spec in config_fields(SampleConfig)}
    assert list(specs)[-1] == "shared"
    assert specs["name"] == FieldSpec(
        "name", "Name", "What it is called.", "long text", None, required=True, nullable=False
    )
    assert specs["count"] == FieldSpec(
        "count", "Count", "How many.", "integer", 2, False, False, minimum=1, maximum=5
    )
    assert (specs["share"].kind, specs["share"].nullable, specs["share"].above) == (
        "number",
        True,
        0,
    )
    assert (specs["mode"].kind, specs["mode"].choices) == ("choice", ("fast", "slow"))
    assert (specs["is_on"].kind, specs["is_on"].label) == ("boolean", "Is on")
    assert (specs["words"].kind, specs["words"].default) == ("list of text", [])
    assert (specs["labels"].kind, specs["labels"].default) == ("list of text", ["a"])
    assert (specs["anything"].kind, specs["anything"].nullable) == ("json", True)


@pytest.mark.parametrize("scorer_type", all_types().values(), ids=list(all_types()))
def test_every_field_of_every_type_has_label_and_help(scorer_type: ScorerType) -> None:
    for spec in config_fields(scorer_type.config):
        assert spec.label[0].isupper()
        assert spec.help.endswith((".", "`."))


@pytest.mark.parametrize("scorer_type", all_types().values(), ids=list(all_types()))
def test_the_schema_of_every_type_names_its_fields(scorer_type: ScorerType) -> None:
    schema = config_schema(scorer_type.config)
    assert schema["additionalProperties"] is False
    for spec in config_fields(scorer_type.config):
        assert schema["properties"][spec.name]["title"] == spec.label
        assert schema["properties"][spec.name]["description"] == spec.help
    required = {spec.name for spec in config_fields(scorer_type.config) if spec.required}
    assert set(schema.get("required", [])) == required


@pytest.mark.parametrize("scorer_type", all_types().values(), ids=list(all_types()))
def test_configs_survive_a_round_trip_through_json(scorer_type: ScorerType) -> None:
    for example in scorer_type.examples:
        config = read_config(scorer_type.config, example.config)
        mapping = config_mapping(config)
        assert read_config(scorer_type.config, mapping) == config
        assert set(mapping) == {spec.name for spec in config_fields(scorer_type.config)}
