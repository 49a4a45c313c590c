"""What workers of a site have to have in common, by which each tells how others differ."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0025_shards_of_many_machines"),
    ]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="settings",
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
