"""McNemar's test over the case verdicts of two runs, and what it could have found.

Where cases have several trials, their shares of passes are tested: the trials of one case are not
independent, and its verdict depends on how many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

from scoring.core.stats.mcnemar import (
    ALPHA,
    cases_needed,
    detectable_drop,
    drop_power,
    trials_needed,
)
from scoring.core.stats.paired_tests import POWER
from scoring.engine.compare.columns import MatchedCases
from scoring.engine.compare.figures import GateFigures
from scoring.engine.compare.scores import PassShares, pass_shares, verdict_flips
from scoring.models import Case, JudgeVariance, Run

if TYPE_CHECKING:
    import numpy as np

MAX_LISTED: Final = 20  # keys of cases


class UnstableCase(NamedTuple):
    """A case of the candidate's dataset version, worth more trials."""

    position: int
    key: str


class FlipTest(NamedTuple):
    """Verdicts of the `n` cases that pass or fail in both runs.

    `broke` and `fixed` count cases. `p` is that of the two-sided test, None without cases. `change`
    is the mean change of the cases' shares of passes, `discordance` its mean square: for one trial
    the share of cases that flipped. `judge_flips` is the share of verdicts that the judges change
    by themselves, None where no A/A check tells it. `unstable` are the first MAX_LISTED of
    `unstable_count` cases that more trials would settle: those whose verdicts changed, and those
    whose trials do not agree.
    """

    n: int = 0
    broke: int = 0
    fixed: int = 0
    p: float | None = None
    change: float = 0.0
    discordance: float = 0.0
    judge_flips: float | None = None
    unstable: tuple[UnstableCase, ...] = ()
    unstable_count: int = 0

    def state(self, drop: float) -> Literal["passed", "failed", "undecided"]:
        """Failed where it has dropped; else passed where such a drop would have been found."""
        if self.p is None:
            return "undecided"
        if self.has_dropped:
            return "failed"
        return "passed" if self.has_power(drop) else "undecided"

    @property
    def has_dropped(self) -> bool:
        """Whether significantly more broke than were fixed."""
        return self.p is not None and self.p <= ALPHA and self.change < 0

    @property
    def chance_flips(self) -> float:
        """The share of cases that flip by chance: as many as did, and no fewer than by the judges
        alone.
        """
        return max(self.discordance, self.judge_flips or 0.0)

    def power(self, drop: float) -> float:
        """The chance that such a drop would have been found."""
        return drop_power(self.n, self.chance_flips, drop)

    def has_power(self, drop: float) -> bool:
        return self.power(drop) >= POWER

    @property
    def detectable_drop(self) -> float | None:
        """The smallest drop with 80 % power; None where there is none."""
        return detectable_drop(self.n, self.chance_flips)

    def cases_needed(self, drop: float) -> int | None:
        return cases_needed(self.chance_flips, drop, self.n)

    def trials_needed(self, drop: float) -> int | None:
        return trials_needed(self.n, self.chance_flips, drop)

    def as_json(self, drop: float) -> dict[str, Any]:
        """What the test could find, for reports."""
        return {
            "drop": drop,
            "power": self.power(drop),
            "detectable_drop": self.detectable_drop,
            "judge_flips": self.judge_flips,
            "unstable_cases": {"count": self.unstable_count, "keys": self.unstable_keys},
        }

    @property
    def unstable_keys(self) -> list[str]:
        return [case.key for case in self.unstable]

    def leave_out(self, positions: Collection[int]) -> Self:
        """Without the names of the cases at these positions, which still count."""
        listed = tuple(case for case in self.unstable if case.position not in positions)
        return self._replace(unstable=listed)


def run_flip_test(columns: MatchedCases, run: Run) -> FlipTest:
    """Test the matched cases of a run and its baseline."""
    flips = compare_verdicts(columns)
    return read_flip_test(run, flips.broke, flips.fixed, flips.p, gate_figures(columns, flips))


def read_flip_test(
    run: Run, broke: int, fixed: int, p: float | None, kept: GateFigures
) -> FlipTest:
    """The test of a run by what is kept of it, with what its judges and cases are called now."""
    if p is None:
        return FlipTest()
    judge_flips = count_judge_flips(run)
    return FlipTest(
        n=kept.cases,
        broke=broke,
        fixed=fixed,
        p=p,
        change=kept.change,
        discordance=kept.discordance,
        judge_flips=None if judge_flips is None else judge_flips / kept.trials,
        unstable=_cases_at(run, kept.unstable),
        unstable_count=kept.unstable_count,
    )


def gate_figures(columns: MatchedCases, flips: FlipTest, alone: int = 0) -> GateFigures:
    """What is kept of the test of the matched cases, for gates."""
    if not flips.n:
        return GateFigures(alone)
    unstable = _unstable_positions(pass_shares(columns))
    return GateFigures(
        alone=alone,
        cases=flips.n,
        change=flips.change,
        discordance=flips.discordance,
        trials=columns.trials,
        unstable=tuple(unstable[:MAX_LISTED].tolist()),
        unstable_count=len(unstable),
    )


def compare_verdicts(columns: MatchedCases) -> FlipTest:
    """The test of the matched cases by their verdicts alone, without judges and keys."""
    (n, broke, fixed), p = verdict_flips(columns)
    if p is None:
        return FlipTest()
    shares = pass_shares(columns)
    change = shares.after - shares.before
    mean, squares = float(change.mean()), float((change**2).mean())
    return FlipTest(n, broke, fixed, p, mean, squares)


def count_judge_flips(run: Run) -> float | None:
    """The share of case verdicts that change when the run's judges are asked again, by the latest
    A/A check of each and its threshold; None where no judge was checked.

    Judges are taken to waver independently, and a case to flip whenever one does.
    """
    scorers = run.scorers.select_related("version")
    checks = [(JudgeVariance.objects.latest_for(s.version), s.threshold) for s in scorers]
    shares = [check.flip_share(threshold) for check, threshold in checks if check]
    return 1 - prod(1 - share for share in shares) if shares else None


def _unstable_positions(shares: PassShares) -> np.ndarray:
    """Of cases that changed, those that changed most first; then of those whose trials disagree.

    Both directions count alike: more trials of cases chosen so leave the test as it is.
    """
    import numpy as np

    size = np.abs(shares.after - shares.before)
    is_split = (shares.before % 1 != 0) | (shares.after % 1 != 0)
    order = np.lexsort((shares.positions, -size))
    positions: np.ndarray = shares.positions[order][((size > 0) | is_split)[order]]
    return positions


def _cases_at(run: Run, positions: Sequence[int]) -> tuple[UnstableCase, ...]:
    cases = Case.objects.filter(version=run.output_set.version_id, position__in=positions)
    keys = dict(cases.values_list("position", "key"))
    return tuple(UnstableCase(position, keys[position]) for position in positions)
