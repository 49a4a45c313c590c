"""Every table is archived or named as staying behind, and parents come first."""

from __future__ import annotations

from django.apps import apps
from django.db import models

from scoring.engine.team_archive.tables import NOT_ARCHIVED, TABLES
from scoring.models import User

ARCHIVED = {table.model: table for table in TABLES}


def test_every_table_is_archived_or_stays_behind() -> None:
    known = apps.get_app_config("scoring").get_models(include_auto_created=True)
    names = {str(model._meta.model_name) for model in known}
    archived = {table.name for table in TABLES}
    assert names == archived | set(NOT_ARCHIVED)
    assert not archived & set(NOT_ARCHIVED)


def test_parents_come_before_children() -> None:
    """Whether a row is archived is told by whether its parents are."""
    seen: set[object] = {User}
    for table in TABLES:
        for column in table.columns:
            if column.is_relation and not column.null:
                assert column.related_model in seen, (table.name, column.name)
        seen.add(table.model)


def test_rows_refer_to_what_is_archived() -> None:
    for table in TABLES:
        for column in table.columns:
            if column.is_relation:
                assert column.related_model in {User, *ARCHIVED}, (table.name, column.name)


def test_ids_are_numbers_that_the_database_gives() -> None:
    for table in TABLES:
        assert isinstance(table.model._meta.pk, models.AutoField | models.BigAutoField), table.name


def test_what_is_left_out_exists_and_has_a_default() -> None:
    for table in TABLES:
        for name in table.left_out:
            column = table.model._meta.get_field(name)
            assert isinstance(column, models.Field)
            has_default = column.has_default() or column.null or table.name == "team"
            assert has_default or column.empty_strings_allowed, (table.name, name)


def test_encrypted_columns_stay_behind() -> None:
    for table in TABLES:
        assert not [c.name for c in table.columns if c.name.startswith("encrypted")]
        assert not [c.name for c in table.columns if "digest" in c.name and table.name == "token"]
