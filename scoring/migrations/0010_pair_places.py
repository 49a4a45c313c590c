import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scoring", "0009_saved_views")]

    operations = [
        migrations.CreateModel(
            name="PairPlaces",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("scorer", models.CharField(blank=True, default="", max_length=120)),
                ("total", models.PositiveIntegerField()),
                ("positions", models.JSONField(null=True)),
                (
                    "comparison",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="scoring.comparison",
                    ),
                ),
            ],
            options={"verbose_name_plural": "pair places"},
        ),
        migrations.AddConstraint(
            model_name="pairplaces",
            constraint=models.UniqueConstraint(
                fields=("comparison", "kind", "scorer"), name="places_once"
            ),
        ),
    ]
