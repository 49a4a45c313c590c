"""The causes of errors of runs from before they were counted, from their score rows."""

from django.db import migrations, models

ERROR = 1


def _count(apps, _):
    summary, score = (apps.get_model("scoring", name) for name in ("RunSummary", "Score"))
    uncounted = summary.objects.filter(errors__gt=0, error_causes={})
    for pk, scorer in uncounted.values_list("pk", "scorer").iterator():
        errors = score.objects.filter(scorer=scorer, score=None, status=ERROR)
        codes = errors.values_list("code").order_by().annotate(models.Count("pk"))
        summary.objects.filter(pk=pk).update(error_causes=dict(codes))


class Migration(migrations.Migration):
    dependencies = [("scoring", "0022_tag_places")]

    operations = [migrations.RunPython(_count, migrations.RunPython.noop)]
