"""A finished run as a table, as Markdown, as JSON and as JUnit XML."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

from django.db.models import Count, Min

from scoring.core.wording.numbers import share_text, to_ascii
from scoring.core.wording.tables import NO_FIGURE, align_columns, interval_text, markdown_table
from scoring.engine.compare.gate_text import outcome_text
from scoring.engine.compare.gates import GateOutcome, find_scorers, waivers_text
from scoring.engine.runs.run_errors import find_run_errors
from scoring.models import CaseVerdict, Relabel, Run, RunSummary, Score, Status, Verdict
from scoring.models.runs.missing_outputs import missing_keys
from scoring.models.runs.relabel import describe_relabel

if TYPE_CHECKING:
    from scoring.engine.compare.regressions import Regressions
    from scoring.models.reviews.broken_cases import WaivedCase, WaiverUse

HEAD: Final = ("scorer", "mean [95 %]", "pass rate", "n of N", "errors", "threshold")
SHOWN_CAUSES: Final = 5
MAX_NAMED: Final = 20  # cases without an output
_JUNIT: Final = {Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIPPED: "skipped"}
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Report(NamedTuple):
    """What is reported of a finished run. `regressions` is None without a baseline.

    With `seeks_baseline` the series was searched for a baseline.
    """

    run: Run
    baseline: Run | None
    regressions: Regressions | None
    outcomes: Sequence[GateOutcome]
    seeks_baseline: bool = False


def as_table(report: Report) -> str:
    """The summary for a terminal: a line per scorer, then verdicts and gates."""
    lines = align_columns([HEAD, *_rows(report.run)])
    return "\n".join([*lines, "", *_facts(report)]) + "\n"


def as_markdown(report: Report) -> str:
    """The same as `as_table`, for a pull request."""
    lines = markdown_table([HEAD, *_rows(report.run)])
    facts = [f"- {fact}" for fact in _facts(report)]
    return "\n".join([f"### {report.run.name}", "", *lines, "", *facts]) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The run in the shape of the API, with its regressions and gates."""
    from scoring.engine.compare.regressions import waivers_json  # builds wait for its imports

    run, regressions = report.run, report.regressions
    relabel = Relabel.objects.latest_of(run)
    total = run.output_count or 0
    return {
        "id": str(run.uuid),
        "name": run.name,
        "state": run.state,
        "progress": {"done": total, "total": total},
        "cause": errors.sentence if (errors := find_run_errors(run)) else None,
        "thresholds_note": run.thresholds_note,
        "verdicts": run.verdict_counts,
        "relabel": describe_relabel(relabel),
        "missing_expected": run.missing_expected_count,
        "empty_expected": run.empty_expected_count,
        "missing_outputs": run.missing_output_count or 0,
        "missing_output_keys": missing_keys(run, MAX_NAMED),
        "cost_usd": run.cost_usd,
        "judge_calls": run.judge_calls,
        "judge_tokens_in": run.judge_tokens_in,
        "judge_tokens_out": run.judge_tokens_out,
        "judge_cost_usd": run.judge_cost_usd,
        "estimated_cost_usd": run.estimated_cost_usd,
        "budget_usd": run.budget_usd,
        "scorers": [_scorer_json(summary) for summary in _summaries(run)],
        "baseline": str(report.baseline.uuid) if report.baseline else None,
        "regressions": regressions.unwaived if regressions else None,
        "broke": regressions.broke if regressions else None,
        "waivers": waivers_json(regressions.waivers) if regressions else None,
        "regressions_unknown": regressions.as_json() if regressions else None,
        "warnings": list(regressions.warnings) if regressions else [],
        "gates": [gate_json(outcome) for outcome in report.outcomes],
        "stamps": stamps_json(run, report.outcomes),
    }


def stamps_json(run: Run, outcomes: Sequence[GateOutcome]) -> list[dict[str, Any]]:
    """The scorers behind gates with their stamps, in the shape of the API."""
    from scoring.engine.calibration.gate_fitness import describe_stamp, stamped_scorers

    found = stamped_scorers(run, find_scorers(outcomes)) if outcomes else []
    return [describe_stamp(each) for each in found]


def gate_json(outcome: GateOutcome) -> dict[str, Any]:
    return {
        "gate": outcome.gate.text,
        "state": outcome.state,
        "value": outcome.value,
        "why": outcome.explanation,
        **(outcome.figures or {}),
    }


