"""reference_match: which texts are compared, what the cosines give, and what is said of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import hypot, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.config import config_mapping
from scoring.core.configured import configure_scorer, resolve_defaults
from scoring.core.contract import Case, ConfigError, Result, ServiceError
from scoring.core.embeddings.errors import MISSING, EmbeddingError
from scoring.core.explain.explanation import explain
from scoring.core.services import AvailableServices, use_services
from scoring.models.runs.result_rows import METADATA_BYTES, metadata_text
from tests.support.coordinates import Coordinates
from tests.support.scoring import one, refused

LOCAL = {"embedding_provider": "local"}
MEAN = {**LOCAL, "aggregation": "mean"}


@pytest.fixture(autouse=True)
def coordinates() -> Iterator[Coordinates]:
    services = Coordinates()
    with use_services(services):
        yield services


def match(output: Any, expected: Any = None, config: Any = LOCAL, **case: Any) -> Result:
    return one("reference_match", output, expected, config, **case)


@pytest.mark.parametrize(
    ("output", "references", "largest", "mean"),
    [
        ("1,0", ["1,0"], 1.0, 1.0),
        ("2,0", ["7,0"], 1.0, 1.0),  # lengths do not count
        ("1,0", ["0,1"], 0.0, 0.0),
        ("1,0", ["-1,0"], 0.0, 0.0),  # clamped
        ("1,0", ["3,4"], 0.6, 0.6),
        ("1,0", ["4,3"], 0.8, 0.8),
        ("3,4", ["4,3"], 0.96, 0.96),
        ("1,1", ["1,0"], 0.707107, 0.707107),
        ("1,0", ["3,4", "4,3"], 0.8, 0.7),
        ("1,0", ["1,0", "-1,0"], 1.0, 0.5),  # clamped before the mean, not after
        ("1,0", ["-3,4", "-1,0"], 0.0, 0.0),
        ("1,0", ["1,0", "0,1", "0,1"], 1.0, 0.333333),
        ("1,0", ["1,0", "1,0", "0,1"], 1.0, 0.666667),
        ("1,0", ["3,4", "3,4"], 0.6, 0.6),  # a reference given twice counts twice
        ("1,0", ["3,4", "3,4", "0,1"], 0.6, 0.4),
        ("1,2,2", ["2,1,2"], 0.888889, 0.888889),
        ("1,2,2", ["2,-2,1"], 0.0, 0.0),
        ("2,3,6", ["6,2,3", "3,6,2"], 0.734694, 0.734694),
        ("1,1,1,1", ["1,1,1,-1"], 0.5, 0.5),
        ("1,1,1,1", ["1,0,0,0", "1,1,0,0"], 0.707107, 0.603553),
        ("0,0", ["1,0"], 0.0, 0.0),
        ("1,0", ["0,0"], 0.0, 0.0),
        ("0,0", ["0,0"], 0.0, 0.0),  # even to itself
        ("5,12", ["12,5", "-12,5", "0,0"], 0.710059, 0.236686),
    ],
)
def test_cosines_give_the_score(
    output: str, references: list[str], largest: float, mean: float
) -> None:
    assert match(output, references=tuple(references)).score == largest
    assert match(output, config=MEAN, references=tuple(references)).score == mean


NUMBERS = st.integers(-9, 9)
POINTS = st.tuples(NUMBERS, NUMBERS)


def _cosine(left: tuple[int, int], right: tuple[int, int]) -> float:
    lengths = hypot(*left) * hypot(*right)
    product = left[0] * right[0] + left[1] * right[1]
    return max(0.0, product / lengths) if lengths else 0.0


@given(output=POINTS, references=st.lists(POINTS, min_size=1, max_size=5))
def test_every_cosine_is_that_of_the_formula(
    output: tuple[int, int], references: list[tuple[int, int]]
) -> None:
    given_texts = tuple("{},{}".format(*point) for point in references)
    wanted = [_cosine(output, point) for point in references]
    with use_services(Coordinates()):
        result = match("{},{}".format(*output), config=MEAN, references=given_texts)
    assert result.metadata["similarities"] == pytest.approx(wanted, abs=1e-6)
    assert result.score == pytest.approx(sum(wanted) / len(wanted), abs=1e-6)
    place = result.metadata["winner"] - 1
    assert wanted[place] == pytest.approx(max(wanted), abs=1e-6)


@pytest.mark.parametrize(
    ("own", "of_config", "expected", "compared"),
    [
        (("1,0",), ("0,1",), "0,2", ["1,0"]),
        ((), ("0,1", "1,1"), "0,2", ["0,1", "1,1"]),
        ((), (), "0,2", ["0,2"]),
        ((), (), ["0,2", "2,0"], ["0,2", "2,0"]),
        ((), (), ["0,2", None, 7], ["0,2", "7"]),
        ((), (), 7, ["7"]),
        (("1,0",), (), None, ["1,0"]),
        ((), ("0,1",), None, ["0,1"]),
    ],
)
def test_a_cases_references_win_over_the_configs_and_these_over_the_expected_value(
    coordinates: Coordinates,
    own: tuple[str, ...],
    of_config: tuple[str, ...],
    expected: Any,
    compared: list[str],
) -> None:
    points = {"7": "7,0"}
    coordinates.embed = _reading(coordinates, points)  # type: ignore[method-assign]
    match("9,9", expected, {**LOCAL, "references": list(of_config)}, references=own)
    assert coordinates.requests == [["9,9", *[points.get(text, text) for text in compared]]]


def _reading(services: Coordinates, points: dict[str, str]) -> Any:
    """Embeds other texts in place of some."""
    embed = services.embed
    return lambda texts, **more: embed([points.get(text, text) for text in texts], **more)


@pytest.mark.parametrize(
    ("expected", "config"),
    [(None, {}), ([], {}), ([None], {}), (None, {"references": []})],
)
def test_nothing_to_compare_with_is_a_fail_whatever_the_threshold(
    coordinates: Coordinates, expected: Any, config: dict[str, Any]
) -> None:
    bound = configure_scorer("reference_match", {**LOCAL, **config}, 0.0)
    (result,) = bound.score([Case("1,0", expected)])
    assert (result.score, result.verdict, result.code) == (0.0, "fail", "expected_missing")
    assert coordinates.requests == []


def test_the_default_expected_value_serves_cases_without_any() -> None:
    config = {**LOCAL, "default_expected": ["0,1", "3,4"]}
    assert match("1,0", None, config).score == 0.6
    assert match("1,0", "1,0", config).score == 1.0


@pytest.mark.parametrize(
    ("output", "expected", "references", "score", "code"),
    [
        ('{"a": {"b": "1,0"}}', {"a": {"b": "3,4"}}, (), 0.6, ""),
        ('{"a": {"b": "1,0"}}', {"a": {"b": ["0,1", "4,3"]}}, (), 0.8, ""),
        ('{"a": {"b": "1,0"}}', "3,4", (), 0.6, ""),
        ('{"a": {"b": "1,0"}}', {"other": 1}, ("3,4",), 0.6, ""),  # expected is not looked at
        ('{"a": {"b": "1,0"}}', None, ("3,4",), 0.6, ""),
        ('{"a": {}}', "3,4", (), 0.0, "target_not_in_output"),
        ('{"a": {}}', None, ("3,4",), 0.0, "target_not_in_output"),
        ("prose", "3,4", (), 0.0, "invalid_json"),
        ('{"a": {"b": "1,0"}}', {"other": 1}, (), None, "target_not_in_expected"),
        ('{"a": {"b": "1,0"}}', {"a": {"b": None}}, (), 0.0, "expected_missing"),
    ],
)
def test_a_part_of_the_output_can_be_compared(
    output: str, expected: Any, references: tuple[str, ...], score: float | None, code: str
) -> None:
    config = {**LOCAL, "target_output_key": "a.b"}
    result = match(output, expected, config, references=references)
    assert (result.score, result.code) == (score, code)


def test_all_texts_go_in_one_request_each_once(coordinates: Coordinates) -> None:
    cases = [Case("1,0", ["0,1", "3,4"]), Case("0,1", "1,0"), Case("1,0", "3,4"), Case("x")]
    results = configure_scorer("reference_match", LOCAL).score(cases)
    assert coordinates.requests == [["1,0", "0,1", "3,4"]]
    assert coordinates.settings == [("local", "all-MiniLM-L6-v2", None)]
    assert [result.score for result in results] == [0.6, 0.0, 0.6, 0.0]


@pytest.mark.parametrize(
    ("output", "references", "config", "reason"),
    [
        ("1,0", ("3,4",), LOCAL, "similarity to the reference: 0.6"),
        ("1,0", ("0,1", "3,4", "0,1"), LOCAL, "closest reference 2 of 3: 0.6"),
        ("1,0", ("3,4", "3,4"), LOCAL, "closest reference 1 of 2: 0.6"),
        ("1,0", ("0,1", "3,4"), MEAN,
         "mean of 2 references: 0.3; closest reference 2 of 2: 0.6"),
        ("1,0", ("3,4",), MEAN, "similarity to the reference: 0.6"),
        ("1,0", ("0.69996,0.714182",), LOCAL, "similarity to the reference: 0.6999"),
        ("1,0…", ("3,4",), LOCAL, "similarity to the reference: 0.6; cut at the model's window"),
    ],
)  # fmt: skip
def test_the_reason_names_the_closest_reference(
    output: str, references: tuple[str, ...], config: dict[str, Any], reason: str
) -> None:
    result = match(output, config=config, references=references)
    assert (result.verdict, result.reason) == ("fail", reason)


def test_the_metadata_holds_every_similarity_and_what_made_them() -> None:
    result = match("1,0", config={**LOCAL, "model_name": "m"}, references=("0,1", "1,1…", "-1,0"))
    assert result.metadata == {
        "similarities": [0.0, 0.707107, 0.0],
        "references": 3,
        "winner": 2,
        "similarity": 0.707107,
        "reference": '"1,1…"',
        "model": "m@1",
        "provider": "local",
        "cut_references": 1,
    }
    assert match("1,0…", "0,1").metadata["cut_output"] is True


def test_the_metadata_of_very_many_references_fits_its_row() -> None:
    references = [f"{n},{1_000 - n}.{'5' * 200}" for n in range(500)]
    result = match("1,0", references)
    assert (result.metadata["references"], result.metadata["winner"]) == (500, 500)
    assert len(result.metadata["similarities"]) == 40
    text = metadata_text(result.metadata)
    assert len(text) <= METADATA_BYTES
    assert json.loads(text) == result.metadata


def test_more_references_than_anyone_reads_are_refused() -> None:
    result = match("1,0", ["0,1"] * 1_001)
    assert (result.status, result.code) == ("error", "too_many_references")
    assert "references" in refused("reference_match", {"references": ["a"] * 1_001})


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (EmbeddingError("embeddings_missing", MISSING), "embeddings_missing"),
        (EmbeddingError("no_key", "no endpoint is set"), "no_key"),
        (ServiceError("the endpoint is down", retry=True), "embedding_failed"),
    ],
)
def test_without_vectors_each_case_that_needs_one_is_an_error(
    fault: ServiceError, code: str
) -> None:
    cases = [Case("1,0", "0,1"), Case("1,0"), Case("1,0", "3,4")]
    with use_services(Coordinates(fault)):
        first, missing, last = configure_scorer("reference_match", LOCAL).score(cases)
    assert (first.status, first.score, first.code, first.reason) == (
        "error",
        None,
        code,
        fault.text,
    )
    assert last == first
    assert missing.code == "expected_missing"


TEAM = AvailableServices(connections=("own", "spare"), default_connection="own")
KEY = AvailableServices(has_environment_key=True)
BARE = AvailableServices()
SMALL = "text-embedding-3-small"


@pytest.mark.parametrize(
    ("config", "available", "chosen"),
    [
        ({}, BARE, ("local", "all-MiniLM-L6-v2", None)),
        ({}, TEAM, ("openai", SMALL, "own")),
        ({}, KEY, ("openai", SMALL, "environment")),
        ({}, AvailableServices(connections=("spare",)), ("local", "all-MiniLM-L6-v2", None)),
        ({}, AvailableServices(("spare",), has_environment_key=True),
         ("openai", SMALL, "environment")),
        ({"embedding_provider": "local"}, TEAM, ("local", "all-MiniLM-L6-v2", None)),
        ({"embedding_provider": "local", "connection": "own"}, TEAM,
         ("local", "all-MiniLM-L6-v2", None)),
        ({"embedding_provider": "openai"}, BARE, ("openai", SMALL, None)),
        ({"connection": "spare"}, TEAM, ("openai", SMALL, "spare")),
        ({"model_name": "m"}, TEAM, ("openai", "m", "own")),
    ],
)  # fmt: skip
def test_what_is_left_open_is_chosen_when_the_scorer_is_saved(
    config: dict[str, Any], available: AvailableServices, chosen: tuple[Any, ...]
) -> None:
    frozen = config_mapping(
        resolve_defaults(configure_scorer("reference_match", config), available).config
    )
    assert tuple(frozen[name] for name in SETTLED) == chosen


@pytest.mark.parametrize("available", [BARE, TEAM, KEY])
def test_what_was_chosen_stays_whatever_becomes_available(available: AvailableServices) -> None:
    ready = resolve_defaults(configure_scorer("reference_match", {}), available)
    later = AvailableServices(("own", "new"), "new", has_environment_key=True)
    assert resolve_defaults(ready, later).config == ready.config


SETTLED = ("embedding_provider", "model_name", "connection")


def test_a_choice_that_cannot_be_kept_is_refused() -> None:
    bare = AvailableServices(has_local_embeddings=False)
    with pytest.raises(ConfigError) as caught:
        resolve_defaults(configure_scorer("reference_match", {}), bare)
    assert caught.value.errors == {"embedding_provider": [MISSING]}
    with pytest.raises(ConfigError) as caught:
        resolve_defaults(configure_scorer("reference_match", {"connection": "gone"}), TEAM)
    assert caught.value.errors == {"connection": ["the team has no connection 'gone'"]}


def _nested(*kinds: str) -> dict[str, Any]:
    inner = {"type": "any", "name": "inner", "config": {"scorers": [{"type": k} for k in kinds]}}
    return {"scorers": [{"type": "exact_match"}, inner]}


def test_combinations_settle_their_parts_to_any_depth() -> None:
    ready = resolve_defaults(
        configure_scorer("all", _nested("levenshtein", "reference_match")), TEAM
    )
    parts = config_mapping(ready.config)["scorers"]
    assert parts[0]["config"] == {}
    levenshtein, reference = parts[1]["config"]["scorers"]
    assert levenshtein["config"] == {}
    assert reference["config"]["connection"] == "own"
    with pytest.raises(ConfigError) as caught:
        resolve_defaults(
            configure_scorer("all", _nested("reference_match")),
            AvailableServices(has_local_embeddings=False),
        )
    place = "scorers[1].config.scorers[0].config.embedding_provider"
    assert caught.value.errors == {place: [MISSING]}


@pytest.mark.parametrize(
    ("type_name", "config", "asks"),
    [
        ("reference_match", {}, True),
        ("levenshtein", {}, False),
        ("all", _nested("levenshtein"), False),
        ("all", _nested("levenshtein", "reference_match"), True),
    ],
)
def test_who_needs_services_is_known_before_scoring(
    type_name: str, config: dict[str, Any], asks: bool
) -> None:
    ready = configure_scorer(type_name, config)
    assert ready.needs_services is asks
    if not asks:
        assert resolve_defaults(ready, TEAM).config == ready.config


def why(config: dict[str, Any], *references: str, output: str = "1,0") -> Any:
    result = match(output, config=config, references=references)
    return explain("reference_match", config, 0.7, Case(output), result)


@pytest.mark.parametrize(
    ("config", "references", "verdict"),
    [
        (LOCAL, ("4,3",), "0.8 ≥ 0.7 → pass"),
        (LOCAL, ("3,4", "4,3"), "max(0.6, 0.8) = 0.8 ≥ 0.7 → pass"),
        (MEAN, ("0,1", "4,3"), "(0 + 0.8) / 2 = 0.4 < 0.7 → fail"),
        (MEAN, ("0,1", "1,0") * 5, "mean of 10 similarities = 0.5 < 0.7 → fail"),
    ],
)
def test_why_this_score(config: dict[str, Any], references: tuple[str, ...], verdict: str) -> None:
    assert why(config, *references).verdict == verdict


def test_why_this_score_names_the_closest_reference_and_every_cut() -> None:
    assert why(LOCAL, "3,4…", "4,3…", output="1,0…").found == (
        "cosine of the angle between the vectors of output and reference, 0 where negative",
        'closest reference 2 of 2: "4,3…"',
        "the output is longer than the model's window and was cut",
        "references longer than the model's window, and so cut: 2",
        "vectors by local all-MiniLM-L6-v2@1",
    )


def test_a_part_of_a_combination_is_explained_with_what_it_keeps() -> None:
    config = {"scorers": [{"type": "reference_match", "config": LOCAL}]}
    case = Case("1,0", ["3,4", "1,1"])
    (result,) = configure_scorer("all", config).score([case])
    (child,) = explain("all", config, 0.5, case, result).children
    assert child.explanation.verdict == "max(0.6, 0.7071) = 0.7071 ≥ 0.7 → pass"
    assert result.score == round(sqrt(0.5), 6)


def test_a_part_that_kept_little_is_explained_all_the_same() -> None:
    config = {"scorers": [{"type": "reference_match", "config": LOCAL}]}
    case = Case("1,0", [f"1,1.{'0' * 99}", *["0,1"] * 5])  # more and longer than a part keeps
    (result,) = configure_scorer("all", config).score([case])
    (child,) = explain("all", config, 0.5, case, result).children
    assert child.explanation.verdict == "max of 6 similarities = 0.7071 ≥ 0.7 → pass"
    assert "closest reference 1 of 6" in child.explanation.found
