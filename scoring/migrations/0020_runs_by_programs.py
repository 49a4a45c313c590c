from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0019_likenesses"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="by_program",
            field=models.BooleanField(
                default=False,
                editable=False,
                help_text="Whether it was last started through a token.",
            ),
        ),
    ]
