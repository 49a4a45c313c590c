"""How often the gate `no_regression` fails equal runs, and how often it finds a drop.

    python benchmarks/gate_power.py [--rounds 1000]

Pairs of runs are drawn by chance and decided by the functions of the site. Cases differ in how hard
they are; half of them get the same answers in both runs. For each setting:

- equal runs: the share of pairs that fail, with its 95 % interval (Wilson), and that is undecided;
- the drop that the gate states as detectable with 80 % power, the median of those pairs;
- each pair's own stated drop is planted into another pair: the share of those that fails.

A second table tells, of equal runs with other numbers of trials, how many a test of the cases'
verdicts would claim to differ, and how many the test of their shares does. Prints Markdown tables.
Seeded: the same rounds give the same figures.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

if TYPE_CHECKING:
    import numpy as np

SIZES = (50, 100, 200, 500, 1_000)
RATES = (0.5, 0.8, 0.97)
TRIALS = ((1, 1), (3, 3), (3, 1))  # of each case in the two runs
COPIES = 0.5  # share of cases whose answers are the same in both runs
RESAMPLES = 2_000  # of each permutation test, instead of 10,000
PASSES = 0.5  # share of a case's trials from which on the case does
SEED = 20_261_123


@dataclass(frozen=True)
class Setting:
    """Runs over so many cases, of whose outputs the share `rate` passes; `trials` are how many a
    case has in each run.
    """

    cases: int
    rate: float
    trials: tuple[int, int] = (1, 1)

    @property
    def trials_text(self) -> str:
        before, after = self.trials
        return f"{before}" if before == after else f"{before} → {after}"


@dataclass(frozen=True)
class Shares:
    """Of `rounds` pairs: how many failed and were undecided, and how many planted drops failed."""

    rounds: int
    failed: int
    undecided: int
    found: int
    drops: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1_000)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    import django

    django.setup()
    from scoring.core.stats import paired_tests

    paired_tests.RESAMPLES = RESAMPLES
    paired_tests._bootstrap_interval = lambda _: (-1.0, 1.0)
    print("| cases | trials | pass | equal runs fail | undecided | stated drop | found |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for trials in TRIALS:
        for size in SIZES:
            for rate in RATES:
                _print_row(Setting(size, rate, trials), rounds)
    print("\n| cases | trials | pass | broke | fixed | claimed by verdicts | by shares |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for size in (200, 1_000):
        for rate in RATES:
            _print_unequal(Setting(size, rate, TRIALS[-1]), rounds)


def _print_row(setting: Setting, rounds: int) -> None:
    import numpy as np

    shares = measure_shares(setting, rounds, np.random.default_rng(SEED))
    cells = [
        f"{setting.cases:,} | {setting.trials_text} | {setting.rate:.0%}",
        _with_interval(shares.failed, rounds),
        f"{shares.undecided / rounds:.0%}",
        f"{median(shares.drops):.3f}" if shares.drops else "none",
        _with_interval(shares.found, len(shares.drops)),
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def _print_unequal(setting: Setting, rounds: int) -> None:
    import numpy as np

    from scoring.core.stats.mcnemar import ALPHA
    from scoring.engine.compare.scores import verdict_flips

    draw = np.random.default_rng(SEED)
    found = [verdict_flips(draw_pair(setting, 0.0, draw)) for _ in range(rounds)]
    cells = [
        f"{setting.cases:,} | {setting.trials_text} | {setting.rate:.0%}",
        f"{sum(flips.broke for flips, _ in found) / rounds:.1f}",
        f"{sum(flips.fixed for flips, _ in found) / rounds:.1f}",
        f"{sum(flips.p <= ALPHA for flips, _ in found) / rounds:.1%}",
        f"{sum((p or 1.0) <= ALPHA for _, p in found) / rounds:.1%}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def _with_interval(count: int, rounds: int) -> str:
    from scoring.core.stats.descriptive import rate_estimate

    estimate = rate_estimate(count, rounds)
    if estimate is None or estimate.interval is None:
        return "no pair states one"
    low, high = estimate.interval
    return f"{count / rounds:.1%} [{low:.1%}, {high:.1%}]"


def measure_shares(setting: Setting, rounds: int, draw: np.random.Generator) -> Shares:
    """Equal pairs, and for each that states a drop another pair with that drop."""
    from scoring.core.stats.mcnemar import detectable_drop
    from scoring.engine.compare.gates import DEFAULT_DROP
    from scoring.engine.compare.verdict_changes import compare_verdicts

    stated = cache(detectable_drop)
    failed = undecided = found = 0
    drops: list[float] = []
    for _ in range(rounds):
        flips = compare_verdicts(draw_pair(setting, 0.0, draw))
        state = flips.state(DEFAULT_DROP)
        failed += state == "failed"
        undecided += state == "undecided"
        drop = stated(flips.n, round(flips.chance_flips, 9))
        if drop is None or drop > setting.rate:
            continue  # more than there is to lose
        drops.append(drop)
        found += compare_verdicts(draw_pair(setting, drop, draw)).has_dropped
    return Shares(rounds, failed, undecided, found, drops)


def draw_pair(setting: Setting, drop: float, draw: np.random.Generator) -> Any:
    """The matched cases of two runs; of the second one's outputs this share more fails."""
    import numpy as np

    from scoring.engine.compare.columns import MatchedCases

    cases, (old, new) = setting.cases, setting.trials
    rates = draw.beta(4 * setting.rate, 4 * (1 - setting.rate), (cases, 1))
    before, fresh = (draw.random((cases, trials)) < rates for trials in (old, new))
    copied = before[:, np.arange(new) % old]
    after = np.where(draw.random((cases, 1)) < COPIES, copied, fresh)
    after &= draw.random((cases, 1)) >= drop / setting.rate
    sides = [_judge(side) for side in (before, after)]
    (old_outputs, old_verdicts), (new_outputs, new_verdicts) = sides
    positions = np.arange(cases, dtype=np.int32) + 1
    verdicts = old_verdicts, new_verdicts
    return MatchedCases((old_outputs, new_outputs), verdicts, positions, positions * 0)


def _judge(passes: np.ndarray) -> tuple[Any, np.ndarray]:
    """The outputs of a run, a row of trials for each case, and the cases' verdicts: of the mean."""
    import numpy as np

    from scoring.engine.compare.columns import RunOutputs
    from scoring.models import Verdict

    cases, trials = passes.shape
    places = np.arange(cases * trials, dtype=np.int32)
    of_outputs = np.where(passes.ravel(), Verdict.PASS, Verdict.FAIL)
    of_cases = np.where(passes.mean(axis=1) >= PASSES, Verdict.PASS, Verdict.FAIL)
    return RunOutputs(places, of_outputs, places // trials if trials > 1 else None), of_cases


if __name__ == "__main__":
    main()
