"""The release report of a run: the data behind a decision, as JSON and as one HTML file.

All that the HTML shows stands in the JSON, which it carries along, packed; `manage.py
verify_report` recomputes the figures of either from the attached rows.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from django.template.loader import render_to_string
from django.utils import timezone

from scoring.engine.calibration.gate_fitness import stamped_scorers
from scoring.engine.compare import report as compare_report
from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.columns import MatchedCases, match_cases, read_scores, tag_columns
from scoring.engine.compare.comparison import compare_runs
from scoring.engine.compare.figures import Figures
from scoring.engine.compare.scores import pass_shares
from scoring.engine.jobs.progress import ignore_share
from scoring.engine.reports import html_document
from scoring.engine.reports.release_figures import (
    BOTH_RUNS,
    compute_states,
    describe_risk,
    rows_digest,
)
from scoring.models import Case, CaseDecision, ReleaseDecision, Run, RunScorer, Waiver
from scoring.models.pairs.pairs import Pairs
from scoring.models.reviews.review import ReviewQuerySet

if TYPE_CHECKING:
    import numpy as np

FORMAT: Final = "evalsite release report"
VERSION: Final = 2
#: Of a comparison, what the rows can prove.
RESULT: Final = (
    "sentence", "pairs", "broke", "fixed", "unchanged", "unclear", "judged_in_neither",
    "only_baseline", "only_candidate", "p", "p_corrected", "slices_p_corrected", "warnings",
)  # fmt: skip
SCORER: Final = (
    "name", "n", "means", "delta", "interval", "p", "p_corrected", "detectable", "noise",
    "sentence",
)  # fmt: skip


ReportFormat = Literal["html", "json"]


class ReportFile(NamedTuple):
    """A report as it is handed out."""

    name: str
    content: bytes
    content_type: str


def build_release_report(
    run: Run, baseline: Run, reviews: ReviewQuerySet, *, now: datetime | None = None
) -> dict[str, Any]:
    """The report as JSON. Compares the runs if they are not; raises NotComparableError."""
    made_at = (now or timezone.now()).astimezone(UTC)
    figures = read_figures(compare_runs(baseline, run))
    rows = _rows(baseline, run)
    relabels = compare_report.relabels_json(baseline, run)
    report: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_at": made_at.isoformat(timespec="seconds"),
        "dataset": _dataset(run),
        "run": {**_run(run), "relabel": relabels["candidate"]},
        "baseline": {**_run(baseline), "relabel": relabels["baseline"]},
        "suite": _suite(run),
        "threshold_history": list(_threshold_history(run)),
        "result": _result(figures),
        "decisions": list(_case_decisions(baseline, run)),
        "waivers": list(_waivers(run, _broken_keys(rows))),
        "reviews": _reviews(reviews),
        "release": [_release(each) for each in ReleaseDecision.objects.of(run)],
        "rows": rows,
        "rows_sha256": rows_digest(rows),
    }
    report["states"] = compute_states(report)
    report["risk"] = describe_risk(report)
    return report


def render_release_report(report: dict[str, Any]) -> str:
    """The HTML file, which shows nothing that the report does not hold."""
    packed = b64encode(gzip.compress(report_json(report), mtime=0)).decode()
    made_at = datetime.fromisoformat(report["made_at"])
    standing = next((each for each in report["release"] if not each["withdrawn_at"]), None)
    context = {"report": report, "standing": standing, "packed": packed, "is_report": True}
    context |= {"sheet": html_document.style_sheet(), "made_at": made_at}
    return render_to_string("reports/release.html", context).encode("utf-8", "replace").decode()


def report_json(report: dict[str, Any]) -> bytes:
    """The report as a JSON file."""
    import orjson

    return orjson.dumps(report)


def report_file(run: Run, report: dict[str, Any], file_format: ReportFormat) -> ReportFile:
    """The report as one of the two files."""
    name = html_document.file_name(run.output_set.version.dataset, run, "release")
    if file_format == "html":
        content = render_release_report(report).encode()
        return ReportFile(name, content, "text/html; charset=utf-8")
    name = f"{name.removesuffix('.html')}.json"
    return ReportFile(name, report_json(report), "application/json")


def _dataset(run: Run) -> dict[str, Any]:
    version = run.output_set.version
    return {
        "name": version.dataset.name,
        "version": version.number,
        "content_hash": version.content_hash,
        "case_count": version.case_count,
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "id": str(run.uuid),
        "name": run.name,
        "series": run.output_set.series,
        "dated": run.output_set.dated.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "dataset_version": run.output_set.version.number,
        "verdicts": run.verdict_counts,
        "missing_outputs": run.missing_output_count or 0,
    }


def _suite(run: Run) -> dict[str, Any]:
    scorers = run.scorers.select_related("version__scorer")
    stamps = {each.scorer.pk: each.text for each in stamped_scorers(run)}
    return {
        "name": run.suite_name,
        "revision": run.suite_revision,
        "thresholds_note": run.thresholds_note,
        "scorers": [
            {
                "name": scorer.name,
                "type": scorer.version.scorer.type,
                "version": scorer.version.number,
                "threshold": scorer.threshold,
                "config": scorer.version.config,
                "stamp": stamps[scorer.pk],
            }
            for scorer in scorers
        ],
    }


def _threshold_history(run: Run) -> Iterator[dict[str, Any]]:
    """The changes in the run's suite, the newest first."""
    if run.suite is None:
        return
    changes = run.suite.threshold_changes.select_related("scorer", "changed_by")
    for change in changes.order_by("-pk"):
        yield {
            "scorer": change.scorer.name,
            "old": change.old,
            "new": change.new,
            "reason": change.reason,
            "by": str(change.changed_by) if change.changed_by else None,
            "at": change.changed_at.isoformat(),
        }


