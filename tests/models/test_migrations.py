"""A new database is set up by one migration, which makes all models at once."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState, StateApps


@pytest.mark.django_db
def test_the_migrations_lead_to_the_models() -> None:
    call_command("makemigrations", check=True, dry_run=True)


@pytest.mark.django_db(transaction=True)
def test_many_models_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `CreateModel` by itself would render all that is related to it once more."""
    rendered: list[int] = []
    render = StateApps.render_multiple

    def counted(self: StateApps, states: list[ModelState]) -> None:
        rendered.append(len(states))
        render(self, states)

    monkeypatch.setattr(StateApps, "render_multiple", counted)
    loader = MigrationLoader(connection)
    (squashed,) = (name for app, name in loader.graph.nodes if app == "scoring" and "0001" in name)
    operation, _ = loader.get_migration("scoring", squashed).operations
    before = loader.project_state(("auth", "0012_alter_user_first_name_max_length"))
    before.apps  # noqa: B018  rendered, as the executor does
    rendered.clear()
    operation.state_forwards("scoring", before)
    before.apps  # noqa: B018
    assert sum(rendered) == len(before.models)
