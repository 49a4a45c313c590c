"""On PostgreSQL texts are compared, and JSON is kept, as on SQLite, and rows that come in bulk are not
looked up one by one. On SQLite nothing changes.
"""

import django.db.models.deletion
from django.db import migrations, models

from scoring.migrations._operations import AlterOnPostgreSQL, SortTextByCodePoint
from scoring.models.written_json import WrittenJSONField


class Migration(migrations.Migration):
    dependencies = [("scoring", "0002_squashed_0022_groups")]

    operations = [
        AlterOnPostgreSQL("auditentry", "new", WrittenJSONField(default=dict)),
        AlterOnPostgreSQL("auditentry", "old", WrittenJSONField(default=dict)),
        AlterOnPostgreSQL("datasetversion", "mapping", WrittenJSONField(blank=True, default=dict)),
        AlterOnPostgreSQL("generation", "parameters", WrittenJSONField(blank=True, default=dict)),
        AlterOnPostgreSQL("outputset", "labels", WrittenJSONField(blank=True, default=dict)),
        AlterOnPostgreSQL(
            "questionset",
            "content",
            WrittenJSONField(help_text="The questions as `Questions.as_json` gives them."),
        ),
        AlterOnPostgreSQL("scorerversion", "config", WrittenJSONField(default=dict)),
        AlterOnPostgreSQL("upload", "detected", WrittenJSONField(blank=True, default=dict)),
        AlterOnPostgreSQL("upload", "mapping", WrittenJSONField(blank=True, default=dict)),
        AlterOnPostgreSQL(
            "score",
            "scorer",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="scores",
                to="scoring.runscorer",
            ),
        ),
        AlterOnPostgreSQL(
            "caseverdict",
            "run",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="verdicts",
                to="scoring.run",
            ),
        ),
        SortTextByCodePoint(),
    ]
