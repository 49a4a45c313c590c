"""The calibration of a run as JSON, for the API and for commands."""

from __future__ import annotations

from typing import Any, Final

from scoring.core.stats.calibration import BestThreshold, VerdictTable
from scoring.core.stats.descriptive import Estimate, rate_estimate
from scoring.core.wording.numbers import number_text
from scoring.core.wording.tables import NO_FIGURE, align_columns
from scoring.engine.calibration.people import PeopleAgreement, people_agreement
from scoring.engine.calibration.sample import CorrectedPassRate
from scoring.engine.calibration.scorers import RunCalibration, ScorerCalibration, calibrate_run
from scoring.models import Review, Run
from scoring.models.reviews.people_verdict import PeopleVerdict

_NAMES: Final = {PeopleVerdict.PASS: "passed", PeopleVerdict.FAIL: "failed"}
_LEFT_OUT: Final = ("unsure", "bad_case", "split")
_COLUMNS: Final = (
    *("scorer", "n", "agreement", "kappa", "precision", "recall", "f1"),
    *("threshold", "best_threshold", "pass_rate", "corrected_pass_rate"),
)


def calibration_report(run: Run, without: frozenset[int] = frozenset()) -> dict[str, Any]:
    """The shape of `CalibrationShape` of the API.

    Of the outputs `without` it does not say whose reviews agree.
    """
    reviews = Review.objects.of_run(run).exclude(output__in=without)
    calibration = calibrate_run(run, run.scorers.with_summary())
    counts = calibration.people.counts
    named = {_NAMES.get(verdict, verdict.code): counts[verdict] for verdict in PeopleVerdict}
    return {
        "run": str(run.uuid),
        "outputs": {"reviewed": counts.total(), **named},
        "is_random_sample": calibration.is_random,
        "random_sample": {
            "drawn": len(calibration.drawn),
            "reviewed": calibration.sample_reviewed,
            "out_of_turn": calibration.out_of_turn,
        },
        "scorers": [_describe_scorer(each, calibration) for each in calibration.scorers],
        "people": _describe_people(people_agreement(reviews)),
    }


def calibration_table(report: dict[str, Any]) -> str:
    """The report in lines for a terminal."""
    outputs = report["outputs"]
    left_out = (f"{outputs[name]} {name.replace('_', ' ')}" for name in _LEFT_OUT if outputs[name])
    counts = f"{outputs['reviewed']} outputs reviewed: {outputs['passed']} pass"
    rows = [[name.replace("_", " ") for name in _COLUMNS], *map(_row, report["scorers"])]
    sample = "" if report["is_random_sample"] else "Not a random sample."
    lines = [", ".join([counts, f"{outputs['failed']} fail", *left_out]), sample]
    return "\n".join([*filter(None, lines), *align_columns(rows), ""])


def _row(scorer: dict[str, Any]) -> list[str]:
    corrected = scorer["corrected_pass_rate"] or {"is_narrower": False}
    return [
        scorer["scorer"],
        str(scorer["n"]),
        *(_figure(scorer[name]) for name in _COLUMNS[2:7]),
        number_text(scorer["threshold"]),
        _figure(scorer["best_threshold"] and scorer["best_threshold"]["threshold"]),
        _figure(scorer["pass_rate"]),
        _figure(corrected["rate"] if corrected["is_narrower"] else None),
    ]


def _figure(figure: dict[str, Any] | float | None) -> str:
    """A figure with its interval, where there are any."""
    if isinstance(figure, dict):
        ends = ", ".join(number_text(end) for end in figure["interval"] or ())
        return number_text(figure["value"]) + (f" [{ends}]" if ends else "")
    return NO_FIGURE if figure is None else number_text(figure)


def _describe_table(table: VerdictTable) -> dict[str, int]:
    return {
        "both_pass": table.both_pass,
        "scorer_passes": table.only_scorer_passes,
        "people_pass": table.only_people_pass,
        "both_fail": table.both_fail,
    }


def _describe_scorer(each: ScorerCalibration, calibration: RunCalibration) -> dict[str, Any]:
    table, summary = each.table, getattr(each.scorer, "summary", None)
    return {
        "scorer": each.scorer.name,
        "n": table.n,
        "unscored": each.unscored,
        "confusion": _describe_table(table),
        **_describe_agreement(table),
        **table.rates._asdict(),
        "threshold": each.scorer.threshold,
        "best_threshold": each.best and describe_best_threshold(each.best),
        "is_best": each is calibration.best,
        "is_as_good": calibration.is_as_good(each),
        "pass_rate": describe_estimate(
            rate_estimate(summary.passed, summary.scored) if summary else None
        ),
        "corrected_pass_rate": each.corrected and _describe_corrected(each.corrected),
    }


def _describe_agreement(table: VerdictTable) -> dict[str, Any]:
    return {
        "agreement": describe_estimate(table.agreement),
        "kappa": describe_estimate(table.kappa),
    }


def describe_best_threshold(best: BestThreshold) -> dict[str, Any]:
    """As `BestThresholdShape` of the API has it."""
    return {"threshold": best.threshold, "kappa": best.kappa, "as_good": list(best.as_good)}


def _describe_corrected(corrected: CorrectedPassRate) -> dict[str, Any]:
    rate = corrected.rate
    return {
        "rate": describe_estimate(rate.estimate if rate else None),
        "labels_alone": describe_estimate(rate.labels if rate else None),
        "is_narrower": rate is not None and rate.is_narrower,
        "weight": rate and rate.weight,
        "labels": corrected.labelled.n,
        "lacking_labels": corrected.lacking,
        "more_labels": corrected.more,
    }


def _describe_people(agreement: PeopleAgreement) -> dict[str, Any]:
    return {
        "people": agreement.people,
        "outputs": agreement.outputs,
        "fleiss_kappa": agreement.fleiss,
        "krippendorff_alpha": agreement.alpha,
        "pairs": [
            {"one": pair.one, "other": pair.other, "n": pair.table.n}
            | _describe_agreement(pair.table)
            for pair in agreement.pairs
        ],
    }


def describe_estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    """As `EstimateShape` of the API has it."""
    if estimate is None:
        return None
    interval = None if estimate.interval is None else list(estimate.interval)
    return {"value": estimate.value, "interval": interval}
