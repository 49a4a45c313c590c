"""How many pairs of two runs there are of each kind, and where the few stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scoring.core.sentences import Unjudged
from scoring.engine.compare_columns import Matched
from scoring.engine.compare_scores import OneScorer
from scoring.models import Verdict
from scoring.models.pair_places import PairPlaces, change_text
from scoring.models.pair_rows import Counts, PairKind
from scoring.models.pair_search import FEW
from scoring.models.pair_sql import ALONE
from scoring.models.pairs import Pairs

if TYPE_CHECKING:
    import numpy as np


def counts_of(pairs: Pairs, columns: Matched) -> Counts:
    """As `pairs.counts()`, without joining all cases once more."""
    import numpy as np

    before, after = columns.verdicts
    kinds = len(Verdict)
    counts = np.bincount(before * kinds + after, minlength=kinds**2).tolist()
    return pairs.counts_of({divmod(code, kinds): count for code, count in enumerate(counts)})


def unjudged_of(columns: Matched) -> Unjudged:
    """The pairs with an error or a skip on a side at least."""
    before, after = columns.verdicts
    is_judged = before <= Verdict.FAIL, after <= Verdict.FAIL
    is_lost = is_judged[0] & ~is_judged[1]
    masks = (
        is_lost & (before == Verdict.PASS),
        is_lost & (before == Verdict.FAIL),
        is_judged[1] & ~is_judged[0],
        ~(is_judged[0] | is_judged[1]),
    )
    return Unjudged(*(int(mask.sum()) for mask in masks))


def places_of(
    pairs: Pairs, columns: Matched, counts: Counts, scores: Sequence[OneScorer]
) -> Iterator[PairPlaces]:
    """What is kept of each list, and by each scorer of what broke, was fixed, and moved far."""
    before, after = columns.verdicts
    is_broken = (before == Verdict.PASS) & (after == Verdict.FAIL)
    is_fixed = (before == Verdict.FAIL) & (after == Verdict.PASS)
    is_lost = before > Verdict.FAIL, after > Verdict.FAIL
    masks = {
        PairKind.PAIRS: before >= 0,
        PairKind.BROKE: is_broken,
        PairKind.FIXED: is_fixed,
        PairKind.UNCHANGED: (before == after) & ~is_lost[1],
        PairKind.UNCLEAR: is_lost[0] ^ is_lost[1],
        PairKind.NEITHER: is_lost[0] & is_lost[1],
    }
    for kind, mask in masks.items():
        yield _kept(kind, columns.positions[mask])
    for kind in (*ALONE, PairKind.EDITED):
        total = getattr(counts, kind.value)
        positions = pairs.positions(kind) if 0 < total <= FEW else []
        yield PairPlaces(kind=kind, total=total, positions=positions if total <= FEW else None)
    for each in scores:
        yield _kept(PairKind.BROKE, each.broke, each.scorers.name)
        yield _kept(PairKind.FIXED, each.fixed, each.scorers.name)
        for change, moved in each.moved:
            yield _kept(PairKind.PAIRS, moved, each.scorers.name, change_text(change))


def _kept(kind: PairKind, positions: np.ndarray, scorer: str = "", change: str = "") -> PairPlaces:
    """Of the positions of each pair, in the list's order."""
    few = sorted(set(positions.tolist())) if len(positions) <= FEW else None
    total = len(positions)
    return PairPlaces(kind=kind, scorer=scorer, change=change, total=total, positions=few)
