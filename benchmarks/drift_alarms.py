"""How often drift lines raise an alarm where nothing changed, and find a drop where one is.

    python benchmarks/drift_alarms.py [--rounds 1000] [--seed 1]

Scores are simulated and judged by the functions that the site uses. Each case has a chance of its
own to succeed, the same in every run; `share alike` is how much of the variance of scores lies
between cases (0: all cases are equally hard). The lines of a page are independent of each other,
which gives the most false alarms. Prints Markdown tables; ± is two standard errors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import sqrt
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scoring.core.stats.case_sums import CaseSums, add_sums, sum_run
from scoring.core.stats.change_points import (
    DecidedRun,
    NextRun,
    Outcome,
    decide_runs,
    find_periods,
)
from scoring.core.stats.drift_power import detectable_drop

SIZES = (50, 200, 1_000)
LEVELS = (0.5, 0.8, 0.97)
ALIKE = (0.0, 0.5)
RUNS = 20
LINES = 6
BEFORE = (1, 4, 7, 8, 15)


class Series:
    """A line's runs so far, with their scores by case."""

    def __init__(self, *, is_graded: bool = False) -> None:
        self.judged: list[DecidedRun] = []
        self.is_graded = is_graded
        self._runs: list[CaseSums] = []
        self._kept: dict[tuple[int, ...], CaseSums] = {}

    def sums_of(self, places: Sequence[int]) -> CaseSums:
        wanted = tuple(places)
        if wanted not in self._kept:
            last = self._runs[wanted[-1]]
            shorter = wanted[:-1]
            self._kept[wanted] = add_sums(self.sums_of(shorter), last) if shorter else last
            self._kept.pop(shorter[:-1], None)
        return self._kept[wanted]

    def entry(
        self, draw: np.random.Generator, chances: np.ndarray, *, rest: float = 1.0
    ) -> NextRun:
        """One more run, of which a share `rest` is left of what each case scored before."""
        if self.is_graded:
            scores = rest * np.clip(chances + draw.normal(0, 0.15, len(chances)), 0, 1)
        else:
            scores = (draw.random(len(chances)) < rest * chances).astype(float)
        self._runs.append(sum_run(np.arange(len(chances)), scores))
        return NextRun(self.judged, float(scores.mean()), self.sums_of)


def add_runs(
    lines: Sequence[Series], draw: np.random.Generator, chances: Sequence[np.ndarray]
) -> list[DecidedRun]:
    """One more run of each line, judged together."""
    entries = [line.entry(draw, each) for line, each in zip(lines, chances, strict=True)]
    found = decide_runs(entries)
    for line, judged in zip(lines, found, strict=True):
        line.judged.append(judged)
    return found


def chances_of(draw: np.random.Generator, size: int, level: float, alike: float) -> np.ndarray:
    if not alike:
        return np.full(size, level)
    weight = (1 - alike) / alike
    return draw.beta(level * weight, (1 - level) * weight, size)


def has_alarm(
    draw: np.random.Generator, size: int, level: float, alike: float, lines: int,
    *, runs: int = RUNS, is_graded: bool = False,
) -> bool:  # fmt: skip
    """Whether a page of lines raises any alarm while nothing changes."""
    page = [Series(is_graded=is_graded) for _ in range(lines)]
    chances = [chances_of(draw, size, level, alike) for _ in page]
    return any(
        judged.outcome == Outcome.CHANGED
        for _ in range(runs)
        for judged in add_runs(page, draw, chances)
    )


