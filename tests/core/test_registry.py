"""The registry: which types there are, and their worked examples."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import ConfigError
from scoring.core.registry import Example, ScorerType, register, scorer_type
from scoring.core.services import use_services
from tests.support.judges import Stated

DEFAULT_THRESHOLDS = {
    "exact_match": 1.0,
    "includes": 1.0,
    "regex": 1.0,
    "levenshtein": 0.7,
    "json_match": 1.0,
    "json_similarity": 0.9,
    "json_schema": 1.0,
    "numeric": 1.0,
    "expression": 0.5,
    "reference_match": 0.7,
    "factuality": 0.5,
    "llm_judge": 0.5,
    "all": 0.5,
    "any": 0.5,
    "weighted": 0.5,
}

EXAMPLES = [
    (name, example) for name in DEFAULT_THRESHOLDS for example in scorer_type(name).examples
]


@pytest.mark.parametrize(("name", "threshold"), DEFAULT_THRESHOLDS.items())
def test_every_type_has_its_default_threshold(name: str, threshold: float) -> None:
    assert scorer_type(name).default_threshold == threshold
    assert scorer_type(name).name == name


@pytest.mark.parametrize("name", DEFAULT_THRESHOLDS)
def test_every_type_explains_itself_in_a_sentence(name: str) -> None:
    known = scorer_type(name)
    assert known.summary.endswith(".")
    assert known.label
    assert known.examples
    assert known.path.startswith("scoring.core.scorers.")
    assert known.version == 1


@pytest.mark.parametrize(
    ("name", "example"),
    [
        pytest.param(
            name,
            example,
            id=f"{name}: {example.note}",
        )
        for name, example in EXAMPLES
    ],
)
def test_worked_examples_come_out_as_the_help_page_says(
    name: str, example: Example, request: pytest.FixtureRequest
) -> None:
    is_embedding = scorer_type(name).family == "embedding"
    if is_embedding:
        request.getfixturevalue("minilm")
    with use_services(Stated(example.replies)) if example.replies else nullcontext():
        (result,) = configure_scorer(name, example.config).score([example.case])
    wanted = pytest.approx(example.score, abs=1e-5) if is_embedding else example.score
    assert (result.score, result.code) == (wanted, example.code)


@pytest.mark.parametrize("name", ["", "nope", "Exact_match", 5, None, ["exact_match"]])
def test_an_unknown_type_is_a_config_error_that_names_the_known(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        scorer_type(name)
    assert "levenshtein" in caught.value.errors["type"][0]


@pytest.mark.parametrize("name", ["", "Upper", "1st", "a b", "x" * 65, "ünïcode"])
def test_bad_names_are_refused(name: str) -> None:
    known = scorer_type("exact_match")
    with pytest.raises(ValueError, match="is no name"):
        register(ScorerType(name, "", "", known.config, known.score, 0.5))


def test_a_taken_name_is_refused() -> None:
    known = scorer_type("exact_match")
    with pytest.raises(ValueError, match="taken by scoring"):
        register(ScorerType("regex", "", "", known.config, known.score, 0.5))
