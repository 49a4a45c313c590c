"""Conditions a run must meet: `pass_rate>=0.9`, `mean.close enough>=0.8`, `regressions<=0`,
`no_regression`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from scoring.core.stats.mcnemar import ALPHA
from scoring.core.stats.paired_tests import POWER
from scoring.core.wording.numbers import short_count
from scoring.models import Run, RunSummary
from scoring.models.runs.run import MAX_ERROR_SHARE

if TYPE_CHECKING:
    from scoring.engine.compare.regressions import Regressions
    from scoring.engine.compare.verdict_changes import FlipTest
    from scoring.models.reviews.broken_cases import WaiverUse

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_GATE: Final = re.compile(
    r"\s*(?P<metric>pass_rate|regressions|mean\.(?P<scorer>.+?))\s*"
    r"(?P<comparison>[<>=!]=|[<>])\s*(?P<limit>[-+.\w]+)\s*"
)

NO_REGRESSION: Final = "no_regression"
DEFAULT_UNJUDGED: Final = MAX_ERROR_SHARE  # of the cases: over it gates are undecided
DEFAULT_DROP: Final = 0.1  # of the share of cases that pass: found with POWER, else undecided
MAX_NAMED: Final = 5  # cases worth more trials
#: Metrics that need a baseline.
COMPARING_METRICS: Final = ("regressions", NO_REGRESSION)

NO_BASELINE: Final = "there is no earlier run to have regressed from"
NO_PAIR: Final = "no case has a verdict in both runs"

State = Literal["passed", "failed", "undecided"]
SEVEREST_FIRST: Final[tuple[State, ...]] = ("failed", "undecided", "passed")


class GateError(Exception):
    """A gate cannot be parsed or does not fit this run; the text says what does."""


@dataclass(frozen=True)
class Gate:
    """One condition. `scorer` is empty but for `mean.SCORER`.

    `no_regression` fails by McNemar's test, two-sided at ALPHA, and passes only where that had
    the power to find a drop.
    """

    text: str
    metric: Literal["pass_rate", "regressions", "mean", "no_regression"]
    scorer: str
    comparison: str
    limit: float

    def holds(self, value: float) -> bool:
        return COMPARISONS[self.comparison](value, self.limit)


class GateMeasure(NamedTuple):
    """The value a gate limits, None when there is none, and how many of `n` are unjudged."""

    value: float | None
    n: int
    unjudged: float


class GateOutcome(NamedTuple):
    """A gate's answer. `why` says what it rests on or lacks; it is empty for a plain answer.

    `figures` are what the test of `no_regression` could find, for JSON; None of other gates.
    `cases` names those worth more trials, where it is undecided.
    """

    gate: Gate
    state: State
    value: float | None
    why: str = ""
    figures: Mapping[str, Any] | None = None
    cases: str = ""

    @property
    def explanation(self) -> str:
        """`why` with the named cases."""
        return "; ".join(filter(None, (self.why, self.cases)))


def parse_gate(text: str) -> Gate:
    """The gate a text describes. Raises GateError."""
    if text.strip() == NO_REGRESSION:
        return Gate(NO_REGRESSION, "no_regression", "", ">", ALPHA)
    match = _GATE.fullmatch(text)
    limit = _number(match["limit"]) if match else None
    if match is None or limit is None:
        raise GateError(
            f"the gate {text!r} cannot be read; write pass_rate>=0.9, mean.SCORER>=0.8 or "
            f"regressions<=0, with one of {' '.join(COMPARISONS)}, or {NO_REGRESSION} alone"
        )
    scorer = match["scorer"] or ""
    metric: Any = "mean" if scorer else match["metric"]
    return Gate(text.strip(), metric, scorer, match["comparison"], limit)


class GateLimits(NamedTuple):
    """Gates are undecided over `max_unjudged`, a share of cases without a verdict; `drop` is the
    fall of the share of passes that `no_regression` is to find.
    """

    max_unjudged: float = DEFAULT_UNJUDGED
    drop: float = DEFAULT_DROP

    def check(self) -> None:
        """Raises GateError unless both are shares, named as the options of the commands."""
        if not 0 <= self.max_unjudged <= 1:
            raise GateError("--max-errors is a share from 0 to 1")
        if not 0 < self.drop <= 1:
            raise GateError("--min-drop is a share above 0, up to 1")


class GateCheck(NamedTuple):
    """What gates answer of a run; `regressions` is None without a baseline."""

    run: Run
    baseline: Run | None
    regressions: Regressions | None
    outcomes: list[GateOutcome]

    @property
    def scorer_names(self) -> list[str] | None:
        """See `find_scorers`."""
        return find_scorers(self.outcomes)

    @property
    def state(self) -> State:
        """Of all together: failed where one has failed, and passed where all have."""
        states = {outcome.state for outcome in self.outcomes}
        return next((state for state in SEVEREST_FIRST if state in states), "passed")


def check_gates(
    run: Run,
    baseline: Run | None,
    wanted: Sequence[Gate],
    limits: GateLimits,
    *,
    without: Collection[int] = (),
) -> GateCheck:
    """The answers about a finished run, as commands, pages and API give them.

    Cases at the positions `without` count, but are not named as worth more trials. Raises GateError
    for a scorer that the run does not have.
    """
    check_scorers(wanted, run.scorers.values_list("name", flat=True), f"the run {run}")
    regressions = None
    if baseline:
        from scoring.engine.compare.regressions import (
            count_regressions,  # builds wait for its imports
        )

        is_tested = any(gate.metric == NO_REGRESSION for gate in wanted)
        regressions = count_regressions(run, baseline, is_tested=is_tested)
        if regressions.flips and without:
            regressions = regressions._replace(flips=regressions.flips.leave_out(without))
    outcomes = [check_gate(gate, run, regressions, *limits) for gate in wanted]
    return GateCheck(run, baseline, regressions, outcomes)


def find_scorers(outcomes: Iterable[GateOutcome]) -> list[str] | None:
    """The scorers that the gates name; None for all of the run, on which the other gates rest."""
    names = [outcome.gate.scorer for outcome in outcomes]
    return names if all(names) else None


def check_scorers(wanted: Iterable[Gate], names: Iterable[str], whose: str) -> None:
    """Raises GateError for a gate on a scorer that is not among the names."""
    known = set(names)
    for gate in wanted:
        if gate.scorer and gate.scorer not in known:
            text = f"{whose} has no such scorer; it has: {', '.join(sorted(known))}"
            raise GateError(f"{gate.text}: {text}")


def decide_gate(gate: Gate, measure: GateMeasure, max_unjudged: float) -> GateOutcome:
    """Passed, failed, or undecided when more than this share has no verdict."""
    value, n, unjudged = measure
    if n and unjudged / n > max_unjudged:
        causes = "have no output, have an error or were skipped"
        why = f"{short_count(unjudged)} of {n:,} {causes}, over {max_unjudged:.4g}"
        return GateOutcome(gate, "undecided", value, why)
    if value is None or n == 0:
        return GateOutcome(gate, "undecided", None, "nothing was scored")
    return GateOutcome(gate, "passed" if gate.holds(value) else "failed", value)


def check_gate(
    gate: Gate,
    run: Run,
    regressions: Regressions | None,
    max_unjudged: float,
    drop: float = DEFAULT_DROP,
) -> GateOutcome:
    """The gate's answer for a finished run; without a baseline nothing has regressed. `drop` is
    what `no_regression` is to find.
    """
    measured = measure_gate(gate, run, regressions)
    needs_baseline = gate.metric in COMPARING_METRICS
    if needs_baseline and regressions and (why := _explain_unknown(regressions, max_unjudged)):
        return GateOutcome(gate, "undecided", measured.value, why)
    outcome = decide_gate(gate, measured, max_unjudged)
    if not needs_baseline or outcome.why:
        return outcome
    if regressions is None:
        return outcome._replace(state="passed", value=None, why=NO_BASELINE)
    if gate.metric == NO_REGRESSION:
        return _test_flips(gate, regressions, drop)
    notes = filter(None, (waivers_text(regressions.waivers), regressions.note))
    return outcome._replace(why="; ".join(notes))


def waivers_text(waivers: WaiverUse) -> str:
    """How many cases are waived, and how many were until a day that is over; empty if none is."""
    counts = {"waived": waivers.used, "no longer waived": waivers.expired}
    return ", ".join(f"{len(cases):,} {state}" for state, cases in counts.items() if cases)


def _explain_unknown(regressions: Regressions, max_unknown: float) -> str:
    """Why too many cases lack a verdict in one of the runs; empty where enough have both."""
    unknown, n, note = regressions.unknown, regressions.n, regressions.note
    if unknown == n:
        return f"{NO_PAIR}: {note}" if note else NO_PAIR
    return f"{note}, over {max_unknown:.4g}" if unknown / n > max_unknown else ""


def _test_flips(gate: Gate, regressions: Regressions, drop: float) -> GateOutcome:
    """Failed by a significant drop; else passed where `drop` would have been found with POWER."""
    flips = regressions.flips
    if flips is None or flips.p is None:
        return GateOutcome(gate, "undecided", None, NO_PAIR)
    state = flips.state(drop)
    parts = [f"{flips.broke:,} broke, {flips.fixed:,} fixed", regressions.note]
    parts += [_power_text(flips, drop)]
    cases = ""
    if state == "undecided":
        parts += [_needs_text(flips, drop)]
        cases = _cases_text(flips)
    return GateOutcome(
        gate, state, flips.p, "; ".join(filter(None, parts)), flips.as_json(drop), cases
    )


def _power_text(flips: FlipTest, drop: float) -> str:
    """The power for the drop, and for which one it would be POWER, rounded up."""
    text = f"power {floor(100 * flips.power(drop))} % for a drop of {drop:g}"
    if detectable := flips.detectable_drop:
        text += f", {100 * POWER:.0f} % for {ceil(1000 * detectable) / 1000:g}"
    if flips.judge_flips and flips.judge_flips > flips.discordance:
        text += f"; judges alone flip {100 * flips.judge_flips:.1f} % of verdicts"
    return text


def _needs_text(flips: FlipTest, drop: float) -> str:
    """How many cases or trials the power takes."""
    needs = []
    if trials := flips.trials_needed(drop):
        needs.append(f"{trials} times the trials")
    if cases := flips.cases_needed(drop):
        needs.append(f"about {cases:,} cases")
    return f"needs {' or '.join(needs)}" if needs else ""


def _cases_text(flips: FlipTest) -> str:
    """The first cases that are worth more trials."""
    if not flips.unstable:
        return ""
    named = flips.unstable_keys[:MAX_NAMED]
    more = flips.unstable_count - len(named)
    return f"worth more trials: {', '.join(named)}{f' and {more:,} more' if more else ''}"


def measure_gate(gate: Gate, run: Run, regressions: Regressions | None) -> GateMeasure:
    """The gate's figure from the run's summaries and what is known of its regressions."""
    if gate.metric == "mean":
        summary = RunSummary.objects.filter(scorer__run=run, scorer__name=gate.scorer).first()
        if summary is None:  # cancelled before it began
            return GateMeasure(None, 0, 0)
        return GateMeasure(summary.mean, summary.n, summary.unscored)
    passed, n = run.pass_count or 0, run.expected_count
    judged = passed + (run.fail_count or 0)
    value: float | None
    if gate.metric == "pass_rate":
        value = passed / judged if judged else None
    elif gate.metric == NO_REGRESSION:
        value = regressions.flips.p if regressions and regressions.flips else 1.0
    else:
        value = regressions.unwaived if regressions else 0
    return GateMeasure(value, n, run.unjudged)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
