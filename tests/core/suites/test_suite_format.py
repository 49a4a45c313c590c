"""A suite as one text: what is written is read back, and what is no suite is refused."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.config_diff import spell_out_defaults
from scoring.core.contract import ConfigError
from scoring.core.names import is_one_line
from scoring.core.registry import all_types
from scoring.core.suites.suite_format import (
    MAX_CHARS,
    MAX_SCORERS,
    DescribedScorer,
    SuiteDocument,
    SuiteFormat,
    detect_suite_format,
    read_suite,
    write_suite,
)
from tests.support.thoroughness import examples

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
NAMES = TEXT.map(str.strip).filter(lambda name: bool(name) and is_one_line(name))
THRESHOLDS = st.none() | st.floats(0, 1)
PARTS = st.one_of(
    st.builds(lambda text: ("exact_match", {"default_expected": text}), TEXT),
    st.builds(lambda values: ("includes", {"values": values}), st.lists(TEXT, min_size=1)),
    st.builds(lambda n: ("levenshtein", {"decimals": n}), st.none() | st.integers(0, 9)),
    st.builds(
        lambda labels: ("llm_judge", {"model": "m", "rubric": "a\n b: c\n", "choices": labels}),
        st.dictionaries(NAMES, st.floats(0, 1), min_size=2, max_size=4),
    ),
    st.sampled_from(
        [(kind.name, dict(e.config)) for kind in all_types().values() for e in kind.examples]
    ),
)
COMBINED = st.builds(
    lambda kind, parts: (
        kind,
        {"scorers": [{"type": t, "config": c, "weight": w} for (t, c), w in parts]},
    ),
    st.sampled_from(["all", "any", "weighted"]),
    st.lists(st.tuples(PARTS, st.floats(0.01, 99)), min_size=1, max_size=3),
)


@st.composite
def suites(draw: st.DrawFn) -> SuiteDocument:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    parts = [draw(PARTS | COMBINED) for _ in names]
    scorers = (
        DescribedScorer(name, kind, config, draw(THRESHOLDS))
        for name, (kind, config) in zip(names, parts, strict=True)
    )
    return SuiteDocument(draw(NAMES), tuple(scorers))


@pytest.mark.parametrize("spelling", get_args(SuiteFormat))
@settings(deadline=None, max_examples=examples(60))
@given(suite=suites())
def test_what_is_written_is_read_back(spelling: SuiteFormat, suite: SuiteDocument) -> None:
    again = read_suite(write_suite(suite, spelling), spelling=spelling)
    assert again.name == suite.name
    for one, other in zip(suite.scorers, again.scorers, strict=True):
        assert (one.name, one.type, one.threshold) == (other.name, other.type, other.threshold)
        assert spell_out_defaults(one.type, one.config) == spell_out_defaults(
            other.type, other.config
        )
    assert write_suite(again, spelling) == write_suite(
        read_suite(write_suite(again, spelling), spelling=spelling), spelling
    )


def test_a_written_suite_is_easily_read() -> None:
    config = {"decimals": 3, "case_sensitive": False, "max_chars": 10_000}
    suite = SuiteDocument("release", (DescribedScorer("close", "levenshtein", config, 0.8),))
    assert write_suite(suite, "yaml") == (
        "name: release\nscorers:\n  - name: close\n    type: levenshtein\n    threshold: 0.8\n"
        "    config:\n      decimals: 3\n"
    )
    whole = {"name": "close", "type": "levenshtein", "threshold": 0.8, "config": {"decimals": 3}}
    assert json.loads(write_suite(suite, "json")) == {"name": "release", "scorers": [whole]}


@pytest.mark.parametrize(
    ("file_name", "text", "spelling"),
    [
        ("a.yaml", "{}", "yaml"),
        ("a.yml", "", "yaml"),
        ("a.json", "name: x", "json"),
        ("", ' {"name"', "json"),
        ("a.txt", "[1]", "json"),
        ("", "name: x", "yaml"),
    ],
)
def test_a_spelling_is_told_by_ending_or_beginning(
    file_name: str, text: str, spelling: str
) -> None:
    assert detect_suite_format(file_name, text) == spelling


@pytest.mark.parametrize(
    ("scorer", "name", "threshold"),
    [
        ({"type": "regex", "config": {"pattern": "x"}}, "regex", None),
        ({"type": "exact_match", "name": " same ", "threshold": 1}, "same", 1.0),
        ({"type": "exact_match", "config": {"threshold": 0.4}}, "exact_match", 0.4),
        ({"type": "exact_match", "config": {"threshold": 0.4}, "threshold": 0}, "exact_match", 0.0),
        ({"type": "exact_match", "config": None, "name": None}, "exact_match", None),
        ({"type": "exact_match", "name": "x" * 200}, "x" * 120, None),
    ],
)
def test_what_is_left_out_has_a_meaning(
    scorer: dict[str, Any], name: str, threshold: float | None
) -> None:
    (found,) = read_suite(json.dumps({"scorers": [scorer]}), spelling="json").scorers
    assert (found.name, found.threshold) == (name, threshold)
    assert "threshold" not in found.config


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        ("a: *x", "suite", "cannot be read as YAML: anchors and aliases"),
        ('name: "a\\0b"\nscorers: [{type: exact_match}]', "suite", "at name holds a NUL character"),
        ("- a", "suite", 'needs a list "scorers"'),
        ("scorers: []", "suite", "at least one scorer"),
        ("name: x\nscorers: {}", "suite", 'needs a list "scorers"'),
        ("scorers: [{type: exact_match}]\nteam: x", "team", "not known"),
        ("scorers: [{name: x}]", "scorers[0]", 'needs a "type"'),
        ("scorers: [exact_match]", "scorers[0]", 'needs a "type"'),
        ("scorers: [{type: exact_match, weight: 1}]", "scorers[0]", 'needs a "type"'),
        ("scorers: [{type: nonsense}]", "scorers[0].type", "is not a scorer type"),
        ("scorers: [{type: exact_match, config: [1]}]", "scorers[0].config", "object"),
        ("scorers: [{type: exact_match, threshold: 2}]", "scorers[0].threshold", "0 to 1"),
        ("scorers: [{type: exact_match, threshold: 'x'}]", "scorers[0].threshold", "0 to 1"),
        ("scorers: [{type: regex, config: {pattern: '('}}]", "scorers[0].pattern", "group"),
        ("scorers: [{type: exact_match}, {type: exact_match}]", "scorers[1].name", "two scorers"),
        ("x" * (MAX_CHARS + 1), "suite", "longer than 500,000"),
        ("scorers:\n" + "- {type: exact_match}\n" * (MAX_SCORERS + 1), "suite", "more than 200"),
    ],
)
def test_what_is_no_suite_is_refused_by_field(text: str, field: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_suite(text, spelling="yaml")
    assert says in " ".join(caught.value.errors[field])


def test_scorers_take_other_names_and_never_one_name_twice() -> None:
    suite = SuiteDocument(
        "s", (DescribedScorer("a", "exact_match", {}), DescribedScorer("b", "exact_match", {}))
    )
    other = suite.renamed("t", {1: "c"})
    assert (other.name, [each.name for each in other.scorers]) == ("t", ["a", "c"])
    assert suite.renamed("", {0: ""}) == suite
    with pytest.raises(ConfigError, match="two scorers are called 'a'"):
        suite.renamed("", {1: "a"})


def test_a_suite_may_have_as_many_scorers_as_the_limit() -> None:
    scorers = [{"type": "exact_match", "name": str(number)} for number in range(MAX_SCORERS)]
    assert len(read_suite(json.dumps({"scorers": scorers}), spelling="json").scorers) == MAX_SCORERS
