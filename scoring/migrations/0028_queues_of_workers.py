"""Which kinds of work a worker takes; all where it names none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0027_calls_of_endpoints"),
    ]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="queues",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
