"""How often comparisons claim a difference: between equal runs, and after a real drop.

    python benchmarks/comparison_claims.py [--rounds 500] [--found 200]

Runs are drawn by chance, and compared, corrected and told by the functions of the site; only the
intervals, which claim nothing, are left out, and permutation tests are drawn less often. Cases
differ in how hard they are; half of them get the same answer in both runs. Prints Markdown tables:
any claim on a page of equal runs, which is to be at most 5 %, beside what p-values without the
common correction would claim; and how often a drop of ten points is claimed. Seeded: the same
rounds give the same figures.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SIZES = (50, 200, 999)
SHAPES = {
    "1 scorer of 0 and 1": {"binary": 1},
    "1 graded scorer, 6 tags": {"binary": 0, "graded": 1, "tags": 6},
    "3 scorers, 6 tags": {"binary": 1, "graded": 2, "tags": 6},
    "6 scorers, 12 tags": {"binary": 2, "graded": 4, "tags": 12},
    "3 scorers, 3 candidates": {"binary": 1, "graded": 2, "candidates": 3},
}
RATES = (0.8, 0.97)
LEVEL = 0.05
RESAMPLES = 2_000  # of each permutation test, instead of 10,000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--found", type=int, default=200, help="rounds with a drop")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    import django

    django.setup()
    from scoring.core.stats import paired_tests

    paired_tests._bootstrap_interval = lambda _: (-1.0, 1.0)
    paired_tests.RESAMPLES = RESAMPLES
    tell_equal(arguments.rounds)
    tell_drops(arguments.found)


def tell_equal(rounds: int) -> None:
    print(f"Any claim between equal runs, {rounds:,} pages each (uncorrected in brackets)\n")
    print(f"| page | good outputs | {' | '.join(f'n = {size}' for size in SIZES)} |")
    print(f"|---|---:|{'---:|' * len(SIZES)}")
    for name, shape in SHAPES.items():
        for rate in RATES:
            found = [shares(rounds, size, rate=rate, **shape) for size in SIZES]
            cells = [f"{family:.1%} ({alone:.1%})" for family, alone in found]
            print(f"| {name} | {rate:.0%} | {' | '.join(cells)} |", flush=True)


def tell_drops(rounds: int) -> None:
    print(f"\nA drop of ten points is claimed, {rounds:,} pages each\n")
    print(f"| page | {' | '.join(f'n = {size}' for size in SIZES)} |")
    print(f"|---|{'---:|' * len(SIZES)}")
    for name, shape in SHAPES.items():
        found = [shares(rounds, size, drop=0.1, **shape)[0] for size in SIZES]
        print(f"| {name} | {' | '.join(f'{share:.0%}' for share in found)} |", flush=True)


def shares(rounds: int, size: int, **shape: Any) -> tuple[float, float]:
    """Of the pages with any claim: as one family, and corrected kind by kind."""
    import numpy as np

    from tests.support.simulated_pairs import Setting, draw_page

    draw = np.random.default_rng(20_261_122)
    pages = [draw_page(Setting(size, **shape), draw) for _ in range(rounds)]
    return sum(map(any_claim, pages)) / rounds, sum(map(any_alone, pages)) / rounds


def any_claim(page: Sequence[Any]) -> bool:
    from tests.support.simulated_pairs import claims_of

    return any(p <= LEVEL for p in claims_of(page))


def any_alone(page: Sequence[Any]) -> bool:
    """Means, flips and slices corrected each among themselves, and cases not at all."""
    from scoring.core.stats.paired_tests import holm

    for figures in page:
        means = holm([each.p for each in figures.scorers if each.p is not None])
        flips = holm([each.flips.p for each in figures.scorers if each.flips.p is not None])
        if min([*means, *flips, figures.p, *(each.q for each in figures.slices)]) <= LEVEL:
            return True
    return False


if __name__ == "__main__":
    main()
