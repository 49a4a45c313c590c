"""How many calls of an endpoint each of several processes may have under way."""

from django.db import migrations, models

from scoring.migrations._operations import SortTextByCodePoint


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0026_settings_of_workers"),
    ]

    operations = [
        migrations.CreateModel(
            name="EndpointLimit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64, unique=True)),
                ("shares", models.JSONField(blank=True, default=dict)),
                ("opens_at", models.DateTimeField(blank=True, null=True)),
                ("used_at", models.DateTimeField()),
            ],
        ),
        SortTextByCodePoint(),
    ]
