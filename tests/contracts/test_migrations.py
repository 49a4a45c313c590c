"""A fresh database gets in one step what an older one gets in many."""

from __future__ import annotations

from typing import Any

from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader

Schema = dict[str, tuple[Any, ...]]


def squashed() -> Migration:
    (found,) = [
        migration
        for (app, _), migration in MigrationLoader(None).graph.nodes.items()
        if app == "scoring" and migration and migration.replaces
    ]
    return found


def schema_after(loader: MigrationLoader, name: str) -> Schema:
    """The models after this migration, by name, as they would be written down."""
    models = loader.project_state(("scoring", name)).models.items()
    return {
        name: (
            {field: found.deconstruct()[1:] for field, found in state.fields.items()},
            {option: repr(value) for option, value in state.options.items() if value},
            [repr(base) for base in state.bases],
        )
        for (app, name), state in models
        if app == "scoring"
    }


def test_the_squashed_migration_makes_what_its_steps_make() -> None:
    steps = MigrationLoader(None, replace_migrations=False)
    _, last = squashed().replaces[-1]
    at_once = schema_after(MigrationLoader(None), squashed().name)
    assert at_once
    assert at_once == schema_after(steps, last)
