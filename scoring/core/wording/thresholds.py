"""What another threshold would do, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from scoring.core.json_text import to_text
from scoring.core.wording.numbers import number_text, share_text


class PassCounts(NamedTuple):
    """Outputs of a run that have a score, or cases of several trials by their mean, and how many of
    them pass before and after a change.
    """

    scored: int
    before: int
    after: int

    @property
    def to_pass(self) -> int:
        """Outputs that would pass instead of fail."""
        return max(0, self.after - self.before)

    @property
    def to_fail(self) -> int:
        """Outputs that would fail instead of pass."""
        return max(0, self.before - self.after)

    @property
    def flips(self) -> int:
        return abs(self.after - self.before)

    @property
    def rate_before(self) -> float | None:
        """None where nothing was scored."""
        return self.before / self.scored if self.scored else None

    @property
    def rate_after(self) -> float | None:
        """None where nothing was scored."""
        return self.after / self.scored if self.scored else None


def change_sentence(run: str, old: float, new: float, counts: PassCounts) -> str:
    """Such as "At 0.8 instead of 0.9, 12 of 200 cases of w46 would pass instead of fail, …"."""
    if counts.rate_before is None or counts.rate_after is None:
        return f"No case of {run} has a score."
    before, after = rate_texts(counts.rate_before, counts.rate_after)
    if new == old:
        passed = f"{counts.before:,} of {counts.scored:,}"
        return f"At {to_text(old)}, {passed} cases of {run} pass: {before}."
    start = f"At {to_text(new)} instead of {to_text(old)}, "
    if not counts.flips:
        return f"{start}no case of {run} would change; the pass rate stays {before}."
    way = "fail instead of pass" if counts.to_fail else "pass instead of fail"
    noun = "case" if counts.scored == 1 else "cases"
    flips = f"{counts.flips:,} of {counts.scored:,} {noun} of {run}"
    return f"{start}{flips} would {way}; the pass rate changes from {before} to {after}."


def rate_texts(before: float, after: float) -> tuple[str, str]:
    """Both rates in per cent, with as many decimals as tell them from each other."""
    decimals = (places for places in range(1, 7) if before != after)
    texts = ((share_text(before, places), share_text(after, places)) for places in decimals)
    default = share_text(before), share_text(after)
    return next((pair for pair in texts if pair[0] != pair[1]), default)


def case_verdicts_sentence(changed: int, flips: int) -> str:
    """How many of the flips change the verdict of their case; empty where there are none."""
    if not flips:
        return ""
    if not changed:
        return "No case verdict changes: other scorers fail these cases."
    if changed == flips:
        return "All their case verdicts change." if flips > 1 else "Its case verdict changes."
    verdicts = "case verdict changes" if changed == 1 else "case verdicts change"
    return f"{changed:,} {verdicts}; the others also fail another scorer."


def agreement_sentence(
    labels: int, kappas: Mapping[float, float | None], best: float | None, good: tuple[float, float]
) -> str:
    """What people's verdicts say of thresholds, by their kappas, and of the best one, with the
    range of those that are as good.
    """
    known = (
        f"{number_text(kappa)} at {to_text(t)}" for t, kappa in kappas.items() if kappa is not None
    )
    noun = "output" if labels == 1 else "outputs"
    start = f"People passed or failed {labels:,} {noun}"
    if texts := ", ".join(known):
        start += f": kappa {texts}"
    if best is None:
        return f"{start}. No threshold agrees with them better than chance."
    low, high = (to_text(end) for end in good)
    return f"{start}. Best at {to_text(best)}; as good: above {low} up to {high}."


class VerdictChanges(NamedTuple):
    """How many cases broke and were fixed against a baseline, and whether that is a significant
    drop.
    """

    broke: int
    fixed: int
    has_dropped: bool


def comparison_effect_sentence(baseline: str, before: VerdictChanges, after: VerdictChanges) -> str:
    """What becomes of a comparison: its counts as scored and at new thresholds, and its verdict."""
    counts = f"{before.broke:,} broke and {before.fixed:,} {_were(before.fixed)} fixed"
    start = f"Against {baseline}, {counts} as scored"
    if before == after:
        return f"{start}, and nothing changes."
    then = f"{after.broke:,} would have broken and {after.fixed:,} would be fixed"
    return f"{start}; {then}. {_DROPS[before.has_dropped, after.has_dropped]}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


_DROPS: Final = {
    (True, True): "The drop would still be statistically significant.",
    (True, False): "The drop would no longer be statistically significant.",
    (False, True): "That would be a statistically significant drop.",
    (False, False): "Neither is a statistically significant drop.",
}
