"""The sentences of a comparison: one for each scorer, one for the whole.

A sentence says what is statistically significant after the correction of all claims, and where no
significant difference was found, which one was detectable. A mean and its verdicts are two claims:
where the tests disagree, the sentence gives both.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from scoring.core.stats.descriptive import Interval
from scoring.core.stats.paired_tests import POWER, Flips
from scoring.core.wording.numbers import MINUS, SMALL, round_half_up, short_text

ALPHA: Final = 0.05
MIN_SHOWN_P: Final = 0.001  # a smaller one is only said to be smaller


class ScorerFinding(NamedTuple):
    """What was found of one scorer. `n` counts cases, `mean` is their mean difference.

    `p` of the mean and `flips_p` of the flips are corrected for `claims`; None where not tested.
    `detectable` is the smallest true difference that so many cases show with 80 % power.
    `noise` is how far a judge's mean over so many cases moves by itself, None where not known.
    With `has_trials`, `flips_p` is of the share of a case's trials that pass, not of its verdict.
    """

    name: str
    n: int
    mean: float | None
    interval: Interval | None
    p: float | None
    detectable: float | None = None
    flips: Flips = Flips(0, 0, 0)
    flips_p: float | None = None
    claims: int = 1
    improved: int = 0
    regressed: int = 0
    noise: float | None = None
    has_trials: bool = False

    @property
    def is_significant(self) -> bool:
        """Whether the mean's difference is."""
        return self.p is not None and self.p <= ALPHA

    @property
    def has_significant_flips(self) -> bool:
        return self.flips_p is not None and self.flips_p <= ALPHA

    @property
    def is_on_one_side(self) -> bool:
        """Whether the interval, which is of this scorer alone and not corrected, leaves out 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)

    @property
    def is_noise(self) -> bool:
        return self.noise is not None and self.mean is not None and abs(self.mean) <= self.noise


class Changes(NamedTuple):
    """What became of whole cases. `p` is corrected for `claims`; `slices` changed significantly.

    With `has_trials`, `p` is of the share of a case's trials that pass, not of its verdict.
    """

    flips: Flips
    p: float | None
    claims: int = 1
    slices: int = 0
    has_trials: bool = False

    @property
    def is_significant(self) -> bool:
        return self.p is not None and self.p <= ALPHA


class UnjudgedCases(NamedTuple):
    """Cases in both runs that ended in an error or a skip in one of them at least."""

    passed_before: int = 0  # and were not judged by the candidate
    failed_before: int = 0  # nor these
    judged_now: int = 0  # but not by the baseline
    neither: int = 0


ALL_JUDGED: Final = UnjudgedCases()


def scorer_sentence(finding: ScorerFinding) -> str:
    """What is known about the change of one scorer's mean, and of its verdicts where they differ
    from that.
    """
    if finding.mean is None:
        return f"No case has a score of {finding.name} in both runs."
    if not finding.improved and not finding.regressed:
        same = f"{finding.name} gives {_count(finding.n, 'case')} the same score in both runs"
        return f"{same}{_flips_beside_no_change(finding)}."
    if finding.n == 1:
        return f"{finding.name} {_movement(finding.mean)} on the only case, too few to tell."
    return f"{_mean_text(finding)}{_noise(finding)}{_flips_beside_mean(finding)}."


def whole_sentence(
    changes: Changes, findings: Sequence[ScorerFinding], unjudged: UnjudgedCases = ALL_JUDGED
) -> str:
    """What became of the cases, how many could not be judged, and what changed significantly."""
    pairs, broke, fixed = changes.flips
    if not pairs:
        return "The runs have no case in common."
    flips = f"{broke:,} of {_count(pairs, 'case')} broke, {_fixed_text(fixed)}"
    if not broke and not fixed:
        flips = f"None of {_count(pairs, 'case')} broke or was fixed"
    if changes.has_trials:
        flips += _trials_text(changes)
    elif (broke or fixed) and changes.p is not None:
        significance = "" if changes.is_significant else "not "
        flips += f" ({significance}statistically significant, {_p(changes.p, changes.claims)})"
    count = changes.slices
    slices = f"{_count(count, 'slice')} by tag changed significantly" if count else ""
    parts = [flips, _unjudged_text(unjudged), _movers_text(findings, changes), slices]
    return "; ".join(filter(None, parts)) + "."


def _trials_text(changes: Changes) -> str:
    """What was tested in place of the verdicts; nothing where nothing changed."""
    _, broke, fixed = changes.flips
    if changes.p is None or not (broke or fixed or changes.is_significant):
        return ""
    verb = "changed" if changes.is_significant else "did not change"
    p = _p(changes.p, changes.claims)
    return f"; the share of a case's trials that pass {verb} significantly ({p})"


def chance_text(p: float) -> str:
    """Three decimals, or as many as tell a p from ALPHA below it and from 1: "0.500", "< 0.001"."""
    if p < MIN_SHOWN_P:
        return f"< {MIN_SHOWN_P}"
    texts = (round_half_up(p, decimals) for decimals in range(3, 9))
    right = (text for text in texts if (float(text) <= ALPHA) == (p <= ALPHA))
    return next((text for text in right if (float(text) < 1) == (p < 1)), round_half_up(p, 9))


def p_text(p: float) -> str:
    text = chance_text(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def size_text(value: float) -> str:
    """A difference without its sign: three decimals, or as many as tell it from 0 and from 1."""
    size = abs(value)
    return f"{Decimal(f'{size:.1g}'):f}" if size < SMALL else short_text(size)


def _mean_text(finding: ScorerFinding) -> str:
    moved = f"{_movement(finding.mean or 0.0)}{_interval(finding)}"
    p = _p(finding.p, finding.claims)
    if finding.is_significant:
        return f"{finding.name} {moved}, statistically significant ({p})"
    if finding.is_on_one_side:
        claims = f" for {finding.claims:,} claims" if finding.claims > 1 else ""
        return f"{finding.name} {moved}, not statistically significant ({p}{claims})"
    of_mean = " in its mean" if finding.has_significant_flips else ""
    text = f"{finding.name} shows no significant difference{of_mean}: it {moved} ({p})"
    if finding.detectable:
        size = size_text(finding.detectable)
        text += f"; a change of {size} is detectable with {100 * POWER:.0f} % power"
    return text


def _flips_beside_mean(finding: ScorerFinding) -> str:
    """The verdicts, where their test says another thing than that of the mean."""
    if finding.flips_p is None or finding.has_significant_flips == finding.is_significant:
        return ""
    if finding.has_significant_flips:
        return f"; but {_significant_flips(finding)}"
    if not finding.flips.broke and not finding.flips.fixed:
        return "; no verdict changed"
    show = "trials that pass show" if finding.has_trials else "verdicts show"
    return f"; its {show} no significant difference: {_flips_with_p(finding)}"


def _flips_beside_no_change(finding: ScorerFinding) -> str:
    """Equal scores with other verdicts: their thresholds differ."""
    if finding.has_significant_flips:
        return f", but {_significant_flips(finding)}"
    if finding.flips.broke or finding.flips.fixed:
        return f"; of its verdicts {_flips(finding.flips)}"
    return ""


def _significant_flips(finding: ScorerFinding) -> str:
    change = f"the change of its {_tested(finding)} is statistically significant"
    return f"{change}: {_flips_with_p(finding)}"


def _tested(finding: ScorerFinding) -> str:
    return "share of trials that pass" if finding.has_trials else "verdicts"


def _flips_with_p(finding: ScorerFinding) -> str:
    return f"{_flips(finding.flips)} ({_p(finding.flips_p, finding.claims)})"


def _flips(flips: Flips) -> str:
    return f"{flips.broke:,} broke, {_fixed_text(flips.fixed)}"


def _fixed_text(count: int) -> str:
    return f"{count:,} {'was' if count == 1 else 'were'} fixed"


def _movement(mean: float) -> str:
    if mean == 0:
        return "kept its mean"
    return f"{'rose' if mean > 0 else 'fell'} by {size_text(mean)}"


def _interval(finding: ScorerFinding) -> str:
    """The 95 % interval of what the verb says: of the fall where the mean fell."""
    interval, mean = finding.interval, finding.mean or 0.0
    if interval is None:
        return ""
    low, high = interval if mean >= 0 else (-interval[1], -interval[0])
    return f" [{_signed_text(low)}, {_signed_text(high)}]"


def _signed_text(value: float) -> str:
    return f"{MINUS}{size_text(value)}" if value < 0 else size_text(value)


def _p(p: float | None, claims: int) -> str:
    after = " after correction" if claims > 1 else ""
    return f"{p_text(p)}{after}" if p is not None else "not tested"


def _noise(finding: ScorerFinding) -> str:
    if finding.noise is None:
        return ""
    reach = size_text(finding.noise)
    if finding.is_significant and not finding.is_noise:
        return f"; by itself the judge moves it by up to {reach} only"
    return f"; {'but ' if finding.is_significant else ''}the judge alone moves it by up to {reach}"


def _unjudged_text(unjudged: UnjudgedCases) -> str:
    """Cases that neither broke nor were fixed: whether they still pass is not known."""
    before = [
        (unjudged.passed_before, "passed before"),
        (unjudged.failed_before, "failed before"),
    ]
    lost = " and ".join(f"{count:,} {words}" for count, words in before if count)
    parts = [
        lost and f"{lost} but could not be judged now",
        unjudged.judged_now and f"{unjudged.judged_now:,} could not be judged before",
        unjudged.neither and f"{unjudged.neither:,} could not be judged in either run",
    ]
    return ", ".join(str(part) for part in parts if part)


def _movers_text(findings: Sequence[ScorerFinding], changes: Changes) -> str:
    """The scorers whose mean changed significantly, and those of which only the verdicts did;
    the verdicts of a run's only scorer are those of its cases, which come first in the sentence.
    """
    names = [
        f"the {'rise' if (finding.mean or 0) > 0 else 'drop'} in {finding.name}"
        for finding in findings
        if finding.is_significant and not finding.is_noise
    ]
    names += [
        f"the change of {finding.name}'s {_tested(finding)}"
        for finding in findings
        if finding.has_significant_flips and not finding.is_significant
        if len(findings) > 1 or finding.flips_p != changes.p
    ]
    if not names:
        return "no scorer's mean changed significantly" if findings else ""
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{listed} {'is' if len(names) == 1 else 'are'} statistically significant"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
