"""How many pairs of two runs there are of each kind, and the positions of rare ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from scoring.core.wording.comparison import UnjudgedCases
from scoring.engine.compare.columns import MatchedCases
from scoring.engine.compare.scores import ScorerComparison
from scoring.models import Case, CaseVerdict, Run, Verdict
from scoring.models.pairs.pair_index import PairIndex, change_text
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import Counts, PairKind
from scoring.models.pairs.search import MAX_POSITIONS
from scoring.models.pairs.sql import UNPAIRED_KINDS

if TYPE_CHECKING:
    import numpy as np


def count_pairs(pairs: Pairs, columns: MatchedCases) -> Counts:
    """As `pairs.counts()`, without joining all cases once more."""
    import numpy as np

    before, after = columns.verdicts
    kinds = len(Verdict)
    counts = np.bincount(before * kinds + after, minlength=kinds**2).tolist()
    return pairs.counts_of({divmod(code, kinds): count for code, count in enumerate(counts)})


def count_unjudged(columns: MatchedCases) -> UnjudgedCases:
    """The pairs with an error or a skip on at least one side."""
    before, after = columns.verdicts
    was_lost, is_lost = before > Verdict.FAIL, after > Verdict.FAIL
    masks = (
        (before == Verdict.PASS) & is_lost,
        (before == Verdict.FAIL) & is_lost,
        was_lost & ~is_lost,
        was_lost & is_lost,
    )
    return UnjudgedCases(*(int(mask.sum()) for mask in masks))


def count_unpaired(baseline: Run, candidate: Run, counts: Counts) -> int:
    """Cases of both dataset versions with an output in one run only."""
    alone = _alone(baseline, candidate) if counts.only_baseline else 0
    return alone + (_alone(candidate, baseline) if counts.only_candidate else 0)


def build_pair_index(
    pairs: Pairs, columns: MatchedCases, counts: Counts, scorers: Sequence[ScorerComparison]
) -> Iterator[PairIndex]:
    """A row for each list, and for each scorer's lists of what broke, was fixed and moved far."""
    before, after = columns.verdicts
    was_lost, is_lost = before > Verdict.FAIL, after > Verdict.FAIL
    masks = {
        PairKind.PAIRS: before >= 0,
        PairKind.BROKE: (before == Verdict.PASS) & (after == Verdict.FAIL),
        PairKind.FIXED: (before == Verdict.FAIL) & (after == Verdict.PASS),
        PairKind.UNCHANGED: (before == after) & ~is_lost,
        PairKind.UNCLEAR: was_lost ^ is_lost,
        PairKind.NEITHER: was_lost & is_lost,
    }
    for kind, mask in masks.items():
        yield _index_row(kind, columns.positions[mask])
    for kind in (*UNPAIRED_KINDS, PairKind.EDITED):
        total = getattr(counts, kind.value)
        positions = pairs.positions(kind) if 0 < total <= MAX_POSITIONS else []
        yield PairIndex(
            kind=kind, total=total, positions=positions if total <= MAX_POSITIONS else None
        )
    for scorer in scorers:
        name = scorer.figures.name
        yield _index_row(PairKind.BROKE, scorer.broke, name)
        yield _index_row(PairKind.FIXED, scorer.fixed, name)
        for change, moved in scorer.moved:
            yield _index_row(PairKind.PAIRS, moved, name, change_text(change))


def _index_row(
    kind: PairKind, positions: np.ndarray, scorer: str = "", change: str = ""
) -> PairIndex:
    """The row for a list of pairs with these positions; those of many are not kept."""
    few = sorted(set(positions.tolist())) if len(positions) <= MAX_POSITIONS else None
    total = len(positions)
    return PairIndex(kind=kind, scorer=scorer, change=change, total=total, positions=few)


def _alone(run: Run, other: Run) -> int:
    """Cases that the other's dataset version has and the other has no output for."""
    position = "position"
    verdicts: QuerySet[CaseVerdict] = CaseVerdict.objects.filter(run=run)
    if run.has_trials:
        verdicts = verdicts.exclude(of_case=None)
    version = other.output_set.version_id
    if version != run.output_set.version_id:
        same = Case.objects.filter(version=version, key=OuterRef("output__case__key")).order_by()
        other_position = Subquery(same.values("position")[:1])
        position = "other_position"
        verdicts = verdicts.annotate(other_position=other_position).exclude(other_position=None)
    of_other = CaseVerdict.objects.filter(run=other, position=OuterRef(position))
    return verdicts.exclude(Exists(of_other)).count()
