from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0005_compare_errand'),
    ]

    operations = [
        migrations.AddField(
            model_name='errand',
            name='tries',
            field=models.PositiveSmallIntegerField(default=0, editable=False),
        ),
    ]