def finds_drop(
    draw: np.random.Generator, size: int, level: float, alike: float, before: int,
    *, drop: float | None = None, lines: int = 1, is_graded: bool = False,
) -> bool | None:  # fmt: skip
    """Whether a drop after so many steady runs is found at once; without one given that which the
    page calls detectable, None where it calls none so.
    """
    line = Series(is_graded=is_graded)
    chances = chances_of(draw, size, level, alike)
    while len(line.judged) < before:
        add_runs([line], draw, [chances])
        line.judged[-1] = line.judged[-1]._replace(outcome=Outcome.STEADY, back=0)
    if drop is None:
        runs = find_periods(line.judged)[-1].runs
        drop = detectable_drop(line.sums_of(runs), [each.mean for each in line.judged], lines)
    if drop is None:
        return None
    now = np.clip(chances + draw.normal(0, 0.15, size), 0, 1) if is_graded else chances
    rest = max(0.0, 1 - drop / float(now.mean()))
    (found,) = decide_runs([line.entry(draw, chances, rest=rest)], known=[1.0] * (lines - 1))
    return found.outcome == Outcome.CHANGED


def rate(found: Iterable[bool | None]) -> tuple[float, float, int]:
    """The share of those that are True, two standard errors of it, and how many there are."""
    known = [each for each in found if each is not None]
    if not known:
        return 0.0, 0.0, 0
    share = sum(known) / len(known)
    return share, 2 * sqrt(max(share * (1 - share), 1 / len(known)) / len(known)), len(known)


def rate_text(found: Iterable[bool | None]) -> str:
    share, error, n = rate(found)
    return f"{100 * share:.1f} ± {100 * error:.1f}" if n else "-"


def false_alarms(rounds: int, seed: int) -> Iterator[str]:
    yield "| cases | level | share alike | scores | a line, % | a page of six lines, % |"
    yield "|---:|---:|---:|---|---:|---:|"
    for size, level, alike in product(SIZES, LEVELS, ALIKE):
        for is_graded in (False, True) if alike else (False,):
            draw = np.random.default_rng(seed)
            kind = "graded" if is_graded else "0 and 1"
            texts = [
                rate_text(
                    has_alarm(draw, size, level, alike, lines, is_graded=is_graded)
                    for _ in range(rounds // lines if lines > 1 else rounds)
                )
                for lines in (1, LINES)
            ]
            yield f"| {size:,} | {level:g} | {alike:g} | {kind} | {' | '.join(texts)} |"


def power(rounds: int, seed: int) -> Iterator[str]:
    heads = " | ".join(f"{runs} before" for runs in BEFORE)
    yield f"| level | share alike | lines | {heads} |"
    yield f"|---:|---:|---:|{'---:|' * len(BEFORE)}"
    for level, alike, lines in product((0.5, 0.8, 0.9), (0.0, 0.3, 0.6), (1, LINES)):
        draw = np.random.default_rng(seed)
        texts = [
            rate_text(
                finds_drop(draw, 200, level, alike, before, drop=0.1, lines=lines)
                for _ in range(rounds)
            )
            for before in BEFORE
        ]
        yield f"| {level:g} | {alike:g} | {lines} | {' | '.join(texts)} |"


def stated_drops(rounds: int, seed: int) -> Iterator[str]:
    heads = " | ".join(f"{runs} before" for runs in BEFORE)
    yield f"| cases | level | share alike | scores | {heads} |"
    yield f"|---:|---:|---:|---|{'---:|' * len(BEFORE)}"
    for size, level, alike in product(SIZES, LEVELS, ALIKE):
        for is_graded in (False, True) if alike else (False,):
            draw = np.random.default_rng(seed)
            texts = [
                rate_text(
                    finds_drop(draw, size, level, alike, before, is_graded=is_graded)
                    for _ in range(rounds)
                )
                for before in BEFORE
            ]
            kind = "graded" if is_graded else "0 and 1"
            yield f"| {size:,} | {level:g} | {alike:g} | {kind} | {' | '.join(texts)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["alarms", "power", "stated"])
    arguments = parser.parse_args()
    tables = {
        "alarms": (false_alarms, f"Any alarm within {RUNS} runs of an unchanged system"),
        "power": (power, "A drop of 10 points among 200 cases, found in its first run, %"),
        "stated": (stated_drops, "The drop that the page calls detectable, found, %"),
    }
    for name, (table, title) in tables.items():
        if arguments.only in (None, name):
            print(f"\n{title}\n")
            for row in table(arguments.rounds, arguments.seed):
                print(row, flush=True)


if __name__ == "__main__":
    main()
