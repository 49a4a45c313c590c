"""Runs with several trials a case count each case once, as runs that are scored from now on do."""

from collections import Counter, defaultdict
from math import fsum

from django.db import migrations, models

from scoring.core.stats.trials import CaseTrials, bound_pass_at_k, bound_trials, reduce_trials

PASS, FAIL, ERROR, SKIPPED = range(4)  # of a case verdict
NAMES = ("pass", "fail", "error", "skipped")
RANKS = (SKIPPED, PASS, ERROR, FAIL)  # a verdict weighs the more the later it stands here


def count_cases(apps, _schema_editor):
    summaries = apps.get_model("scoring", "RunSummary").objects.exclude(trials={})
    ranks = defaultdict(dict)
    for summary in summaries.select_related("scorer__run"):
        cases, skipped = _read_cases(apps, summary.scorer)
        means = reduce_trials(cases.values(), "mean", summary.scorer.threshold)
        lost = [case for case in cases.values() if case.lost]
        without = sum(not case.scores for case in lost)
        missing = summary.scorer.run.missing_output_count or 0
        summary.trials["outputs"] = {
            "n": summary.n - missing * summary.trials["trials"],
            "scored": summary.scored,
            "passed": summary.passed,
        }
        if lost:
            summary.trials["lost"] = len(lost)
            summary.trials["unscored"] = fsum(case.lost_share for case in lost if case.scores)
            summary.trials["bounds"] = _bounds(list(cases.values()), summary)
        summary.n = means.n + without + len(skipped) + missing
        summary.scored, summary.errors, summary.skipped = means.n, without, len(skipped)
        summary.passed = means.passed or 0
        summary.mean = means.total / means.n if means.n else None
        summary.variance = None
        if means.n > 1:
            squares = means.squares - means.n * summary.mean**2
            summary.variance = max(0.0, squares / (means.n - 1))
        summary.save()
        of_run = ranks[summary.scorer.run_id]
        for pk, case in cases.items():
            passed = reduce_trials([case], "mean", summary.scorer.threshold).passed
            verdict = ERROR if not case.scores else PASS if passed else FAIL
            of_run[pk] = max(of_run.get(pk, 0), RANKS.index(verdict))
        for pk in skipped:
            of_run.setdefault(pk, 0)
    for pk, of_run in ranks.items():
        _store_counts(apps, pk, of_run)
    # What drift decided of these runs counted each trial; it is decided anew.
    tried = summaries.values("scorer__run")
    apps.get_model("scoring", "DriftResult").objects.filter(scorer__run__in=tried).delete()
    apps.get_model("scoring", "RunDrift").objects.filter(run__in=tried).delete()
    apps.get_model("scoring", "LevelSums").objects.all().delete()


def _bounds(cases, summary):
    threshold = summary.scorer.threshold
    bounds = {how: bound_trials(cases, how, threshold) for how in ("mean", "median", "min")}
    bounds |= {f"pass@{k}": bound_pass_at_k(cases, int(k)) for k in summary.trials["pass_at"]}
    return {how: found._asdict() for how, found in bounds.items() if found}


def _read_cases(apps, scorer):
    """The trials of each case, and the cases that were skipped in all of them."""
    scores, passed, lost, skipped = defaultdict(list), Counter(), Counter(), set()
    rows = apps.get_model("scoring", "Score").objects.filter(scorer=scorer)
    columns = ("output__case", "score", "verdict", "status")
    for case, score, verdict, status in rows.values_list(*columns).iterator():
        if score is not None:
            scores[case].append(score)
            passed[case] += verdict == PASS
        elif status == 1:
            lost[case] += 1
        else:
            skipped.add(case)
    known = {*scores, *lost}
    cases = {case: CaseTrials(scores[case], passed[case], lost[case]) for case in known}
    return cases, skipped - known


def _store_counts(apps, pk, ranks):
    rows = apps.get_model("scoring", "CaseVerdict").objects.filter(run=pk).order_by()
    outputs, shares = Counter(), defaultdict(Counter)
    for case, verdict in rows.values_list("output__case", "verdict").iterator():
        outputs[verdict] += 1
        shares[case][verdict > FAIL] += 1
    verdicts = {case: RANKS[rank] for case, rank in ranks.items()}
    counts = Counter(verdicts.values())
    unjudged = fsum(
        found[True] / found.total()
        for case, found in shares.items()
        if verdicts.get(case, ERROR) <= FAIL
    )
    lacking = rows.filter(verdict=FAIL, missing_expected=True)
    apps.get_model("scoring", "Run").objects.filter(pk=pk).update(
        **{f"{name}_count": counts[verdict] for verdict, name in enumerate(NAMES)},
        missing_expected_count=lacking.values("position").distinct().count(),
        output_verdicts={
            **{name: outputs[verdict] for verdict, name in enumerate(NAMES)}, "unjudged": unjudged
        },
    )


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0002_series_time"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="output_verdicts",
            field=models.JSONField(default=dict, editable=False, help_text="How many outputs have each verdict, where cases have several trials, and how many trials of judged cases have none, each as a share of its case."),
        ),
        migrations.RunPython(count_cases, migrations.RunPython.noop, elidable=True),
    ]
