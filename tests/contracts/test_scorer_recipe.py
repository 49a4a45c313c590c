"""A scorer is added by one module and one line of the registry."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from scoring.core import registry
from scoring.core.config import config_schema
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Json, Result
from scoring.core.explain.explanation import explain
from scoring.core.json_text import to_text
from scoring.core.registry import scorer_type
from scoring.engine.runs import execution
from scoring.engine.tryout import tryout
from scoring.models import Score, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

MODULE = '''
"""The scorer that counts words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from scoring.core.config import About
from scoring.core.contract import Case, Result, scored
from scoring.core.json_text import to_text
from scoring.core.registry import Derivation, Example, ScorerType, StoredResult
from scoring.core.scorers.selection import TAKES_PARTS, TargetConfig, score_each


@dataclass(frozen=True, kw_only=True)
class WordCountConfig(TargetConfig):
    most: Annotated[int, About("Most words", "The output may have so many words.")] = 3


def word_count(cases: Sequence[Case], config: WordCountConfig) -> list[Result]:
    """1.0 when the output has few enough words."""

    def count(case: Case) -> Result:
        words = len(to_text(case.output).split())
        return scored(float(words <= config.most), "", {"words": words})

    return score_each(count, cases, config)


def explain_word_count(stored: StoredResult) -> Derivation:
    return Derivation([f"{stored.facts['words']} words, {stored.config.most} allowed"])


SCORER_TYPES: Final = (
    ScorerType(
        name="word_count",
        label="Word count",
        summary="1.0 when the output has few enough words.",
        config=WordCountConfig,
        score=word_count,
        default_threshold=1.0,
        explain=explain_word_count,
        is_quick=lambda _: True,
        semantics=("Words are separated by white space.", TAKES_PARTS),
        examples=(Example({"most": 2}, Case("one two three"), 0.0, "Three words are too many."),),
    ),
)
'''


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    (tmp_path / "word_count.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "SCORER_MODULES", (*registry.SCORER_MODULES, "word_count"))
    monkeypatch.setattr(execution, "_configured", {})
    registry.built_in_types.cache_clear()
    yield
    registry.built_in_types.cache_clear()
    sys.modules.pop("word_count", None)


@pytest.fixture
def browser(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def test_it_scores_and_explains_the_score() -> None:
    scorer, case = configure_scorer("word_count", {"most": 2}), Case("one two three")
    (result,) = scorer.score([case])
    assert (result.score, result.verdict) == (0.0, "fail")
    explanation = explain("word_count", {"most": 2}, 1.0, case, result)
    assert explanation.found == ("3 words, 2 allowed",)
    assert explanation.verdict == "0 < 1 → fail"


def test_its_config_has_a_schema() -> None:
    schema = config_schema(scorer_type("word_count").config)
    assert schema["properties"]["most"]["title"] == "Most words"


def test_its_page_of_help_has_settings_words_and_examples(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(
        name: str, config: dict[str, Json], threshold: float | None, cases: Sequence[Case]
    ) -> list[Result]:
        """In this process: the helper does not know the folder of the module."""
        return configure_scorer(name, config, threshold).score(cases)

    monkeypatch.setattr(tryout, "score", score)
    text = unescape(browser.get(reverse("scorer_help", args=["word_count"])).text)
    for words in (
        "Words are separated",
        "may have so many words",
        "Three words are too many",
        "2 allowed",
    ):
        assert words in text


@pytest.mark.django_db
def test_it_is_offered_and_has_a_form(browser: Client, team: Team) -> None:
    assert "Word count" in browser.get(reverse("new_scorer_type", args=[team.slug])).text
    form = browser.get(reverse("new_scorer", args=[team.slug, "word_count"])).text
    assert '-most"' in form
    assert "Most words" in form


@pytest.mark.django_db
def test_a_run_scores_with_it(
    browser: Client, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    definition: tuple[str, str, dict[str, Any]] = ("short", "word_count", {"most": 2})
    version = make_dataset([{"input": "q"}, {"input": "r"}])
    run = finished_run(make_outputs(version, ["one two", "one two three"]), definition)
    scores = Score.objects.order_by("output__case__position").values_list("score", flat=True)
    assert [to_text(score) for score in scores] == ["1", "0"]
    page = browser.get(reverse("run_case", args=[run.uuid, 2]))
    assert "3 words, 2 allowed" in page.text
