"""Every built-in type has a help page's worth of words, true to its settings."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from scoring.core.config import config_fields
from scoring.core.registry import built_in_types, scorer_type
from scoring.core.scorers.extraction import KINDS

BUILT_IN = sorted(built_in_types())
CODES = {"expected_missing", "invalid_json", "nothing_extracted", "pattern_timeout"}
IN_EXPRESSIONS = {"input", "output", "output_json", "expected", "references", "metadata"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_type_says_what_it_means(name: str) -> None:
    assert scorer_type(name).semantics
    assert scorer_type(name).use_when.endswith(".")
    assert all(text.endswith((".", ")")) for text in scorer_type(name).semantics)


@pytest.mark.parametrize("name", BUILT_IN)
def test_settings_that_are_named_exist(name: str) -> None:
    named = set(re.findall(r"`([a-z_]+)`", " ".join(scorer_type(name).semantics)))
    known = {spec.name for spec in config_fields(scorer_type(name).config)}
    allowed = known | CODES | set(KINDS) | (IN_EXPRESSIONS if name == "expression" else set())
    assert named <= allowed


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_shapes_the_score_is_named(name: str) -> None:
    own = {field.name for field in fields(scorer_type(name).config)}
    said = " ".join(scorer_type(name).semantics)
    for setting in own & {
        "negate",
        "default_expected",
        "extract",
        "extract_expected",
        "target_output_key",
    }:
        is_told = f"`{setting}`" in said
        assert is_told or scorer_type(name).family in {"embedding", "llm"}, setting
