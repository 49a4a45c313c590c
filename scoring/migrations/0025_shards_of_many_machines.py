"""What a shard has to tell where a broker hands it to workers of many machines."""

from django.db import migrations, models

from scoring.migrations._operations import SortTextByCodePoint


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0024_imports_on_postgresql"),
    ]

    operations = [
        migrations.AddField(
            model_name="shard",
            name="fault",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AddField(
            model_name="shard",
            name="lease_expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="shard",
            name="lease_owner",
            field=models.CharField(blank=True, default="", max_length=80),
        ),
        migrations.AddField(
            model_name="shard",
            name="start_count",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="worker",
            name="process_count",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        SortTextByCodePoint(),
    ]
