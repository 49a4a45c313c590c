"""A finished run as a table, as Markdown, as JSON and as JUnit XML."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TextIO
from xml.sax.saxutils import quoteattr

from django.db.models import Count, Min

from scoring.core.number_text import number_text, share_text, short_text, typeable
from scoring.core.stats import Estimate
from scoring.engine.gates import Outcome
from scoring.engine.regressions import Regressions
from scoring.models import CaseVerdict, Run, RunSummary, Score, Status, Verdict

HEAD: Final = ("scorer", "mean [95 %]", "pass rate", "n of N", "errors", "threshold")
SHOWN_CAUSES: Final = 5
SHOWN_DECIMALS: Final = 6  # of what a gate looked at
_JUNIT: Final = {Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIPPED: "skipped"}
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Report(NamedTuple):
    """All that is told about a finished run. `regressions` is None without a baseline.

    `seeks_baseline`: the series was searched for one.
    """

    run: Run
    baseline: Run | None
    regressions: Regressions | None
    outcomes: Sequence[Outcome]
    seeks_baseline: bool = False


def table(report: Report) -> str:
    """The summary for a terminal: a line per scorer, then verdicts and gates."""
    rows = [HEAD, *_rows(report.run)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = [_padded(row, widths) for row in rows]
    return "\n".join([*lines, "", *_facts(report)]) + "\n"


def markdown(report: Report) -> str:
    """The same as `table`, for a pull request."""
    rows = [HEAD, ("---",) * len(HEAD), *_rows(report.run)]
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    facts = [f"- {fact}" for fact in _facts(report)]
    return "\n".join([f"### {report.run.name}", "", *lines, "", *facts]) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The run in the shape of the API, and what a pipeline asks besides."""
    run, found = report.run, report.regressions
    total = run.case_count or 0
    return {
        "id": str(run.uuid),
        "name": run.name,
        "state": run.state,
        "progress": {"done": total, "total": total},
        "verdicts": run.verdict_counts,
        "missing_expected": run.missing_expected_count,
        "without_output": _count_without_output(run),
        "cost_usd": run.cost_usd,
        "judge_calls": run.judge_calls,
        "judge_tokens_in": run.judge_tokens_in,
        "judge_tokens_out": run.judge_tokens_out,
        "judge_cost_usd": run.judge_cost_usd,
        "budget_usd": run.budget_usd,
        "scorers": [_scorer_json(summary) for summary in _summaries(run)],
        "baseline": str(report.baseline.uuid) if report.baseline else None,
        "regressions": found.broke if found else None,
        "regressions_unknown": found.as_json() if found else None,
        "warnings": list(found.warnings) if found else [],
        "gates": [
            {"gate": each.gate.text, "state": each.state, "value": each.value, "why": each.why}
            for each in report.outcomes
        ],
    }


def write_junit(report: Report, out: TextIO) -> None:
    """A test case per gate, then one per case and trial, in the dataset's order; written as read.

    An undecided gate is an error, not a skip: the command's exit code fails by it too.
    """
    run = report.run
    states = Counter(outcome.state for outcome in report.outcomes)
    counts = (
        f'tests="{(run.case_count or 0) + states.total()}" '
        f'failures="{(run.fail_count or 0) + states["failed"]}" '
        f'errors="{(run.error_count or 0) + states["undecided"]}" '
        f'skipped="{run.skipped_count or 0}"'
    )
    name = _attribute(run.name)
    out.write(f'<?xml version="1.0" encoding="utf-8"?>\n<testsuite name={name} {counts}>\n')
    _write_properties(report, out)
    for outcome in report.outcomes:
        problem = {"failed": "failure", "undecided": "error"}.get(outcome.state, "")
        _write_test(out, f"{run.name} gates", outcome.gate.text, problem, _outcome_text(outcome))
    for key, trial, verdict, text in _cases(run):
        case = f"{key} (trial {trial})" if trial else key
        _write_test(out, run.name, case, _JUNIT.get(Verdict(verdict), ""), text)
    out.write("</testsuite>\n")


def _write_test(out: TextIO, group: str, name: str, problem: str, text: str) -> None:
    """`problem` is the element that says why it did not pass; "" where it did."""
    out.write(f"<testcase classname={_attribute(group)} name={_attribute(name)}>")
    if problem:
        out.write(f"<{problem} message={_attribute(text)}/>")
    out.write("</testcase>\n")


def _write_properties(report: Report, out: TextIO) -> None:
    """What is told of the whole run and its baseline, besides gates and cases."""
    told = list(_properties(report))
    if told:
        out.write("<properties>\n")
        out.writelines(
            f"<property name={_attribute(name)} value={_attribute(value)}/>\n"
            for name, value in told
        )
        out.write("</properties>\n")


def _properties(report: Report) -> Iterator[tuple[str, str]]:
    if report.baseline and report.regressions:
        yield "baseline", report.baseline.name
        yield "regressions", _regressions_text(report.regressions)
        for text in report.regressions.warnings:
            yield "note", text


