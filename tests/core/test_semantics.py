"""Every built-in type has a help page's worth of words, true to its settings."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from scoring.core.config import config_fields
from scoring.core.registry import TYPES
from scoring.core.semantics import SEMANTICS, semantics_of

BUILT_IN = sorted(name for name, kind in TYPES.items() if kind.family != "custom")
EVERYWHERE = {"expected_missing", "pattern_timeout"}  # codes
IN_EXPRESSIONS = {"input", "output", "output_json", "expected", "metadata"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_type_says_what_it_means(name: str) -> None:
    assert semantics_of(name)
    assert all(text.endswith((".", ")")) for text in semantics_of(name))


@pytest.mark.parametrize("name", BUILT_IN)
def test_settings_that_are_named_exist(name: str) -> None:
    named = set(re.findall(r"`([a-z_]+)`", " ".join(semantics_of(name))))
    known = {spec.name for spec in config_fields(TYPES[name].config)}
    allowed = known | EVERYWHERE | (IN_EXPRESSIONS if name == "expression" else set())
    assert named <= allowed


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_shapes_the_score_is_named(name: str) -> None:
    own = {field.name for field in fields(TYPES[name].config)}
    said = " ".join(semantics_of(name))
    for setting in own & {"negate", "default_expected", "target_output_key"}:
        is_told = f"`{setting}`" in said
        assert is_told or TYPES[name].family in {"embedding", "llm"}, setting


def test_there_is_nothing_for_types_that_are_not_there() -> None:
    assert set(SEMANTICS) == set(BUILT_IN)
    assert semantics_of("own_type") == ()
