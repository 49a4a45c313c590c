"""Facts from the sources of our scorers: what binds us agrees, what we decide otherwise differs.

Every row of every binding file is compared, asserted to depart, or counted under the reason for
which it does not bind, so that none is dropped unseen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, ConfigError, Result, scored
from scoring.core.custom import custom_type
from scoring.core.registry import CUSTOM_TYPES, register

Row = dict[str, Any]

NAMES = {
    "deepagents.exactMatch": ("exact_match", {}),
    "deepagents.includes": ("includes", {}),
    "deepagents.regex": ("regex", {}),
    "deepagents.levenshtein": ("levenshtein", {"case_sensitive": True, "decimals": None}),
    "deepagents.jsonMatch": ("json_match", {}),
    "deepagents.all": ("all", {}),
    "deepagents.any": ("any", {}),
    "deepagents.weighted": ("weighted", {}),
    "custom.contains_keywords": ("contains_keywords", {}),
    "custom.length_over_10": ("length_over_10", {}),
    "json_similarity_0_100": ("json_similarity", {}),
}

# File: rows compared, rows that depart, rows that do not bind by reason.
COUNTS = {
    "levenshtein_2signal": (219, 0, {"score is null": 1}),
    "json_similarity_uipath_oracle": (219, 6, {"quirk": 3, "error": 3}),
    "uipath_tests": (10, 0, {"another scorer": 45}),
    "deepagents_scorers": (56, 9, {"quirk": 1}),
    "seed_documents": (20, 0, {}),
    "reference_match_minilm": (86, 0, {}),
}

#: Files with rows whose score is a similarity of embeddings.
EMBEDDED = ("reference_match_minilm", "seed_documents")


@pytest.fixture(autouse=True)
def custom_types() -> Iterator[None]:
    """The sources' own examples of custom scorers."""
    before = dict(CUSTOM_TYPES)
    for function in (fixed, contains_keywords, length_over_10):
        register(custom_type(function.__name__, function))
    yield
    CUSTOM_TYPES.clear()
    CUSTOM_TYPES.update(before)


def fixed(output: Any, *, score: float) -> Result:
    return scored(score)


def contains_keywords(output: str, *, keywords: list[str], case_sensitive: bool = False) -> float:
    text = output if case_sensitive else output.lower()
    return sum(word in text for word in keywords) / len(keywords)


def length_over_10(output: str, *, above: float, otherwise: float) -> float:
    return above if len(output) > 10 else otherwise


def _rows(facts: Path, name: str) -> list[Row]:
    text = (facts / "conformance" / f"{name}_open.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


def _why_not_binding(row: Row) -> str:
    if row["scorer"].startswith("uipath."):
        return "another scorer"
    marks = [mark for mark in ("quirk", "error", "expected_text", "output_text") if mark in row]
    return marks[0] if marks else "score is null" if row["score"] is None else ""


def _child(spec: Row, **more: Any) -> Row:
    spec = dict(spec)
    name = spec.pop("scorer")
    if name == "fixed":
        return {"type": "fixed", "config": spec, **more}
    type_name, config = NAMES[f"deepagents.{name}"]
    return {"type": type_name, "config": {**config, **spec}, **more}


def _config(row: Row) -> Row:
    config = {key: value for key, value in row["config"].items() if key != "scorer"}
    children = config.pop("of", None)
    if isinstance(children, dict):
        config["scorers"] = [
            _child(child["scorer"], name=name, weight=child["weight"])
            for name, child in children.items()
        ]
    elif children is not None:
        config["scorers"] = [_child(child) for child in children]
    return config


def _ours(row: Row) -> Result:
    type_name, config = NAMES.get(row["scorer"], (row["scorer"], {}))
    bound = configure_scorer(type_name, {**config, **_config(row)})
    (result,) = bound.score([Case(row["output"], row["expected"], row["input"])])
    return result


def _sorted_rows(facts: Path, name: str) -> tuple[list[Row], list[Row], Counter[str]]:
    """Rows that bind, rows that depart, and the others counted by reason."""
    binding, departing, others = [], [], Counter[str]()
    for row in _rows(facts, name):
        if row.get("departs"):
            departing.append(row)
        elif reason := _why_not_binding(row):
            others[reason] += 1
        else:
            binding.append(row)
    return binding, departing, others


@pytest.mark.parametrize("name", COUNTS)
def test_no_row_is_dropped_unseen(facts: Path, name: str) -> None:
    binding, departing, others = _sorted_rows(facts, name)
    assert (len(binding), len(departing), dict(others)) == COUNTS[name]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in EMBEDDED)) for name in COUNTS],
)
def test_binding_rows_agree(facts: Path, name: str, request: pytest.FixtureRequest) -> None:
    rows = _sorted_rows(facts, name)[0]
    if any(row["scorer"] == "reference_match" for row in rows):
        request.getfixturevalue("minilm")
    for row in rows:
        result = _ours(row)
        wanted = row["score"] / 100 if row["scorer"] == "json_similarity_0_100" else row["score"]
        assert result.score == pytest.approx(wanted, abs=row.get("tolerance", 1e-9)), row["id"]
        if row["passed"] is not None:
            assert (result.verdict == "pass") == row["passed"], row["id"]


