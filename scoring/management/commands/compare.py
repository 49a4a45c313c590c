"""`manage.py compare`: what changed from one run to others, as the compare page shows it."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.core.management.base import BaseCommand, CommandError

from scoring.engine.compare import gates, report
from scoring.engine.compare.claims import correct_claims
from scoring.engine.compare.comparison import NotComparableError, compare_runs
from scoring.engine.compare.figures import Figures
from scoring.engine.compare.gate_text import outcome_text
from scoring.engine.compare.gates import Gate, GateLimits, GateOutcome
from scoring.engine.compare.regressions import Regressions, waivers_json
from scoring.engine.compare.report import ComparedRun
from scoring.engine.reports.comparison_report import comparison_report
from scoring.engine.reports.run_summary import (
    gate_json,
    stamp_lines,
    stamps_json,
    waiver_lines,
)
from scoring.management.console import check_writable, find_team, requires_database, usage_error
from scoring.management.database import check_database
from scoring.management.lookups import get_dataset, get_run

MAX_CANDIDATES: Final = 10  # candidates
GATE_HELP: Final = "regressions<=0, no_regression, pass_rate>=0.9 or mean.SCORER>=0.8"


class GatedRun(NamedTuple):
    """A candidate with what its gates answer; `regressions` is None where no gate is asked."""

    compared: ComparedRun
    regressions: Regressions | None
    outcomes: list[GateOutcome]


class Command(BaseCommand):
    help = "Compare runs of one dataset with a baseline: what broke, and what is significant."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("baseline", metavar="BASELINE", help="a run's name or id")
        add(
            "candidates", metavar="CANDIDATE", nargs="+", help=f"the same; at most {MAX_CANDIDATES}"
        )
        add("--team", metavar="SLUG", help="needed where there are several teams")
        add("--dataset", metavar="NAME", help="whose runs, where several datasets have such names")
        add("--gate", action="append", default=[], metavar="EXPR", help=GATE_HELP)
        add("--max-errors", type=float, default=gates.DEFAULT_UNJUDGED, metavar="SHARE",
            help="gates are undecided over this share of errors and skips")  # fmt: skip
        add("--min-drop", type=float, default=gates.DEFAULT_DROP, metavar="SHARE",
            help="no_regression is undecided unless it could find such a drop")  # fmt: skip
        add("--json", action="store_true", help="print JSON instead of tables")
        add("--markdown", type=Path, metavar="FILE")
        add("--html", type=Path, metavar="FILE", help="a report in one file, to hand out")

    def handle(self, **options: Any) -> None:
        if len(options["candidates"]) > MAX_CANDIDATES:
            raise usage_error(
                f"{len(options['candidates'])} candidates are too many: name up to {MAX_CANDIDATES}"
            )
        for name in ("markdown", "html"):
            if options[name]:
                check_writable(options[name])
        wanted = _parse_gates(options)
        with requires_database():
            check_database()
            gated = _check_gates(_compare(options), wanted, options)
            self._write(gated, options)
        if missed := list(_missed(gated)):
            raise CommandError(f"not met: {', '.join(missed)}", returncode=1)

    def _write(self, gated: list[GatedRun], options: dict[str, Any]) -> None:
        compared = [run.compared for run in gated]
        facts = [line for run in gated for line in _gate_lines(run, has_name=len(gated) > 1)]
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(gated), ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join([report.as_tables(compared), *facts]))
        if options["markdown"]:
            lines = "".join(f"- {fact}\n" for fact in facts)
            text = report.as_markdowns(compared)
            options["markdown"].write_text(f"{text}{lines}", encoding="utf-8")
        if options["html"]:
            figures = [(run.candidate, run.figures) for run in compared]
            text = comparison_report(compared[0].baseline, figures)
            options["html"].write_text(text, encoding="utf-8")


def _compare(options: dict[str, Any]) -> list[ComparedRun]:
    team = find_team(options["team"])
    name = options["dataset"]
    dataset = None if name is None else get_dataset(team, name)
    baseline = get_run(team, dataset, options["baseline"])
    dataset = dataset or baseline.output_set.version.dataset
    candidates = dict.fromkeys(get_run(team, dataset, run) for run in options["candidates"])
    if baseline in candidates:
        raise usage_error(f"{baseline.name} is the baseline: name another run to compare with it")
    try:
        figures = [Figures.read(compare_runs(baseline, run).figures) for run in candidates]
    except NotComparableError as fault:
        raise usage_error(fault.text) from None
    return [
        ComparedRun(baseline, run, corrected)
        for run, corrected in zip(candidates, correct_claims(figures), strict=True)
    ]


def _parse_gates(options: dict[str, Any]) -> list[Gate]:
    try:
        GateLimits(options["max_errors"], options["min_drop"]).check()
        return [gates.parse_gate(text) for text in options["gate"]]
    except gates.GateError as fault:
        raise usage_error(str(fault)) from None


def _check_gates(
    compared: list[ComparedRun], wanted: list[Gate], options: dict[str, Any]
) -> list[GatedRun]:
    """Each candidate with the answers of the gates about it."""
    if not wanted:
        return [GatedRun(run, None, []) for run in compared]
    limits = GateLimits(options["max_errors"], options["min_drop"])
    gated = []
    for run in compared:
        try:
            check = gates.check_gates(run.candidate, run.baseline, wanted, limits)
        except gates.GateError as fault:
            raise usage_error(str(fault)) from None
        gated.append(GatedRun(run, check.regressions, check.outcomes))
    return gated


def _missed(gated: list[GatedRun]) -> Iterator[str]:
    """The gates that did not pass, with the run where there are several."""
    for run in gated:
        of_run = f" for {run.compared.candidate.name}" if len(gated) > 1 else ""
        for outcome in run.outcomes:
            if outcome.state != "passed":
                yield f"{outcome.gate.text}{of_run}"


def _gate_lines(run: GatedRun, *, has_name: bool) -> Iterator[str]:
    """The waivers that the gates went by, the stamps of their scorers, and their answers."""
    name = f"{run.compared.candidate.name}: " if has_name else ""
    waivers = waiver_lines(run.regressions.waivers) if run.regressions else ()
    stamps = stamp_lines(run.compared.candidate, run.outcomes)
    for line in (*waivers, *stamps, *map(outcome_text, run.outcomes)):
        yield f"{name}{line}"


def _as_json(gated: list[GatedRun]) -> dict[str, Any]:
    return {
        "baseline": report.run_json(gated[0].compared.baseline),
        "comparisons": [_run_json(run) for run in gated],
    }


def _run_json(run: GatedRun) -> dict[str, Any]:
    """The comparison, and where gates were asked what they answer."""
    found = {
        "candidate": report.run_json(run.compared.candidate),
        **report.as_json(run.compared.figures),
        "relabel": report.relabels_json(run.compared.baseline, run.compared.candidate),
    }
    if run.regressions is None:
        return found
    return {
        **found,
        "regressions": run.regressions.unwaived,
        "waivers": waivers_json(run.regressions.waivers),
        "gates": [gate_json(outcome) for outcome in run.outcomes],
        "stamps": stamps_json(run.compared.candidate, run.outcomes),
    }
