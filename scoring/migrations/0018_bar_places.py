"""Where the cases behind a histogram's bars stand. What was kept of lists is worked out again with
the comparisons, which count cases judged in neither run apart.
"""

from django.db import migrations, models


def forget(apps, _):
    apps.get_model("scoring", "PairPlaces").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("scoring", "0017_retried_causes")]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.RemoveConstraint("pairplaces", "places_once"),
        migrations.AddField(
            "pairplaces", "change", models.CharField(blank=True, default="", max_length=40)
        ),
        migrations.AddConstraint(
            "pairplaces",
            models.UniqueConstraint(
                fields=["comparison", "kind", "scorer", "change"], name="places_once"
            ),
        ),
    ]
