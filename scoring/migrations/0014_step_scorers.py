"""Steps between runs keep the flips of each scorer; those counted before are counted again."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0013_notices'),
    ]

    operations = [
        migrations.AddField(
            model_name='runstep',
            name='scorers',
            field=models.JSONField(null=True),
        ),
    ]
