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
SAMPLE = 75  # every so many pairs
Pair = dict[str, Any]


@pytest.fixture
def pairs(facts: Path) -> list[Pair]:
    lines = (facts / "data/sts/stsb-en-dev.minilm_cosine.jsonl").read_text().splitlines()
    assert len(lines) == 1_500
    return [json.loads(line) for line in lines]


def embedded(pairs: list[Pair]) -> list[float]:
    """Our own cosines, each of which is the recorded one."""
    cases = [Case(pair["sentence1"], pair["sentence2"]) for pair in pairs]
    results = configure_scorer("reference_match", {"embedding_provider": "local"}).score(cases)
    cosines = [result.score for result in results if result.score is not None]
    for pair, cosine in zip(pairs, cosines, strict=True):
        assert cosine == pytest.approx(max(0.0, pair["cosine"]), abs=0.001), pair["i"]
    return cosines


@pytest.mark.long("the model is loaded")
def test_cosines_are_the_recorded_ones(pairs: list[Pair], minilm: str) -> None:
    assert len(embedded(pairs[::SAMPLE])) == 20


@pytest.mark.slow
def test_every_cosine_is_the_recorded_one_and_they_rank_pairs_as_people_do(
    pairs: list[Pair], minilm: str
) -> None:
    cosines = embedded(pairs)
    assert spearmanr(cosines, [pair["human"] for pair in pairs]).statistic >= SPEARMAN
