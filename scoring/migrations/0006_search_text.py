"""Texts that the database cannot fold get a folded copy for searches."""

from django.db import connection, migrations

import scoring.models.search_text

BATCH = 5_000


def fill(apps, _schema_editor):
    _fill(apps.get_model("scoring", "Case"))
    _fill(apps.get_model("scoring", "Output"))


def _fill(model):
    field = model._meta.get_field("search_text")
    rows = model.objects.order_by("pk").values_list("pk", *field.sources)
    statement = f"UPDATE {model._meta.db_table} SET search_text = %s WHERE id = %s"
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1][0]
        copies = ((field.copy_of(texts), pk) for pk, *texts in batch)
        with connection.cursor() as cursor:
            cursor.executemany(statement, [copy for copy in copies if copy[0] is not None])


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0005_empty_expected"),
    ]

    operations = [
        migrations.AddField(
            model_name="case",
            name="search_text",
            field=scoring.models.search_text.SearchTextField("key", "input_json", "expected_json"),
        ),
        migrations.AddField(
            model_name="output",
            name="search_text",
            field=scoring.models.search_text.SearchTextField("text"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
