from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0007_reviews'),
    ]

    operations = [
        migrations.AlterField(
            model_name='errand',
            name='kind',
            field=models.CharField(choices=[('try_scorer', 'try a scorer'), ('preview_scorer', 'preview a scorer on a run'), ('test_connection', 'test a connection'), ('try_prompt', 'try a prompt'), ('check_noise', "check a judge's noise"), ('compare', 'compare two runs'), ('measure_drift', 'measure the drift of a series')], max_length=20),
        ),
    ]