def _result(figures: Figures) -> dict[str, Any]:
    found = compare_report.as_json(figures)
    names = ("tag", "scorer", "n", "delta", "p")
    return {
        **{name: found[name] for name in RESULT},
        "scorers": [
            {**{name: scorer[name] for name in SCORER}, "flips": dict(scorer["flips"])}
            for scorer in found["scorers"]
        ],
        "slices": [{name: each[name] for name in names} for each in found["slices"]],
    }


def _case_decisions(baseline: Run, run: Run) -> Iterator[dict[str, Any]]:
    rows = CaseDecision.objects.between(baseline, run).select_related("output__case", "decided_by")
    for row in rows.order_by("output__case__position", "output__trial"):
        yield {
            "key": row.output.case.key,
            "trial": row.output.trial,
            "state": row.state,
            "reason": row.reason,
            "by": str(row.decided_by) if row.decided_by else None,
            "at": row.created_at.isoformat(),
        }


def _waivers(run: Run, keys: Collection[str]) -> Iterator[dict[str, Any]]:
    """The open waivers of broken cases and the run's scorers, by the names that the run has."""
    names = dict(run.scorers.values_list("version__scorer", "name"))
    waivers = Waiver.objects.open().filter(dataset=run.output_set.version.dataset_id)
    for waiver in waivers.select_related("owner", "created_by").order_by("case_key", "pk"):
        if waiver.scorer_id in names and waiver.case_key in keys:
            yield {
                "id": str(waiver.uuid),
                "key": waiver.case_key,
                "scorer": names[waiver.scorer_id],
                "until": waiver.until.isoformat(),
                "reason": waiver.reason,
                "owner": str(waiver.owner) if waiver.owner else None,
                "by": str(waiver.created_by) if waiver.created_by else None,
                "at": waiver.created_at.isoformat(),
            }


def _reviews(reviews: ReviewQuerySet) -> dict[str, Any]:
    """How many reviews have each verdict, and how many people gave them."""
    verdicts = Counter(review.code for review in reviews)
    people = reviews.values("reviewer").distinct().count()
    return {"verdicts": dict(sorted(verdicts.items())), "reviewers": people}


def _release(decision: ReleaseDecision) -> dict[str, Any]:
    return {
        "state": decision.state,
        "reason": decision.reason,
        "by": str(decision.decided_by) if decision.decided_by else None,
        "at": decision.created_at.isoformat(),
        "evidence": decision.evidence,
        "withdrawn_at": decision.withdrawn_at.isoformat() if decision.withdrawn_at else None,
    }


def _rows(baseline: Run, run: Run) -> dict[str, Any]:
    """The columns that `release_figures` reads."""
    pairs = Pairs(baseline, run)
    columns, tags = match_cases(pairs), tag_columns(run)
    cases = Case.objects.filter(version=run.output_set.version_id).order_by()
    keys = dict(cases.values_list("position", "key"))
    positions = columns.positions.tolist()
    numbers = {tag: number for number, tag in enumerate(tags.names)}
    sets = [sorted(numbers[tag] for tag in each if tag in numbers) for each in tags.tag_sets]
    before = {scorer.name: scorer for scorer in baseline.scorers.all()}
    scorers = list(run.scorers.all())
    has_one = len(scorers) == len(before) == 1 and scorers[0].name in before
    return {
        "key": [keys[position] for position in positions],
        "trial": columns.numbers.tolist(),
        "baseline": columns.verdicts[0].tolist(),
        "candidate": columns.verdicts[1].tolist(),
        **(_pass_shares(columns) if columns.has_trials else {}),
        "tag_names": tags.names,
        "tags": [sets[code] for code in tags.codes[columns.positions].tolist()],
        "has_one_scorer": has_one,
        "scorers": {
            scorer.name: _scores(before.get(scorer.name), scorer, columns) for scorer in scorers
        },
    }


def _pass_shares(columns: MatchedCases) -> dict[str, Any]:
    """Which share of each case's trials passes in both runs; None where one has no verdict."""
    shares = pass_shares(columns)
    judged = dict(
        zip(
            shares.positions.tolist(),
            zip(shares.before.tolist(), shares.after.tolist(), strict=True),
            strict=True,
        )
    )
    pairs = [judged.get(position, (None, None)) for position in columns.positions.tolist()]
    return {f"{side}_share": [pair[n] for pair in pairs] for n, side in enumerate(BOTH_RUNS)}


def _scores(before: RunScorer | None, after: RunScorer, columns: MatchedCases) -> dict[str, Any]:
    """A scorer's scores and verdicts in both runs; None where the baseline lacks the scorer."""
    found: dict[str, Any] = {}
    for side, scorer, outputs in zip(BOTH_RUNS, (before, after), columns.outputs, strict=True):
        if scorer is None:
            found |= {side: None, f"{side}_passed": None}
            continue
        scores, passed, shares = read_scores(scorer, outputs, len(columns.positions), ignore_share)
        found[side] = _without_nan(scores)
        found[f"{side}_passed"] = passed.astype(int).tolist()
        if columns.has_trials:
            found[f"{side}_share"] = _without_nan(shares)
    return found


def _without_nan(values: np.ndarray) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124  NaN


def _broken_keys(rows: dict[str, Any]) -> set[str]:
    verdicts = zip(rows["key"], rows["baseline"], rows["candidate"], strict=True)
    return {key for key, before, after in verdicts if (before, after) == (0, 1)}
