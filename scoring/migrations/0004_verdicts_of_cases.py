"""Comparisons count each case once, by the mean of its trials, so its verdict is kept."""

from collections import defaultdict
from importlib import import_module

from django.db import migrations, models
from django.db.models import Q

from scoring.core.stats.trials import reduce_trials

counted = import_module("scoring.migrations.0003_case_verdicts")
BATCH = 5_000


def keep_verdicts(apps, _schema_editor):
    tried = apps.get_model("scoring", "Run").objects.exclude(output_verdicts={})
    for run in tried:
        _keep_verdicts_of(apps, run)
    # What drift counted between runs with several trials were pairs of trials; it is counted anew.
    steps = apps.get_model("scoring", "RunStep").objects
    steps.filter(Q(before__in=tried) | Q(after__in=tried)).delete()


def _keep_verdicts_of(apps, run):
    ranks = {}
    for scorer in apps.get_model("scoring", "RunScorer").objects.filter(run=run):
        cases, skipped = counted._read_cases(apps, scorer)
        for pk, case in cases.items():
            passed = reduce_trials([case], "mean", scorer.threshold).passed
            verdict = counted.PASS if passed else counted.FAIL
            rank = counted.RANKS.index(verdict if case.scores else counted.ERROR)
            ranks[pk] = max(ranks.get(pk, 0), rank)
        for pk in skipped:
            ranks.setdefault(pk, 0)
    rows = apps.get_model("scoring", "CaseVerdict").objects.filter(run=run)
    firsts, last = defaultdict(list), None
    places = rows.order_by("position", "trial").values_list("pk", "position", "output__case")
    for pk, position, case in places.iterator():
        if position != last:
            firsts[counted.RANKS[ranks.get(case, 0)]].append(pk)
        last = position
    for verdict, pks in firsts.items():
        for start in range(0, len(pks), BATCH):
            rows.filter(pk__in=pks[start : start + BATCH]).update(of_case=verdict)


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0003_case_verdicts"),
    ]

    operations = [
        migrations.AddField(
            model_name="caseverdict",
            name="of_case",
            field=models.PositiveSmallIntegerField(choices=[(0, "pass"), (1, "fail"), (2, "error"), (3, "skipped")], null=True),
        ),
        migrations.RunPython(keep_verdicts, migrations.RunPython.noop, elidable=True),
    ]
