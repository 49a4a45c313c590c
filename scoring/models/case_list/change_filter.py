"""Changes of a run's cases since another run, as query conditions.

The case verdicts of the two runs decide, as in `scoring.models.pairs.pairs`, which
also finds the cases of a kind where they are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, OuterRef, Q

from scoring.models.pairs.pair_index import NOT_INDEXED, IndexedList, indexed_list
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairKind
from scoring.models.queries import case_verdict_of, partner_verdict
from scoring.models.runs.run import Run
from scoring.models.runs.score import Verdict

#: What the case is in this run, where the kind decides it, and what it was in the other.
_VERDICTS: Final = {
    PairKind.BROKE: (Verdict.FAIL, Verdict.PASS),
    PairKind.FIXED: (Verdict.PASS, Verdict.FAIL),
}
#: The kinds that verdicts decide; what only one run has, and what was edited, a comparison lists.
CHANGE_KINDS: Final = (
    PairKind.BROKE,
    PairKind.FIXED,
    PairKind.UNCHANGED,
    PairKind.UNCLEAR,
    PairKind.NEITHER,
)


@dataclass(frozen=True)
class ChangeFilter:
    """One of CHANGE_KINDS, against another run of the same dataset.

    `is_compared` is False where it is known that nothing is kept of the two runs.
    """

    kind: PairKind
    baseline: Run
    is_compared: bool = True

    @property
    def is_rare(self) -> bool:
        """Whether it is worth a query to find out how few cases are of this kind."""
        return self.kind != PairKind.UNCHANGED

    @property
    def verdict(self) -> Verdict | None:
        """What a case of this kind is in the run itself; None where that differs."""
        return _VERDICTS.get(self.kind, (None, None))[0]

    def kept(self, run: Run) -> IndexedList:
        """What is kept of such cases since the two runs were compared."""
        return indexed_list(self.baseline, run, self.kind) if self.is_compared else NOT_INDEXED

    def first_positions(self, run: Run, limit: int) -> list[int]:
        """The positions of such cases, in no order, up to `limit`."""
        return Pairs(self.baseline, run).first_positions(self.kind, limit)

    def condition(self, run: Run) -> Q:
        """For case verdicts of the run: that this became of their cases. Of several trials only the
        first one's row has it.
        """
        partner = partner_verdict(run, self.baseline)
        own, other = case_verdict_of(run), case_verdict_of(self.baseline)
        is_judged, was_judged = Q((f"{own}__lte", Verdict.FAIL)), Q((f"{other}__lte", Verdict.FAIL))
        is_lost, was_lost = Q((f"{own}__gt", Verdict.FAIL)), Q((f"{other}__gt", Verdict.FAIL))
        if self.kind == PairKind.UNCHANGED:
            # Asked of the partner, for an index on verdicts is not to lead the walk.
            return Q(Exists(partner.filter(was_judged, (other, OuterRef(own)))))
        if self.kind == PairKind.NEITHER:
            return Q(is_lost, Exists(partner.filter(was_lost)))
        if self.kind == PairKind.UNCLEAR:
            return Q(is_judged, Exists(partner.filter(was_lost))) | Q(
                is_lost, Exists(partner.filter(was_judged))
            )
        now, before = _VERDICTS[self.kind]
        return Q((own, now), Exists(partner.filter((other, before))))
