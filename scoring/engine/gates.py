"""Conditions a run must meet: `pass_rate>=0.9`, `mean.close enough>=0.8`, `regressions<=0`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Final, Literal, NamedTuple

from django.db.models import Q, QuerySet

from scoring.engine.regressions import Regressions
from scoring.models import Baseline, Run, RunState, RunSummary

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

NO_BASELINE: Final = "there is no earlier run to have regressed from"
NO_PAIR: Final = "no case has a verdict in both runs"

State = Literal["passed", "failed", "undecided"]


class GateError(Exception):
    """A gate cannot be read or asked of this run; the text says what can."""


@dataclass(frozen=True)
class Gate:
    """One condition. `scorer` is empty but for `mean.SCORER`."""

    text: str
    metric: Literal["pass_rate", "regressions", "mean"]
    scorer: str
    comparison: str
    limit: float

    def holds(self, value: float) -> bool:
        return COMPARISONS[self.comparison](value, self.limit)


class Measure(NamedTuple):
    """What a gate looks at: its value (None when there is none), and n with how many unjudged."""

    value: float | None
    n: int
    unjudged: int


class Outcome(NamedTuple):
    """A gate's answer. `why` says what it could not go by; it is empty for a plain answer."""

    gate: Gate
    state: State
    value: float | None
    why: str = ""


def parse_gate(text: str) -> Gate:
    """The gate a text describes. Raises GateError."""
    found = _GATE.fullmatch(text)
    limit = _number(found["limit"]) if found else None
    if found is None or limit is None:
        raise GateError(
            f"the gate {text!r} cannot be read; write pass_rate>=0.9, mean.SCORER>=0.8 or "
            f"regressions<=0, with one of {' '.join(COMPARISONS)}"
        )
    metric, scorer = found["metric"], found["scorer"] or ""
    kind: Literal["pass_rate", "regressions", "mean"]
    kind = "mean" if scorer else "regressions" if metric == "regressions" else "pass_rate"
    return Gate(text.strip(), kind, scorer, found["comparison"], limit)


def decide(gate: Gate, measure: Measure, max_unjudged: float) -> Outcome:
    """Passed, failed, or undecided when more than this share has no verdict to go by."""
    value, n, unjudged = measure
    if n and unjudged / n > max_unjudged:
        why = f"{unjudged:,} of {n:,} have an error or were skipped, over {max_unjudged:.4g}"
        return Outcome(gate, "undecided", value, why)
    if value is None or n == 0:
        return Outcome(gate, "undecided", None, "nothing was scored")
    return Outcome(gate, "passed" if gate.holds(value) else "failed", value)


def check_gate(
    gate: Gate, run: Run, regressions: Regressions | None, max_unjudged: float
) -> Outcome:
    """The gate's answer for a finished run; without a baseline nothing has regressed."""
    if gate.metric == "regressions" and regressions and not _is_known(regressions, max_unjudged):
        return Outcome(gate, "undecided", regressions.broke, _unknown(regressions, max_unjudged))
    outcome = decide(gate, measure(gate, run, regressions), max_unjudged)
    if gate.metric != "regressions" or outcome.why:
        return outcome
    if regressions is None:
        return outcome._replace(value=None, why=NO_BASELINE)
    return outcome._replace(why=regressions.note)


def _is_known(found: Regressions, max_unknown: float) -> bool:
    """Whether enough of the cases have a verdict in both runs, and any has."""
    return found.unknown < found.n and found.unknown / found.n <= max_unknown


def _unknown(found: Regressions, max_unknown: float) -> str:
    if found.unknown == found.n:
        return f"{NO_PAIR}: {found.note}" if found.note else NO_PAIR
    return f"{found.note}, over {max_unknown:.4g}"


def measure(gate: Gate, run: Run, regressions: Regressions | None) -> Measure:
    """The gate's figure from the run's summaries and what is known of its regressions."""
    if gate.metric == "mean":
        summary = RunSummary.objects.get(scorer__run=run, scorer__name=gate.scorer)
        return Measure(summary.mean, summary.n, summary.errors + summary.skipped)
    passed, failed = run.pass_count or 0, run.fail_count or 0
    unjudged = (run.error_count or 0) + (run.skipped_count or 0)
    judged = passed + failed
    if gate.metric == "pass_rate":
        return Measure(passed / judged if judged else None, judged + unjudged, unjudged)
    return Measure(regressions.broke if regressions else 0, judged + unjudged, unjudged)


def baseline_of(run: Run) -> Run | None:
    """What the run is compared with: the one pinned for its series, else the previous one."""
    pinned = (
        Baseline.objects.of(run)
        .exclude(run=run)
        .select_related("run__output_set__version__dataset")
        .first()
    )
    return pinned.run if pinned else previous_run(run)


def previous_run(run: Run) -> Run | None:
    """The latest earlier finished run of the same dataset and series."""
    dated = run.output_set.dated
    is_earlier = Q(output_set__dated__lt=dated) | Q(output_set__dated=dated, pk__lt=run.pk)
    return _others(run).filter(is_earlier).order_by("-output_set__dated", "-pk").first()


def next_run(run: Run) -> Run | None:
    """The first later finished run of the same dataset and series."""
    dated = run.output_set.dated
    is_later = Q(output_set__dated__gt=dated) | Q(output_set__dated=dated, pk__gt=run.pk)
    return _others(run).filter(is_later).order_by("output_set__dated", "pk").first()


def _others(run: Run) -> QuerySet[Run]:
    """The other finished runs of its dataset and series."""
    outputs = run.output_set
    same = Run.objects.of_dataset(outputs.version.dataset).filter(
        output_set__series=outputs.series, state=RunState.FINISHED
    )
    return same.exclude(pk=run.pk).select_related("output_set__version__dataset")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
