"""Gates of a run as a person may see their answers, for pages and API alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from evalsite.blind_review import blind_pairs
from scoring.engine.calibration.gate_fitness import StampedScorer, stamped_scorers
from scoring.engine.compare.comparison import check_comparable
from scoring.engine.compare.gates import COMPARING_METRICS, Gate, GateCheck, GateLimits, check_gates
from scoring.engine.compare.jobs import compare_or_enqueue
from scoring.models import Output, Run, User
from scoring.models.reviews.broken_cases import NO_WAIVERS, WaivedCase, WaiverUse


class ShownCheck(NamedTuple):
    """The answers, and the waivers that they rest on.

    Cases that the person is yet to review count in the answers and are named nowhere; `left_out`
    is how many of the waived cases are such.
    """

    check: GateCheck
    waivers: WaiverUse = NO_WAIVERS
    left_out: int = 0

    @property
    def scorers(self) -> list[StampedScorer]:
        """The scorers that the gates rest on, with their stamps."""
        return stamped_scorers(self.check.run, self.check.scorer_names)


def needs_baseline(wanted: Sequence[Gate]) -> bool:
    """Whether one of the gates compares the run with another."""
    return any(gate.metric in COMPARING_METRICS for gate in wanted)


def check_gates_for(
    user: User, run: Run, baseline: Run | None, wanted: Sequence[Gate], limits: GateLimits
) -> ShownCheck | None:
    """The answers; None where large runs are not compared yet, which is then enqueued.

    Nothing is compared for gates that need no baseline. Raises GateError for a scorer that the run
    does not have, NotComparableError for a run that has not ended and for one of another dataset.
    """
    check_comparable(baseline or run, run)
    if baseline is None or not needs_baseline(wanted):
        return ShownCheck(check_gates(run, None, wanted, limits))
    if compare_or_enqueue(baseline, run, user) is None:
        return None
    blind = blind_pairs(user, baseline, run).candidate
    check = check_gates(run, baseline, wanted, limits, without=_positions_of(blind))
    if check.regressions is None:
        return ShownCheck(check)
    found = check.regressions.waivers
    waivers = WaiverUse(_leave_out(found.used, blind), _leave_out(found.expired, blind))
    left_out = sum(map(len, found)) - sum(map(len, waivers))
    return ShownCheck(check, waivers, left_out)


def _positions_of(outputs: Collection[int]) -> frozenset[int]:
    if not outputs:
        return frozenset()
    cases = Output.objects.filter(pk__in=outputs)
    return frozenset(cases.values_list("case__position", flat=True))


def _leave_out(cases: Sequence[WaivedCase], outputs: Collection[int]) -> tuple[WaivedCase, ...]:
    return tuple(
        case for case in cases if case.pair.candidate and case.pair.candidate.output not in outputs
    )
