"""Local embeddings against recorded cosines and people's judgement of 1,500 pairs of sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import spearmanr

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case

SPEARMAN = 0.867  # what the recorded cosines reach, in three decimals
Pair = dict[str, Any]


@pytest.fixture(scope="module")
def cosines() -> list[float]:
    """Ours, filled by the first test that needs them."""
    return []


@pytest.fixture
def pairs(facts: Path) -> list[Pair]:
    lines = (facts / "data/sts/stsb-en-dev.minilm_cosine.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def ours(pairs: list[Pair], cosines: list[float], minilm: str) -> list[float]:
    if not cosines:
        cases = [Case(pair["sentence1"], pair["sentence2"]) for pair in pairs]
        results = configure_scorer("reference_match", {"embedding_provider": "local"}).score(cases)
        cosines += [result.score for result in results if result.score is not None]
    return cosines


def test_every_cosine_is_the_recorded_one(pairs: list[Pair], ours: list[float]) -> None:
    assert len(pairs) == len(ours) == 1_500
    for pair, cosine in zip(pairs, ours, strict=True):
        assert cosine == pytest.approx(max(0.0, pair["cosine"]), abs=0.001), pair["i"]


def test_they_rank_pairs_as_people_do(pairs: list[Pair], ours: list[float]) -> None:
    assert spearmanr(ours, [pair["human"] for pair in pairs]).statistic >= SPEARMAN
