"""What became worse since a baseline, and how many cases cannot be judged."""

from __future__ import annotations

from typing import Any, NamedTuple

from scoring.engine.compare.columns import match_cases
from scoring.engine.compare.comparison import stored_comparison
from scoring.engine.compare.figures import Figures
from scoring.engine.compare.pair_index import count_unpaired
from scoring.engine.compare.scores import scorer_pairs
from scoring.engine.compare.verdict_changes import FlipTest, read_flip_test, run_flip_test
from scoring.engine.compare.warnings import comparison_warnings
from scoring.models import Comparison, Run
from scoring.models.pairs.pairs import Pairs
from scoring.models.reviews.broken_cases import NO_WAIVERS, BrokenCases, WaivedCase, WaiverUse


class Regressions(NamedTuple):
    """A run beside its baseline, counted by case.

    `broke` passed and fail now; `waivers` says which of them are waived, and which were until a day
    that is over. Unknown are `unclear` pairs, with an error or a skip in at least
    one run, and `alone`: cases of both dataset versions with an output in one run only. `n` counts
    all pairs and these. `flips` is None unless it was asked for.
    """

    broke: int
    n: int
    unclear: int = 0
    alone: int = 0
    warnings: tuple[str, ...] = ()
    flips: FlipTest | None = None
    waivers: WaiverUse = NO_WAIVERS

    @property
    def unwaived(self) -> int:
        """How many a gate counts."""
        return self.broke - len(self.waivers.used)

    @property
    def unknown(self) -> int:
        return self.unclear + self.alone

    @property
    def note(self) -> str:
        """How many cases are unknown, and why; empty if none is."""
        counts = {
            "with an error or a skip": self.unclear,
            "with an output in one run only": self.alone,
        }
        parts = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
        return parts and f"nothing can be said of {self.unknown:,} of {self.n:,} cases ({parts})"

    def as_json(self) -> dict[str, int]:
        counts = {"unclear": self.unclear, "only_in_one_run": self.alone}
        return {"unknown": self.unknown, "of": self.n, **counts}


def waivers_json(waivers: WaiverUse) -> dict[str, list[dict[str, Any]]]:
    """The waivers that a gate went by, and those that have expired."""
    return {
        "used": [_waived_json(case) for case in waivers.used],
        "expired": [_waived_json(case) for case in waivers.expired],
    }


def _waived_json(case: WaivedCase) -> dict[str, Any]:
    waivers = [
        {
            "id": str(waiver.uuid),
            "scorer": waiver.scorer.name,
            "until": waiver.until.isoformat(),
            "reason": waiver.reason,
            "owner": waiver.owner.email if waiver.owner else None,
        }
        for waiver in case.waivers
    ]
    return {"key": case.pair.key, "trial": case.trial, "waivers": waivers}


def count_regressions(run: Run, baseline: Run, *, is_tested: bool = False) -> Regressions:
    """Of the cases of both runs, matched by key, with the comparison's warnings.

    From the stored comparison where there is one, else counted.
    """
    stored = stored_comparison(baseline, run)
    found = _read(stored, run, is_tested) if stored else _count(baseline, run, is_tested)
    if not found.broke:
        return found
    return found._replace(waivers=BrokenCases(baseline, run).waiver_use)


def _read(stored: Comparison, run: Run, is_tested: bool) -> Regressions:
    figures = Figures.read(stored.figures)
    flips = None
    if is_tested:
        flips = read_flip_test(run, figures.broke, figures.fixed, figures.p, figures.gate)
    return Regressions(
        broke=figures.broke,
        n=figures.pairs + figures.gate.alone,
        unclear=figures.pairs - figures.judged,
        alone=figures.gate.alone,
        warnings=figures.warnings,
        flips=flips,
    )


def _count(baseline: Run, run: Run, is_tested: bool) -> Regressions:
    pairs = Pairs(baseline, run)
    counts = pairs.counts()
    alone = count_unpaired(baseline, run, counts)
    return Regressions(
        broke=counts.broke,
        n=counts.pairs + alone,
        unclear=counts.pairs - counts.judged,
        alone=alone,
        warnings=tuple(comparison_warnings(pairs, scorer_pairs(baseline, run), counts.edited)),
        flips=run_flip_test(match_cases(pairs), run) if is_tested else None,
    )