def _cases(run: Run) -> Iterator[tuple[str, int, int, str]]:
    """Key, trial, verdict and the reasons behind a verdict that is no pass."""
    reasons: defaultdict[int, list[str]] = defaultdict(list)
    rest = Score.objects.filter(scorer__run=run).exclude(verdict=Verdict.PASS)
    columns = ("output", "scorer__name", "reason")
    for output, name, reason in rest.order_by("scorer__position").values_list(*columns):
        reasons[output].append(f"{name}: {reason}")
    cases = CaseVerdict.objects.filter(run=run).order_by("position", "trial")
    shown = cases.values_list("output__case__key", "trial", "verdict", "output")
    for key, trial, verdict, output in shown.iterator():
        yield key, trial, verdict, "; ".join(reasons.pop(output, []))


def _summaries(run: Run) -> list[RunSummary]:
    found = RunSummary.objects.filter(scorer__run=run).select_related("scorer__version")
    return list(found.order_by("scorer__position", "scorer"))


def _rows(run: Run) -> list[tuple[str, ...]]:
    return [
        (
            summary.scorer.name,
            _mean_text(summary.mean_estimate),
            "-" if summary.pass_rate is None else typeable(share_text(summary.pass_rate)),
            f"{summary.scored:,} of {summary.n:,}",
            f"{summary.errors:,}",
            f"{summary.scorer.threshold:g}",
        )
        for summary in _summaries(run)
    ]


def _mean_text(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    if estimate.interval is None:
        return number_text(estimate.value, 3)
    low, high = (number_text(end, 3) for end in estimate.interval)
    return f"{number_text(estimate.value, 3)} [{low}, {high}]"


def _facts(report: Report) -> list[str]:
    run = report.run
    counts = ", ".join(f"{count or 0:,} {name}" for name, count in run.verdict_counts.items())
    facts = [f"cases: {counts}"]
    if without_output := _count_without_output(run):
        facts.append(f"cases without an output, left out of all figures: {without_output:,}")
    if run.missing_expected_count:
        facts.append(f"without an expected output: {run.missing_expected_count:,}")
    facts += _error_texts(run)
    if run.judge_calls is not None:
        facts.append(f"judges: {_judges_text(run)}")
    if report.baseline and report.regressions:
        facts.append(f"baseline {report.baseline.name}: {_regressions_text(report.regressions)}")
        facts += [f"note: {text}" for text in report.regressions.warnings]
    elif report.seeks_baseline:
        series = run.output_set.series
        facts.append(f"baseline: none, the series {series} has no earlier finished run")
    return facts + [_outcome_text(outcome) for outcome in report.outcomes]


def _error_texts(run: Run) -> list[str]:
    """The commonest causes of errors, each with a reason as an example."""
    errors = Score.objects.filter(scorer__run=run, score=None, status=Status.ERROR)
    causes = errors.values_list("scorer__name", "code").annotate(n=Count("pk"), text=Min("reason"))
    return [
        f"{n:,} {code} of {name}, such as: {one_line(text)}"
        for name, code, n, text in causes.order_by("-n", "scorer__name", "code")[:SHOWN_CAUSES]
    ]


def one_line(text: str) -> str:
    """A stored text for a terminal: nothing in it that moves a cursor or rings a bell."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _judges_text(run: Run) -> str:
    """What the judges were asked and what that cost."""
    calls = f"{run.judge_calls:,} paid call{'s' * (run.judge_calls != 1)}"
    if not run.judge_calls:
        return f"{calls}, all replies were kept ones or did not come"
    tokens = f"{run.judge_tokens_in or 0:,} tokens in, {run.judge_tokens_out or 0:,} out"
    cost = "cost not known: no price is set"
    if run.judge_cost_usd is not None:
        cost = f"{run.judge_cost_usd:.4f} USD"
    budget = "" if run.budget_usd is None else f" of a budget of {run.budget_usd:g} USD"
    return f"{calls}, {tokens}, {cost}{budget}"


def _count_without_output(run: Run) -> int:
    """Cases of the dataset version for which nothing was sent, so that the run is about fewer."""
    outputs = run.output_set
    return outputs.version.case_count - outputs.outputs.values("case").distinct().count()


def _regressions_text(found: Regressions) -> str:
    return f"{found.broke:,} regressions" + (f"; {found.note}" if found.note else "")


def _outcome_text(outcome: Outcome) -> str:
    value = ""
    if outcome.value is not None:
        value = f" ({short_text(outcome.value, SHOWN_DECIMALS, outcome.gate.limit)})"
    answer = f"{outcome.state}: {outcome.why}" if outcome.why else outcome.state
    return f"gate {outcome.gate.text}{value} {answer}"


def _scorer_json(summary: RunSummary) -> dict[str, Any]:
    estimate = summary.mean_estimate
    return {
        "name": summary.scorer.name,
        "version": summary.scorer.version.number,
        "n": summary.n,
        "scored": summary.scored,
        "errors": summary.errors,
        "skipped": summary.skipped,
        "mean": summary.mean,
        "interval": list(estimate.interval) if estimate and estimate.interval else None,
        "pass_rate": summary.pass_rate,
        "threshold": summary.scorer.threshold,
    }


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(row, widths, strict=True)
    cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
    return "  ".join(cells).rstrip()


def _attribute(text: str) -> str:
    """The text quoted for XML, without the characters that XML 1.0 cannot hold."""
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