def write_junit(report: Report, out: TextIO) -> None:
    """A test case per gate, then one per case and trial, in the dataset's order.

    Cases without an output come last and are skipped. An undecided gate is an error, not a skip: it
    makes the command fail, too.
    """
    run = report.run
    states = Counter(outcome.state for outcome in report.outcomes)
    missing, outputs = run.missing_output_count or 0, run.output_counts
    counts = (
        f'tests="{(run.output_count or 0) + missing + states.total()}" '
        f'failures="{(outputs["fail"] or 0) + states["failed"]}" '
        f'errors="{(outputs["error"] or 0) + states["undecided"]}" '
        f'skipped="{(outputs["skipped"] or 0) + missing}"'
    )
    name = _attribute(run.name)
    out.write(f'<?xml version="1.0" encoding="utf-8"?>\n<testsuite name={name} {counts}>\n')
    _write_properties(report, out)
    for outcome in report.outcomes:
        problem = {"failed": "failure", "undecided": "error"}.get(outcome.state, "")
        _write_test(out, f"{run.name} gates", outcome.gate.text, problem, outcome_text(outcome))
    for key, trial, verdict, text in _cases(run):
        case = f"{key} (trial {trial})" if trial else key
        _write_test(out, run.name, case, _JUNIT.get(Verdict(verdict), ""), text)
    for key in missing_keys(run, missing):
        _write_test(out, run.name, key, "skipped", "no output in the run")
    out.write("</testsuite>\n")


def _write_test(out: TextIO, group: str, name: str, problem: str, text: str) -> None:
    """`problem` is the element that says why it did not pass; "" where it did."""
    out.write(f"<testcase classname={_attribute(group)} name={_attribute(name)}>")
    if problem:
        out.write(f"<{problem} message={_attribute(text)}/>")
    out.write("</testcase>\n")


def _write_properties(report: Report, out: TextIO) -> None:
    """The later labels; the baseline, the regressions and the warnings, if there is a baseline."""
    properties = [("relabel", text) for text in _relabel_texts(report.run)]
    properties += [("stamps", text) for text in stamp_lines(report.run, report.outcomes)]
    if report.baseline and report.regressions:
        properties += [
            ("baseline", report.baseline.name),
            ("regressions", _regressions_text(report.regressions)),
            *(("waiver", text) for text in waiver_lines(report.regressions.waivers)),
            *(("note", text) for text in report.regressions.warnings),
        ]
    if not properties:
        return
    out.write("<properties>\n")
    out.writelines(
        f"<property name={_attribute(name)} value={_attribute(value)}/>\n"
        for name, value in properties
    )
    out.write("</properties>\n")


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
    summaries = RunSummary.objects.filter(scorer__run=run).select_related("scorer__version")
    return list(summaries.order_by("scorer__position", "scorer"))


def _rows(run: Run) -> list[tuple[str, ...]]:
    return [
        (
            summary.scorer.name,
            interval_text(*mean) if (mean := summary.mean_estimate) else NO_FIGURE,
            NO_FIGURE if summary.pass_rate is None else to_ascii(share_text(summary.pass_rate)),
            f"{summary.scored:,} of {summary.n:,}",
            f"{summary.errors:,}",
            f"{summary.scorer.threshold:g}",
        )
        for summary in _summaries(run)
    ]


def _facts(report: Report) -> list[str]:
    run = report.run
    counts = ", ".join(f"{count or 0:,} {name}" for name, count in run.verdict_counts.items())
    facts = [f"cases: {counts}", *_relabel_texts(run)]
    if run.thresholds_note:
        facts.append(one_line(run.thresholds_note))
    if errors := find_run_errors(run):
        facts.append(to_ascii(errors.sentence))
    if run.missing_output_count:
        facts.append(f"cases without an output: {_missing_text(run)}")
    if run.missing_expected_count:
        facts.append(f"without an expected output: {run.missing_expected_count:,}")
    if run.empty_expected_count:
        facts.append(
            f"an empty text as expected output, which includes finds in every output: "
            f"{run.empty_expected_count:,}"
        )
    facts += [*_error_texts(run), *_fault_texts(run)]
    if run.judge_calls is not None:
        facts.append(f"judges: {_judges_text(run)}")
    if report.baseline and report.regressions:
        facts.append(f"baseline {report.baseline.name}: {_regressions_text(report.regressions)}")
        facts += waiver_lines(report.regressions.waivers)
        facts += [f"note: {text}" for text in report.regressions.warnings]
    elif report.seeks_baseline:
        series = run.output_set.series
        facts.append(f"baseline: none, the series {series} has no earlier finished run")
    return [*facts, *stamp_lines(report.run, report.outcomes), *map(outcome_text, report.outcomes)]