def test_the_arithmetic_behind_levenshtein_agrees(facts: Path) -> None:
    for row in _sorted_rows(facts, "levenshtein_2signal")[0]:
        if "distance" in row:
            arithmetic = (row["distance"], row["max_length"])
            metadata = _ours(row).metadata
            assert (metadata["distance"], metadata["max_length"]) == arithmetic, row["id"]


def test_the_arithmetic_behind_json_similarity_agrees(facts: Path) -> None:
    for row in _sorted_rows(facts, "json_similarity_uipath_oracle")[0]:
        metadata = _ours(row).metadata
        assert metadata["matched"] == pytest.approx(row["matched"], abs=1e-9), row["id"]
        assert metadata["total"] == row["total"], row["id"]


@pytest.mark.slow
@pytest.mark.parametrize("name", EMBEDDED)
def test_the_similarities_behind_reference_match_agree(facts: Path, minilm: str, name: str) -> None:
    for row in _sorted_rows(facts, name)[0]:
        if row["scorer"] == "reference_match":
            found, wanted = _ours(row).metadata, row["similarities"]
            assert found["similarities"] == pytest.approx(wanted, abs=row["tolerance"]), row["id"]
            assert wanted[found["winner"] - 1] == max(wanted), row["id"]


def test_an_expected_value_without_leaves_departs_from_1_to_a_skip(facts: Path) -> None:
    for row in _sorted_rows(facts, "json_similarity_uipath_oracle")[1]:
        assert row["score"] == 1.0
        assert _ours(row).status == "skipped", row["id"]


DEPARTURES = {
    "missing expected is a fail here": 3,
    "weights must be positive here": 2,
    "code points, not UTF-16 units": 2,
    "arrays and objects become compact JSON text here": 1,
    "an empty combination is a config error here": 1,
}


def test_the_departures_from_deepagents_are_the_known_ones(facts: Path) -> None:
    departing = _sorted_rows(facts, "deepagents_scorers")[1]
    assert Counter(row["departs_why"] for row in departing) == DEPARTURES
    for row in departing:
        _assert_departs(row)


def _assert_departs(row: Row) -> None:
    why = row["departs_why"]
    if why.startswith(("weights", "an empty combination")):
        with pytest.raises(ConfigError) as caught:
            _ours(row)
        assert all(field.startswith("scorers") for field in caught.value.errors)
        return
    result = _ours(row)
    if why.startswith("missing"):
        assert (result.score, result.verdict, result.code) == (0.0, "fail", "expected_missing")
    elif why.startswith("arrays"):
        assert row["score"] == 1
        assert result.score == 0.0
    else:
        assert result.score == (1.0 if row["scorer"] == "deepagents.regex" else 0.0)
