"""What compared runs show: their claims corrected as one family, and put into sentences.

One page, file or answer is one family, whatever the number of its candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scoring.core.stats.corrections import (
    CorrectedPair,
    CorrectedScorer,
    PairTests,
    ScorerTests,
    correct_family,
)
from scoring.core.stats.paired_tests import Flips, detectable_difference
from scoring.core.wording.comparison import Changes, ScorerFinding, scorer_sentence, whole_sentence
from scoring.engine.compare.figures import Figures, ScorerFigures
from scoring.models import Comparison


def read_figures(row: Comparison) -> Figures:
    """The kept figures of two runs that are shown by themselves."""
    (figures,) = correct_claims([Figures.read(row.figures)])
    return figures


def correct_claims(shown: Sequence[Figures]) -> list[Figures]:
    """The same figures with p corrected over all of them, and with their sentences."""
    family = correct_family([_tests(figures) for figures in shown])
    pairs = zip(shown, family.pairs, strict=True)
    return [_correct(figures, pair, family.size) for figures, pair in pairs]


def _tests(figures: Figures) -> PairTests:
    scorers = [ScorerTests(each.p, each.flips.p, each.is_one_claim) for each in figures.scorers]
    slices = [tagged.p for tagged in figures.slices]
    return PairTests(scorers, figures.p, slices, figures.has_one_scorer)


def _correct(figures: Figures, pair: CorrectedPair, claims: int) -> Figures:
    findings = [
        _finding(scorer, corrected, claims, has_trials=figures.has_trials)
        for scorer, corrected in zip(figures.scorers, pair.scorers, strict=True)
    ]
    slices = zip(figures.slices, pair.slices, strict=True)
    corrected = replace(
        figures,
        p_corrected=pair.cases,
        slices_p_corrected=pair.any_slice,
        claims=claims,
        scorers=tuple(map(_correct_scorer, figures.scorers, findings)),
        slices=tuple(replace(tagged, q_corrected=q) for tagged, q in slices),
    )
    flips = Flips(figures.pairs, figures.broke, figures.fixed)
    slices_changed = len(corrected.changed_slices)
    changes = Changes(flips, pair.cases, claims, slices_changed, figures.has_trials)
    return replace(corrected, sentence=whole_sentence(changes, findings, figures.unjudged))


def _finding(
    scorer: ScorerFigures, corrected: CorrectedScorer, claims: int, *, has_trials: bool
) -> ScorerFinding:
    error = scorer.standard_error
    return ScorerFinding(
        name=scorer.name,
        n=scorer.n,
        mean=scorer.delta,
        interval=scorer.interval,
        p=corrected.mean,
        detectable=None if error is None else detectable_difference(error, claims),
        flips=Flips(scorer.flips.n, scorer.flips.broke, scorer.flips.fixed),
        flips_p=corrected.flips,
        claims=claims,
        improved=scorer.improved,
        regressed=scorer.regressed,
        noise=scorer.noise,
        has_trials=has_trials,
    )


def _correct_scorer(scorer: ScorerFigures, finding: ScorerFinding) -> ScorerFigures:
    return replace(
        scorer,
        p_corrected=finding.p,
        detectable=finding.detectable,
        flips=replace(scorer.flips, p_corrected=finding.flips_p),
        sentence=scorer_sentence(finding),
    )
