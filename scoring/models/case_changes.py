"""What became of a run's cases since another run, as conditions on rows.

The case verdicts of the two runs decide, as in `scoring.models.pairs`, which also finds the cases
of a kind where they are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q

from scoring.models.pair_places import NOTHING_KEPT, KeptList, kept_list
from scoring.models.pair_rows import PairKind
from scoring.models.pairs import Pairs
from scoring.models.queries import partner_of
from scoring.models.run import Run
from scoring.models.score import Verdict

#: What the case is in this run, where the kind decides it, and what it was in the other.
_VERDICTS: Final = {
    PairKind.BROKE: (Verdict.FAIL, Verdict.PASS),
    PairKind.FIXED: (Verdict.PASS, Verdict.FAIL),
}
#: The kinds that verdicts decide; what only one run has, and what was edited, a comparison lists.
KINDS: Final = (
    PairKind.BROKE,
    PairKind.FIXED,
    PairKind.UNCHANGED,
    PairKind.UNCLEAR,
    PairKind.NEITHER,
)


@dataclass(frozen=True)
class Change:
    """One of KINDS, against another run of the same dataset.

    `is_compared` is False where it is known that nothing is kept of the two runs.
    """

    kind: PairKind
    against: Run
    is_compared: bool = True

    @property
    def is_rare(self) -> bool:
        """Whether it is worth a query to find out how few cases are of this kind."""
        return self.kind != PairKind.UNCHANGED

    @property
    def verdict(self) -> Verdict | None:
        """What a case of this kind is in the run itself; None where that differs."""
        return _VERDICTS.get(self.kind, (None, None))[0]

    def kept(self, run: Run) -> KeptList:
        """What is kept of such cases since the two runs were compared."""
        return kept_list(self.against, run, self.kind) if self.is_compared else NOTHING_KEPT

    def places(self, run: Run) -> tuple[str, dict[str, Any]] | None:
        """SQL of the positions of such cases with its values; None where there can be none."""
        return Pairs(self.against, run).places(self.kind)

    def condition(self, run: Run) -> Q:
        """For case verdicts of the run: that this became of them."""
        partner = partner_of(run, self.against)
        is_judged = Q(verdict__lte=Verdict.FAIL)
        if self.kind == PairKind.UNCHANGED:
            # Asked of the partner, for an index on verdicts is not to lead the walk.
            return Q(Exists(partner.filter(is_judged, verdict=OuterRef("verdict"))))
        if self.kind == PairKind.NEITHER:
            return Q(~is_judged, Exists(partner.exclude(is_judged)))
        if self.kind == PairKind.UNCLEAR:
            return Q(is_judged, Exists(partner.exclude(is_judged))) | Q(
                ~is_judged, Exists(partner.filter(is_judged))
            )
        now, before = _VERDICTS[self.kind]
        return Q(Exists(partner.filter(verdict=before)), verdict=now)
