"""On PostgreSQL the rows of an import are not looked up one by one. On SQLite nothing changes."""

import django.db.models.deletion
from django.db import migrations, models

from scoring.migrations._operations import AlterOnPostgreSQL


class Migration(migrations.Migration):
    dependencies = [("scoring", "0023_postgresql_columns")]

    operations = [
        AlterOnPostgreSQL(
            "case",
            "version",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="cases",
                to="scoring.datasetversion",
            ),
        ),
        AlterOnPostgreSQL(
            "output",
            "output_set",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="outputs",
                to="scoring.outputset",
            ),
        ),
    ]
