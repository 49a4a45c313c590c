"""Reviews and adjudications say which output set theirs is of, so that those of a run are found at once."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def copy_from_outputs(apps, schema_editor):
    outputs = apps.get_model("scoring", "Output").objects.filter(pk=OuterRef("output_id"))
    for name in ("Review", "Adjudication"):
        rows = apps.get_model("scoring", name).objects
        rows.update(output_set_id=Subquery(outputs.values("output_set_id")))


def output_set(name, **options):
    return models.ForeignKey(
        db_index=name == "adjudications",
        editable=False,
        help_text="The output's.",
        on_delete=django.db.models.deletion.CASCADE,
        related_name=name,
        to="scoring.outputset",
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [("scoring", "0014_relabel_jobs")]

    operations = [
        migrations.AddField("review", "output_set", output_set("reviews", null=True)),
        migrations.AddField("adjudication", "output_set", output_set("adjudications", null=True)),
        migrations.RunPython(copy_from_outputs, migrations.RunPython.noop, elidable=True),
        migrations.AlterField("review", "output_set", output_set("reviews")),
        migrations.AlterField("adjudication", "output_set", output_set("adjudications")),
        migrations.AddIndex(
            "review",
            models.Index(
                fields=["output_set", "output", "verdict", "revision"], name="reviews_of_output_set"
            ),
        ),
    ]
