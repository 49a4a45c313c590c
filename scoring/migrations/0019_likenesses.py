"""What is alike within a version, for every version; how far an upload is."""

import django.db.models.deletion
from django.db import migrations, models


def _from_uploads(apps, _):
    """What dry runs found so far."""
    upload, likenesses = (apps.get_model("scoring", name) for name in ("Upload", "Likenesses"))
    made = upload.objects.filter(kind="dataset", state="done").exclude(version=None)
    reports = made.order_by("-pk").values_list("version", "report")
    likenesses.objects.bulk_create(
        (
            likenesses(
                version_id=version, repeats=report.get("repeats", []), near=report.get("near", [])
            )
            for version, report in reports.iterator()
        ),
        batch_size=50,
        ignore_conflicts=True,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0018_bar_places'),
    ]

    operations = [
        migrations.CreateModel(
            name='Likenesses',
            fields=[
                ('version', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='likenesses', serialize=False, to='scoring.datasetversion')),
                ('repeats', models.JSONField(default=list)),
                ('near', models.JSONField(default=list)),
            ],
            options={
                'verbose_name_plural': 'likenesses',
            },
        ),
        migrations.AddField(
            model_name='upload',
            name='rows_a_second',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='upload',
            name='seconds_left',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='upload',
            name='share_read',
            field=models.FloatField(default=0.0),
        ),
        migrations.AlterField(
            model_name='errand',
            name='kind',
            field=models.CharField(choices=[('try_scorer', 'try a scorer'), ('preview_scorer', 'preview a scorer on a run'), ('test_connection', 'test a connection'), ('try_prompt', 'try a prompt'), ('check_noise', "check a judge's noise"), ('compare', 'compare two runs'), ('measure_drift', 'measure the drift of a series'), ('publish_draft', 'publish a draft'), ('find_likenesses', 'find cases that are alike')], max_length=20),
        ),
        migrations.RunPython(_from_uploads, migrations.RunPython.noop),
    ]
