from django.db import migrations

BATCH = 500


def remove_histograms_of_trials(apps, schema_editor):
    """Of runs with several trials a case they counted outputs; now they count cases.

    Where there is none, what needs it counts anew.
    """
    summaries = apps.get_model("scoring", "RunSummary").objects.order_by("pk")
    rows = summaries.values_list("scorer", "trials").iterator()
    scorers = [scorer for scorer, trials in rows if trials]
    histograms = apps.get_model("scoring", "ScoreHistogram").objects
    for start in range(0, len(scorers), BATCH):
        histograms.filter(scorer__in=scorers[start : start + BATCH]).delete()


class Migration(migrations.Migration):
    dependencies = [("scoring", "0011_threshold_proposals")]

    operations = [
        migrations.RunPython(remove_histograms_of_trials, migrations.RunPython.noop, elidable=True)
    ]
