"""What differs between two configs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.config_diff import (
    MISSING,
    SettingChange,
    drop_child_defaults,
    drop_defaults,
    find_changes,
    spell_out_defaults,
)
from scoring.core.registry import all_types


def part(name: str, kind: str = "regex", **config: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "config": config, "weight": 1.0}


def of(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"scorers": list(parts)}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"decimals": 2}, {"decimals": 2}, []),
        ({"decimals": 2}, {"decimals": 3}, [("decimals", 2, 3)]),
        ({"decimals": 2}, {"decimals": None}, [("decimals", 2, None)]),
        ({}, {"mode": "any"}, [("mode", MISSING, "any")]),
        ({"mode": "any"}, {}, [("mode", "any", MISSING)]),
        ({"negate": True}, {"negate": 1}, [("negate", True, 1)]),
        ({"n": 1}, {"n": 1.0}, []),
        ({"flags": [True]}, {"flags": [1]}, [("flags", [True], [1])]),
        ({"choices": {"yes": 1, "no": 0}}, {"choices": {"yes": 0.5, "maybe": 0}},
         [("choices.yes", 1, 0.5), ("choices.no", 0, MISSING), ("choices.maybe", MISSING, 0)]),
        ({"schema": {"type": "object"}}, {"schema": None}, [("schema", {"type": "object"}, None)]),
        ({"odd key": 1}, {"odd key": 2}, [('["odd key"]', 1, 2)]),
        (of(part("a", pattern="x")), of(part("a", pattern="y")),
         [("scorers.a.config.pattern", "x", "y")]),
        (of(part("b")), of(part("a"), part("b")), [("scorers.a", MISSING, part("a"))]),
        (of(part("a"), part("b")), of(part("b")), [("scorers.a", part("a"), MISSING)]),
        (of(part("a"), part("b")), of(part("b"), part("a")),
         [("scorers: order of the scorers", ["a", "b"], ["b", "a"])]),
        (of(part(""), part("")), of(part(""), part("", pattern="x")),
         [('scorers["regex 2"].config.pattern', MISSING, "x")]),
        (of(part("m", "all", **of(part("a", pattern="x")))),
         of(part("m", "all", **of(part("a", pattern="y")))),
         [("scorers.m.config.scorers.a.config.pattern", "x", "y")]),
    ],
)  # fmt: skip
def test_each_setting_that_differs_is_named(
    old: dict[str, Any], new: dict[str, Any], found: list[tuple[str, Any, Any]]
) -> None:
    assert find_changes(old, new) == [SettingChange(*one) for one in found]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
CONFIGS = st.dictionaries(st.sampled_from(["a", "b", "scorers"]), JSON)


@given(CONFIGS, CONFIGS)
def test_there_are_none_exactly_where_the_configs_are_equal(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    import json

    def written(value: Any) -> str:
        return json.dumps(value, sort_keys=True)

    assert (not find_changes(old, new)) == (written(old) == written(new))
    assert len(find_changes(old, new)) == len(find_changes(new, old))


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({}, {"decimals": 2}, True),
        ({}, {"decimals": 3}, False),
        ({"case_sensitive": False}, {"decimals": 2, "max_chars": 10_000}, True),
    ],
)
def test_defaults_are_written_down(one: Any, other: Any, is_same: bool) -> None:
    assert (
        spell_out_defaults("levenshtein", one) == spell_out_defaults("levenshtein", other)
    ) is is_same
    nested = [{"scorers": [{"type": "levenshtein", "config": each}]} for each in (one, other)]
    spelled = [
        spell_out_defaults("all", {"scorers": [{"type": "all", "config": n}]}) for n in nested
    ]
    assert (spelled[0] == spelled[1]) is is_same


@pytest.mark.parametrize("name", sorted(all_types()))
def test_a_config_that_is_spelled_out_is_spelled_out_alike_again(name: str) -> None:
    for example in all_types()[name].examples:
        whole = spell_out_defaults(name, example.config)
        assert spell_out_defaults(name, whole) == whole
        assert find_changes(whole, spell_out_defaults(name, example.config)) == []
        assert spell_out_defaults(name, drop_defaults(name, whole)) == whole


def test_a_weight_is_shortened_to_what_was_typed() -> None:
    parts = drop_defaults("weighted", of(part("a") | {"weight": 3.0}, part("b") | {"weight": 0.5}))
    assert [str(each["weight"]) for each in parts["scorers"]] == ["3", "0.5"]


@pytest.mark.parametrize("config", [{"nonsense": 1}, {}])
def test_a_config_of_a_type_that_is_gone_comes_back_as_it_is(config: dict[str, Any]) -> None:
    assert spell_out_defaults("gone", config) == config


@pytest.mark.parametrize(
    ("type_name", "config", "short"),
    [
        ("levenshtein", {"decimals": 2, "max_chars": 5}, {"max_chars": 5}),
        ("levenshtein", {"decimals": None}, {"decimals": None}),
        ("exact_match", {"trim": False, "default_expected": None}, {}),
        ("all", of(part("a", "exact_match", trim=False) | {"weight": 2.0}, part("")),
         of({"name": "a", "type": "exact_match", "config": {"trim": False}, "weight": 2.0},
            {"type": "regex"})),
        ("gone", {"any": 1}, {"any": 1}),
    ],
)  # fmt: skip
def test_a_config_is_shortened_by_its_defaults(
    type_name: str, config: dict[str, Any], short: dict[str, Any]
) -> None:
    assert drop_defaults(type_name, config) == short


def test_a_part_is_read_without_its_defaults() -> None:
    spelled = part("a", "levenshtein", decimals=2, max_chars=5)
    assert drop_child_defaults(spelled) == {
        "name": "a",
        "type": "levenshtein",
        "config": {"max_chars": 5},
    }
