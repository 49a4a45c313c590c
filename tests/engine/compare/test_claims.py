"""Pages of equal runs claim a difference as rarely as they promise, and find real ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from scoring.core.stats import paired_tests
from scoring.core.stats.paired_tests import holm
from scoring.core.wording.comparison import ALPHA
from scoring.engine.compare.figures import Figures
from tests.support.simulated_pairs import Setting, claims_of, draw_page

pytestmark = pytest.mark.slow

ROUNDS = 400
MOST = ROUNDS * ALPHA + 2 * (ROUNDS * ALPHA * (1 - ALPHA)) ** 0.5
SETTINGS = {
    "scorers": Setting(200, binary=1, graded=2, tags=3),
    "candidates": Setting(100, binary=0, graded=1, candidates=3),
}


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired_tests, "RESAMPLES", 500)
    monkeypatch.setattr(
        paired_tests, "_bootstrap_interval", lambda _: (-1.0, 1.0)
    )  # claims nothing


def pages(setting: Setting, rounds: int = ROUNDS) -> Iterator[list[Figures]]:
    draw = np.random.default_rng(7)
    return (draw_page(setting, draw) for _ in range(rounds))


def claims_apart(page: list[Figures]) -> list[float]:
    """What a page would claim if each kind of claim of each run were corrected by itself."""
    found: list[float] = []
    for each in page:
        found += holm([scorer.p for scorer in each.scorers if scorer.p is not None])
        found += holm([scorer.flips.p for scorer in each.scorers if scorer.flips.p is not None])
        found += [each.p or 0.0, *(part.q for part in each.slices)]
    return found


@pytest.mark.parametrize("name", SETTINGS)
def test_of_equal_runs_at_most_one_page_in_twenty_claims_anything(name: str) -> None:
    """Two standard errors above 5 % are allowed; corrected apart, the same pages exceed that."""
    drawn = list(pages(SETTINGS[name]))
    claiming = [page for page in drawn if min(claims_of(page)) <= ALPHA]
    assert 0 < len(claiming) <= MOST
    assert sum(min(claims_apart(page)) <= ALPHA for page in drawn) > MOST
    for page in drawn:
        assert says_significant(page) == (page in claiming)


def says_significant(page: list[Figures]) -> bool:
    told = [text for each in page for text in (each.sentence, *(s.sentence for s in each.scorers))]
    plain = [text.replace("not statistically", "").replace("no scorer's mean", "") for text in told]
    words = ("statistically significant", "by tag changed significantly")
    return any(word in text for text in plain for word in words)


def test_a_drop_of_ten_points_is_claimed() -> None:
    """Half of the answers are the same in both runs; eight claims of 200 cases."""
    setting = Setting(200, binary=1, graded=2, tags=3, drop=0.1)
    found = sum(min(claims_of(page)) <= ALPHA for page in pages(setting, 60))
    assert found >= 48
