"""Custom scorers: functions, coroutines, batches, and what goes wrong in them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge

from scoring.core import custom
from scoring.core.config import About, config_fields
from scoring.core.configured import configure_scorer
from scoring.core.contract import (
    Case,
    CaseProblem,
    ConfigError,
    OutsideProblem,
    Result,
    ServiceError,
    error,
    forced_fail,
    scored,
    skipped,
)
from scoring.core.custom import batch, custom_type, load_custom, load_installed
from scoring.core.registry import CUSTOM_TYPES, ScorerType, register, scorer_type
from scoring.core.scorers.selection import TargetConfig
from tests.support.scoring import one, refused


@pytest.fixture(autouse=True)
def built_in_types() -> Iterator[None]:
    """Whatever a test registers is gone afterwards."""
    before = dict(CUSTOM_TYPES)
    yield
    CUSTOM_TYPES.clear()
    CUSTOM_TYPES.update(before)


def length_score(output: str, *, above: float = 1.0, otherwise: float = 0.5) -> float:
    """More than ten characters are better."""
    return above if len(output) > 10 else otherwise


def contains_keywords(output: str, *, keywords: list[str], case_sensitive: bool = False) -> float:
    text = output if case_sensitive else output.lower()
    found = [word for word in keywords if (word if case_sensitive else word.lower()) in text]
    return len(found) / len(keywords)


async def slow_match(input: Any, output: str, expected: Any) -> bool:  # noqa: A002 - the product's word
    await asyncio.sleep(0)
    if output == "boom":
        raise KeyError("missing")
    return output in (expected, input)


@dataclass(frozen=True, kw_only=True)
class LengthConfig(TargetConfig):
    longest: Annotated[int, Ge(1), About("Longest", "The length that scores 1.")] = 10


@batch(LengthConfig)
def relative_length(cases: Sequence[Case], config: LengthConfig) -> list[float]:
    return [len(case.output) / config.longest for case in cases]


@batch()
def loses_one(cases: Sequence[Case], config: TargetConfig) -> list[float]:
    return [1.0] * (len(cases) - (len(cases) > 1))


def answer(output: Any) -> Any:
    """Gives back what the test puts there."""
    if isinstance(output, Exception):
        raise output
    return output


def _use(*functions: Any) -> None:
    for function in functions:
        register(custom_type(function.__name__, function))


@pytest.mark.parametrize(("output", "score"), [("0123456789", 0.5), ("0123456789a", 1.0)])
def test_the_sources_length_example(output: str, score: float) -> None:
    _use(length_score)
    assert one("length_score", output).score == score


@pytest.mark.parametrize(
    ("output", "score"), [("The CAPITAL of France", 2 / 3), ("nothing", 0.0), ("paris", 1 / 3)]
)
def test_the_sources_keyword_example(output: str, score: float) -> None:
    _use(contains_keywords)
    config = {"keywords": ["paris", "france", "capital"]}
    assert one("contains_keywords", output, None, config).score == pytest.approx(score, abs=1e-9)


def test_a_function_becomes_a_type_like_any_other() -> None:
    _use(length_score)
    made = scorer_type("length_score")
    assert (made.label, made.summary) == ("Length score", "More than ten characters are better.")
    assert (made.family, made.default_threshold, made.version) == ("custom", 0.5, 1)
    assert made.path == "tests.core.test_custom.length_score"
    assert made.examples == ()


def test_keyword_only_parameters_become_the_config() -> None:
    def judge(  # type: ignore[no-untyped-def] # people leave annotations out
        output: str,
        *,
        words: list[str],
        mode: Literal["a", "b"] = "a",
        count: Annotated[int, Ge(1), About("How many", "At least one.")] = 3,
        tags: list[str] = [],  # noqa: B006 - a default that people write
        plain=1.5,
    ) -> bool:
        return True

    specs = {spec.name: spec for spec in config_fields(custom_type("judge", judge).config)}
    assert list(specs) == ["words", "mode", "count", "tags", "plain", "target_output_key"]
    assert (specs["words"].kind, specs["words"].required) == ("list of text", True)
    assert (specs["mode"].kind, specs["mode"].choices) == ("choice", ("a", "b"))
    assert (specs["count"].label, specs["count"].default, specs["count"].minimum) == (
        "How many",
        3,
        1,
    )
    assert (specs["tags"].default, specs["tags"].required) == ([], False)
    assert (specs["plain"].kind, specs["plain"].default) == ("number", 1.5)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({}, "keywords"),
        ({"keywords": "paris"}, "keywords"),
        ({"keywords": [1]}, "keywords"),
        ({"keywords": ["a"], "case_sensitive": 1}, "case_sensitive"),
        ({"keywords": ["a"], "typo": 1}, "typo"),
    ],
)
def test_the_config_of_a_function_is_checked(config: dict[str, Any], name: str) -> None:
    _use(contains_keywords)
    assert list(refused("contains_keywords", config)) == [name]


def test_a_coroutine_is_awaited() -> None:
    _use(slow_match)
    cases = [Case("a", "a"), Case("boom", "x"), Case("b", "c", "b"), Case("d", "e")]
    results = configure_scorer("slow_match").score(cases)
    assert [result.score for result in results] == [1.0, None, 1.0, 0.0]
    assert (results[1].code, results[1].reason) == ("scorer_failed", "KeyError: 'missing'")


def test_a_coroutine_is_awaited_inside_a_running_loop() -> None:
    _use(slow_match)

    async def inside() -> list[Result]:
        return configure_scorer("slow_match").score([Case("a", "a")])

    with ThreadPoolExecutor(1) as thread:  # in this one a browser test may have left its loop
        (result,) = thread.submit(asyncio.run, inside()).result()
    assert result.score == 1.0


def test_coroutines_of_one_batch_wait_together() -> None:
    together: list[int] = []
    running = 0

    async def counting(output: str) -> bool:
        nonlocal running
        running += 1
        together.append(running)
        await asyncio.sleep(0)
        running -= 1
        return True

    _use(counting)
    configure_scorer("counting").score([Case("x")] * 100)
    assert max(together) == custom.CONCURRENCY


def test_a_batch_function_gets_all_cases_and_its_config() -> None:
    _use(relative_length)
    results = configure_scorer("relative_length", {"longest": 4}).score([Case("ab"), Case("abcd")])
    assert [result.score for result in results] == [0.5, 1.0]
    assert list(refused("relative_length", {"longest": 0})) == ["longest"]


def test_a_fault_in_a_batch_hits_only_its_case() -> None:
    _use(relative_length)
    results = configure_scorer("relative_length").score(
        [Case("abcde"), Case(5), Case("x" * 20), Case("ab")]
    )
    assert [result.score for result in results] == [0.5, None, None, 0.2]
    assert [result.code for result in results] == ["", "scorer_failed", "score_out_of_range", ""]


def test_a_batch_that_loses_results_is_asked_case_by_case() -> None:
    _use(loses_one)
    assert [r.score for r in configure_scorer("loses_one").score([Case("a"), Case("b")])] == [
        1.0,
        1.0,
    ]


@pytest.mark.parametrize(
    ("given", "status", "score", "code"),
    [
        (0.4, "scored", 0.4, ""),
        (1, "scored", 1.0, ""),
        (True, "scored", 1.0, ""),
        (False, "scored", 0.0, ""),
        (scored(0.4, "why", {"n": 1}), "scored", 0.4, ""),
        (Result("scored", 0.4, "pass", "", {}), "scored", 0.4, ""),
        (Result("scored", 1.0, "fail", "", {}), "scored", 1.0, ""),
        (forced_fail("mine", "unusable"), "scored", 0.0, "mine"),
        (skipped("mine", "nothing to judge"), "skipped", None, "mine"),
        (error("mine", "broken"), "error", None, "mine"),
        (1.5, "error", None, "score_out_of_range"),
        (-0.1, "error", None, "score_out_of_range"),
        (math.nan, "error", None, "score_out_of_range"),
        (math.inf, "error", None, "score_out_of_range"),
        (10**400, "error", None, "scorer_failed"),
        ("0.5", "error", None, "not_a_score"),
        (None, "error", None, "not_a_score"),
        ({"score": 1}, "error", None, "not_a_score"),
        (Result("scored", None, None, "", {}), "error", None, "not_a_score"),
        (scored(0.5, "", {"code": "x"}), "error", None, "invalid_result"),
        (scored(0.5, "", {"x": object()}), "error", None, "invalid_result"),
        (scored(0.5, "", {"x": math.nan}), "error", None, "invalid_result"),
        (RuntimeError("boom"), "error", None, "scorer_failed"),
        (RecursionError(), "error", None, "scorer_failed"),
        (CaseProblem("too_odd", "it is odd"), "scored", 0.0, "too_odd"),
        (OutsideProblem("bad_expected", "it is bad"), "error", None, "bad_expected"),
    ],
)
def test_what_a_function_may_give(given: Any, status: str, score: float | None, code: str) -> None:
    _use(answer)
    good, bad = configure_scorer("answer").score([Case(1.0), Case(given)])
    assert good.verdict == "pass"
    assert (bad.status, bad.score, bad.code) == (status, score, code)
    assert bad.verdict == (
        {0.4: "fail", 0.0: "fail", 1.0: "pass"}[score] if score is not None else None
    )


def test_a_service_that_does_not_answer_is_for_the_caller() -> None:
    _use(answer)
    with pytest.raises(ServiceError):
        configure_scorer("answer").score([Case(ServiceError("refused", retry=True))])


def test_custom_types_look_at_a_target_and_pass_a_missing_expected_value() -> None:
    def both(output: Any, expected: Any) -> bool:
        return output == "x" and expected is None

    _use(both)
    assert one("both", '{"a": {"b": "x"}}', None, {"target_output_key": "a.b"}).score == 1.0
    assert one("both", "{", None, {"target_output_key": "a.b"}).code == "invalid_json"


def test_custom_types_combine() -> None:
    _use(length_score)
    config = {"scorers": [{"type": "length_score"}, {"type": "exact_match"}]}
    assert one("all", "short", "short", config).score == 0.5


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda text: 1, "the parameter text is none of input, output, expected"),
        (lambda *values: 1, "the parameter values"),
        (lambda **values: 1, "the parameter values"),
        (lambda output, *, threshold=1: 1, "threshold is reserved"),
        (lambda output, *, target_output_key="": 1, "target_output_key is reserved"),
    ],
)
def test_a_function_that_does_not_fit_is_refused(function: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        custom_type("odd", function)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="int is not a function"):
        custom_type("odd", 5)  # type: ignore[arg-type] # the point of the test


def test_dotted_paths_are_loaded_under_their_own_names() -> None:
    load_custom(["tests.core.test_custom.length_score", "tests.core.test_custom:relative_length"])
    load_custom(["tests.core.test_custom.length_score"])  # twice is the same
    assert one("length_score", "0123456789a").score == 1.0
    assert scorer_type("relative_length").config is LengthConfig


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("no.such.module.thing", "No module named"),
        ("tests.core.test_custom.nothing", "no attribute"),
        ("nodots", "nodots"),
        ("math.pi", "float is not a function"),
        ("os.path.join", "is none of"),
    ],
)
def test_a_path_that_cannot_be_loaded_is_a_config_error(path: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_custom([path])
    assert text in caught.value.errors["EVALSITE_SCORERS"][0]


def test_installed_packages_are_found_when_a_type_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = "evalsite.scorers"
    installed = EntryPoints(
        [
            EntryPoint("length", "tests.core.test_custom:length_score", group),
            EntryPoint("broken", "no.such.module:thing", group),
            EntryPoint("levenshtein", "tests.core.test_custom:length_score", group),
        ]
    )
    monkeypatch.setattr(custom, "entry_points", lambda group: installed.select(group=group))
    load_installed.cache_clear()
    assert scorer_type("length").summary == "More than ten characters are better."
    broken, taken = load_installed()
    assert broken.startswith("broken (no.such.module:thing): ModuleNotFoundError")
    assert "the name levenshtein is taken" in taken
    load_installed.cache_clear()


def test_a_package_may_bring_a_whole_type() -> None:
    known = scorer_type("exact_match")
    whole = ScorerType("mine", "Mine", "It is mine.", known.config, known.score, 0.9)
    assert custom_type("mine", whole) is whole
