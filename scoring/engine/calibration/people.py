"""People's verdicts on outputs, and how far people agree with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final, NamedTuple

from scoring.core.stats.calibration import (
    VerdictTable,
    fleiss_kappa,
    krippendorff_alpha,
    verdict_table,
)
from scoring.models import ReviewVerdict
from scoring.models.reviews.people_verdict import PeopleVerdict, ReviewedOutput, reviewed_outputs
from scoring.models.reviews.review import ReviewQuerySet

DECIDED: Final = (PeopleVerdict.PASS, PeopleVerdict.FAIL)


class RaterPair(NamedTuple):
    """Two people on the outputs that both of them passed or failed."""

    one: str
    other: str
    table: VerdictTable


@dataclass(frozen=True)
class PeopleAgreement:
    """People against people, over the outputs that at least two of them passed or failed.

    `alpha` is for where some of them miss outputs that others have, see `misses_outputs`. `pairs`
    has those who reviewed some output both, most outputs first.
    """

    people: int
    outputs: int
    fleiss: float | None
    alpha: float | None
    misses_outputs: bool
    pairs: Sequence[RaterPair]

    @property
    def only_pair(self) -> RaterPair | None:
        """Of two people, whose agreement is Cohen's kappa; None for more."""
        return self.pairs[0] if self.people == 2 and self.pairs else None


@dataclass(frozen=True)
class People:
    """What people say of the outputs they reviewed."""

    outputs: Mapping[int, ReviewedOutput]

    @cached_property
    def decided(self) -> dict[int, bool]:
        """By output whether people pass it; outputs with any other verdict are left out."""
        return {
            output: each.verdict == PeopleVerdict.PASS
            for output, each in self.outputs.items()
            if each.verdict in DECIDED
        }

    @cached_property
    def counts(self) -> Counter[PeopleVerdict]:
        return Counter(each.verdict for each in self.outputs.values())

    @property
    def left_out(self) -> dict[PeopleVerdict, int]:
        """How many outputs people neither pass nor fail, by their verdict."""
        others = (verdict for verdict in PeopleVerdict if verdict not in DECIDED)
        return {verdict: self.counts[verdict] for verdict in others if self.counts[verdict]}


def read_people(reviews: ReviewQuerySet) -> People:
    return People({each.output: each for each in reviewed_outputs(reviews)})


def people_agreement(reviews: ReviewQuerySet) -> PeopleAgreement:
    """The reviewers of some outputs against each other, by the outputs they pass or fail."""
    verdicts: dict[int, dict[str, bool]] = defaultdict(dict)
    decided = reviews.filter(verdict__in=(ReviewVerdict.PASS, ReviewVerdict.FAIL))
    columns = ("output", "reviewer__email", "reviewer_name", "verdict")
    for output, email, name, verdict in decided.values_list(*columns):
        verdicts[output][email or name] = verdict == ReviewVerdict.PASS
    shared = [said for said in verdicts.values() if len(said) > 1]
    pairs: dict[tuple[str, str], list[tuple[bool, bool]]] = defaultdict(list)
    for said in shared:
        for one, other in combinations(sorted(said), 2):
            pairs[one, other].append((said[one], said[other]))
    votes = [(sum(said.values()), len(said) - sum(said.values())) for said in shared]
    tables = [RaterPair(*names, verdict_table(each)) for names, each in pairs.items()]
    return PeopleAgreement(
        people=len({person for said in shared for person in said}),
        outputs=len(shared),
        fleiss=fleiss_kappa(votes),
        alpha=krippendorff_alpha(votes),
        misses_outputs=len({sum(each) for each in votes}) > 1,
        pairs=sorted(tables, key=lambda pair: (-pair.table.n, pair.one, pair.other)),
    )
