from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0016_comments"),
    ]

    operations = [
        migrations.AddField(
            model_name="attempt",
            name="code",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
        migrations.AddField(
            model_name="runsummary",
            name="error_causes",
            field=models.JSONField(default=dict),
        ),
    ]
