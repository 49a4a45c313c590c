"""Pairs of runs drawn by chance and compared as the site compares them, without a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from scoring.core.wording.comparison import UnjudgedCases
from scoring.engine.compare.claims import correct_claims
from scoring.engine.compare.columns import CaseScores, MatchedCases, RunOutputs, TagColumns
from scoring.engine.compare.figures import Figures
from scoring.engine.compare.scores import (
    PairedScores,
    compare_scores,
    compare_slices,
    verdict_flips,
)
from scoring.models import Verdict

STEPS: Final = 20  # of graded scores from 0 to 1
THRESHOLD: Final = 0.5
COPIES: Final = 0.5  # share of cases whose answer is the same in both runs


@dataclass(frozen=True)
class Setting:
    """Runs over `cases` with scorers that give 0 or 1 (`binary`) and others; `tags` slice the
    cases evenly. Of all outputs `rate` are good, and each candidate is worse by `drop`.
    """

    cases: int
    binary: int = 1
    graded: int = 0
    tags: int = 0
    rate: float = 0.8
    drop: float = 0.0
    candidates: int = 1


def draw_page(setting: Setting, draw: np.random.Generator) -> list[Figures]:
    """What a page shows of one baseline and its candidates."""
    rates = _rates(setting, draw)
    baseline = _scores(setting, rates, draw)
    shown = [
        _figures(setting, baseline, _candidate(setting, baseline, rates, draw))
        for _ in range(setting.candidates)
    ]
    return correct_claims(shown)


def claims_of(page: Sequence[Figures]) -> list[float]:
    """The corrected p of everything that a page may call significant."""
    found: list[float | None] = []
    for figures in page:
        found += [figures.p_corrected, figures.slices_p_corrected]
        found += [each.p_corrected for each in figures.scorers]
        found += [each.flips.p_corrected for each in figures.scorers]
        found += [each.q_corrected for each in figures.slices]
    return [p for p in found if p is not None]


def _rates(setting: Setting, draw: np.random.Generator) -> np.ndarray:
    """How likely each case is answered well: cases differ in how hard they are."""
    return draw.beta(4 * setting.rate, 4 * (1 - setting.rate), setting.cases)


def _scores(setting: Setting, rates: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """A row of scores for each scorer; scorers agree about most outputs."""
    good = draw.random(setting.cases) < rates
    rows = []
    for number in range(setting.binary + setting.graded):
        own = draw.random(setting.cases) < rates
        is_good = np.where(draw.random(setting.cases) < 0.6, good, own)
        if number < setting.binary:
            rows.append(is_good.astype(float))
            continue
        level = np.where(is_good, draw.beta(6, 2, setting.cases), draw.beta(2, 4, setting.cases))
        rows.append(np.round(level * STEPS) / STEPS)
    return np.array(rows)


def _candidate(
    setting: Setting, baseline: np.ndarray, rates: np.ndarray, draw: np.random.Generator
) -> np.ndarray:
    fresh = _scores(setting, rates, draw)
    scores = np.where(draw.random(setting.cases) < COPIES, baseline, fresh)
    is_lost = draw.random(setting.cases) < setting.drop / setting.rate
    return np.where(is_lost, np.minimum(scores, 0.0), scores)


def _figures(setting: Setting, before: np.ndarray, after: np.ndarray) -> Figures:
    sides = [(rows >= THRESHOLD) for rows in (before, after)]
    verdicts = [np.where(side.all(axis=0), Verdict.PASS, Verdict.FAIL) for side in sides]
    places = np.arange(setting.cases, dtype=np.int32)
    before_run, after_run = (RunOutputs(places, side) for side in verdicts)
    pairs = MatchedCases(
        (before_run, after_run), (verdicts[0], verdicts[1]), places + 1, places * 0
    )
    tags = _tags(setting)
    scores = [
        compare_scores(
            _scorer(number),
            PairedScores(pairs, places, _judged(old), _judged(new)),
            tags,
        )
        for number, (old, new) in enumerate(zip(before, after, strict=True))
    ]
    flips, p = verdict_flips(pairs)
    alone = ("unclear", "judged_in_neither", "only_baseline", "only_candidate", "edited")
    counts: dict[str, Any] = dict.fromkeys(alone, 0)
    return Figures(
        pairs=flips.n,
        judged=flips.n,
        broke=flips.broke,
        fixed=flips.fixed,
        unchanged=flips.n - flips.broke - flips.fixed,
        **counts,
        unjudged=UnjudgedCases(),
        p=p,
        has_one_scorer=len(before) == 1,
        scorers=tuple(scorer.figures for scorer in scores),
        slices=tuple(compare_slices(scores)),
        warnings=(),
    )


def _judged(scores: np.ndarray) -> CaseScores:
    passed = scores >= THRESHOLD
    return CaseScores(scores, passed, passed.astype(float))


def _tags(setting: Setting) -> TagColumns:
    names = [f"tag {number}" for number in range(setting.tags)]
    codes = np.arange(setting.cases + 1, dtype=np.int32) % max(1, setting.tags)
    return TagColumns(names, codes, [frozenset([name]) for name in names] or [frozenset()])


def _scorer(number: int) -> Any:
    side = SimpleNamespace(version=SimpleNamespace(number=1), threshold=THRESHOLD)
    return SimpleNamespace(name=f"scorer {number}", before=side, after=side, is_same_version=False)
