"""A comparison in plain words: one sentence for each scorer, one for the whole.

Nothing is called significant: a sentence says whether chance explains what is seen, and where no
difference was shown, which one would have been seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from scoring.core.number_text import MINUS, SMALL, rounded
from scoring.core.paired import Difference

ALPHA: Final = 0.05
LEAST_P: Final = 0.001  # a smaller one is only said to be smaller


class Finding(NamedTuple):
    """What was found of one scorer. `p` is corrected for `tests` scorers; `n` counts cases.

    `noise` is how far a judge's mean over so many cases moves by itself, None where not known.
    """

    name: str
    difference: Difference
    p: float | None
    tests: int = 1
    improved: int = 0
    regressed: int = 0
    noise: float | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the difference is larger than chance explains."""
        return self.p is not None and self.p <= ALPHA

    @property
    def is_on_one_side(self) -> bool:
        """Whether the interval, which is of this scorer alone and not corrected, leaves out 0."""
        interval = self.difference.interval
        return interval is not None and (interval[0] > 0 or interval[1] < 0)

    @property
    def is_noise(self) -> bool:
        mean = self.difference.mean
        return self.noise is not None and mean is not None and abs(mean) <= self.noise


class Unjudged(NamedTuple):
    """Cases in both runs that ended in an error or a skip in one of them at least."""

    passed_before: int = 0  # and were not judged by the candidate
    failed_before: int = 0  # nor these
    judged_now: int = 0  # but not by the baseline
    neither: int = 0


ALL_JUDGED: Final = Unjudged()


def scorer_sentence(found: Finding) -> str:
    """What is known about the change of one scorer's mean."""
    n, mean = found.difference.n, found.difference.mean
    if mean is None:
        return f"No case has a score of {found.name} in both runs."
    if not found.improved and not found.regressed:
        return f"{found.name} gives {_counted(n, 'case')} the same score in both runs."
    if n == 1:
        return f"{found.name} {_moved(mean)} on the only case, too few to tell."
    told = _shown(found) if found.is_shown else _not_shown(found)
    return f"{told}{_noise(found)}."


def whole_sentence(
    pairs: int,
    broke: int,
    fixed: int,
    p: float | None,
    found: Sequence[Finding],
    unjudged: Unjudged = ALL_JUDGED,
) -> str:
    """What became of the cases, how many could not be judged, and which scorers' means moved."""
    if not pairs:
        return "The runs have no case in common."
    were = "was" if fixed == 1 else "were"
    flips = f"{broke:,} of {_counted(pairs, 'case')} broke, {fixed:,} {were} fixed"
    if not broke and not fixed:
        flips = f"None of {_counted(pairs, 'case')} broke or was fixed"
    elif p is not None:
        is_shown = p <= ALPHA and broke != fixed
        flips += f" ({'more' if is_shown else 'no more'} than chance explains, {p_text(p)})"
    return "; ".join([flips, *_unjudged(unjudged), _movers(found)]) + "."


def chance_text(p: float) -> str:
    """Three decimals, or as many as tell a p from ALPHA below it and from 1: "0.500", "< 0.001"."""
    if p < LEAST_P:
        return f"< {LEAST_P}"
    texts = (rounded(p, decimals) for decimals in range(3, 9))
    right = (text for text in texts if (float(text) <= ALPHA) == (p <= ALPHA))
    return next((text for text in right if (float(text) < 1) == (p < 1)), rounded(p, 9))


def p_text(p: float) -> str:
    text = chance_text(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def size_text(value: float) -> str:
    """A difference without its sign: three decimals, or as many as it takes to see it."""
    size = abs(value)
    if size < SMALL:
        return f"{Decimal(f'{size:.1g}'):f}"
    return rounded(size, 3).rstrip("0").rstrip(".")


def _shown(found: Finding) -> str:
    mean = found.difference.mean or 0.0
    return (
        f"{found.name} {_moved(mean)}{_interval(found)}, larger than chance explains ({_p(found)})"
    )


def _not_shown(found: Finding) -> str:
    mean, detectable = found.difference.mean or 0.0, found.difference.detectable
    moved = f"{_moved(mean)}{_interval(found)}"
    if found.is_on_one_side:
        among = f" when {found.tests} scorers are looked at" if found.tests > 1 else ""
        return f"{found.name} {moved}, no more than chance explains{among} ({_p(found)})"
    text = f"{found.name} shows no difference: it {moved} ({_p(found)})"
    if detectable:
        text += f"; a change of {size_text(detectable)} would have been seen four times in five"
    return text


def _moved(mean: float) -> str:
    if mean == 0:
        return "kept its mean"
    return f"{'rose' if mean > 0 else 'fell'} by {size_text(mean)}"


def _interval(found: Finding) -> str:
    """The 95 % interval of what the verb says: of the fall where the mean fell."""
    interval, mean = found.difference.interval, found.difference.mean or 0.0
    if interval is None:
        return ""
    low, high = interval if mean >= 0 else (-interval[1], -interval[0])
    return f" [{_signed(low)}, {_signed(high)}]"


def _signed(value: float) -> str:
    return f"{MINUS}{size_text(value)}" if value < 0 else size_text(value)


def _p(found: Finding) -> str:
    after = " after correction" if found.tests > 1 else ""
    return f"{p_text(found.p)}{after}" if found.p is not None else "not tested"


def _noise(found: Finding) -> str:
    if found.noise is None:
        return ""
    reach = size_text(found.noise)
    if found.is_shown and not found.is_noise:
        return f"; by itself the judge moves it by up to {reach} only"
    return f"; {'but ' if found.is_shown else ''}the judge alone moves it by up to {reach}"


def _unjudged(of: Unjudged) -> list[str]:
    """They neither broke nor were fixed, and nobody knows whether they still pass."""
    before = [(of.passed_before, "passed before"), (of.failed_before, "failed before")]
    lost = " and ".join(f"{count:,} {words}" for count, words in before if count)
    parts = [
        lost and f"{lost} but could not be judged now",
        of.judged_now and f"{of.judged_now:,} could not be judged before",
        of.neither and f"{of.neither:,} could not be judged in either run",
    ]
    told = ", ".join(str(part) for part in parts if part)
    return [told] if told else []


def _movers(found: Sequence[Finding]) -> str:
    moved = [each for each in found if each.is_shown and not each.is_noise]
    if not moved:
        return "no score moved by more than chance explains"
    names = [
        f"the {'rise' if (each.difference.mean or 0) > 0 else 'drop'} in {each.name}"
        for each in moved
    ]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{listed} {'is' if len(names) == 1 else 'are'} larger than chance explains"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