def stamp_lines(run: Run, outcomes: Sequence[GateOutcome]) -> list[str]:
    """For what the scorers behind gates were found fit, where any of them is stamped."""
    from scoring.engine.calibration.gate_fitness import (
        stamped_scorers,  # builds wait for its imports
    )

    found = stamped_scorers(run, find_scorers(outcomes)) if outcomes else []
    if not any(each.stamp for each in found):
        return []
    texts = (to_ascii(f"{each.scorer.name}: {each.text}") for each in found)
    return [f"fit to gate: {'; '.join(texts)}"]


def _relabel_texts(run: Run) -> list[str]:
    """That the run has later labels, and what its cases are by them."""
    relabel = Relabel.objects.latest_of(run)
    return [one_line(relabel.sentence)] if relabel else []


def _error_texts(run: Run) -> list[str]:
    """The commonest causes of errors, each with a reason as an example."""
    errors = Score.objects.filter(scorer__run=run, score=None, status=Status.ERROR)
    causes = errors.values_list("scorer__name", "code").annotate(n=Count("pk"), text=Min("reason"))
    return [
        f"{n:,} {code} of {name}, such as: {one_line(text)}"
        for name, code, n, text in causes.order_by("-n", "scorer__name", "code")[:SHOWN_CAUSES]
    ]


def _fault_texts(run: Run) -> Iterator[str]:
    """The commonest faults that score 0 whatever the threshold, each with an example."""
    for summary in _summaries(run):
        for code, count in Counter(summary.faults).most_common(SHOWN_CAUSES):
            scores = Score.objects.filter(scorer=summary.scorer_id, score=0, code=code)
            text = one_line(scores.values_list("reason", flat=True)[0])
            yield f"{count:,} {code} of {summary.scorer.name} (score 0), such as: {text}"


def one_line(text: str) -> str:
    """A stored text for a terminal, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _judges_text(run: Run) -> str:
    """The judges' calls, their tokens and their cost."""
    calls = f"{run.judge_calls:,} paid call{'s' * (run.judge_calls != 1)}"
    if not run.judge_calls:
        return f"{calls}, all replies were kept ones or did not come"
    tokens = f"{run.judge_tokens_in or 0:,} tokens in, {run.judge_tokens_out or 0:,} out"
    cost = "cost not known: no price is set"
    if run.judge_cost_usd is not None:
        cost = f"{run.judge_cost_usd:.4f} USD"
    if run.estimated_cost_usd is not None:
        known = f"{cost} and " if run.judge_cost_usd is not None else ""
        cost = f"{known}about {run.estimated_cost_usd:.4f} USD for calls without reported usage"
    budget = "" if run.budget_usd is None else f" of a budget of {run.budget_usd:g} USD"
    return f"{calls}, {tokens}, {cost}{budget}"


def _missing_text(run: Run) -> str:
    """How many cases of the dataset version have no output, and the first of them."""
    count, keys = run.missing_output_count or 0, missing_keys(run, MAX_NAMED)
    more = f" and {count - len(keys):,} more" if count > len(keys) else ""
    return f"{count:,} ({', '.join(map(one_line, keys))}{more})"


def _regressions_text(regressions: Regressions) -> str:
    text = f"{regressions.unwaived:,} regressions"
    notes = filter(None, (waivers_text(regressions.waivers), regressions.note))
    return "; ".join([text, *notes])


def waiver_lines(waivers: WaiverUse) -> Iterator[str]:
    """The waivers that excused a case, and the expired ones, each of up to MAX_NAMED cases."""
    for label, cases in (("waived", waivers.used), ("waiver expired", waivers.expired)):
        for case in cases[:MAX_NAMED]:
            yield f"{label}: {_waived_text(case)}"
        if len(cases) > MAX_NAMED:
            yield f"{label}: {len(cases) - MAX_NAMED:,} more cases"


def _waived_text(case: WaivedCase) -> str:
    key = one_line(case.pair.key) + (f" trial {case.trial}" if case.trial else "")
    terms = (
        f"{waiver.scorer.name} until {waiver.until.isoformat()} "
        f"({waiver.owner or 'a former member'}: {one_line(waiver.reason)})"
        for waiver in case.waivers
    )
    return f"{key}: {'; '.join(terms)}"


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
        "problems": summary.problems,
    }


def _attribute(text: str) -> str:
    """The text quoted for XML, without the characters that XML 1.0 cannot hold."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
