"""Three people, and a version of 200 cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scoring.models import DatasetVersion, User


@pytest.fixture
def people() -> list[User]:
    return [User.objects.create_user(f"{name}@example.org") for name in ("ann", "ben", "cat")]


@pytest.fixture
def version(make_dataset: Callable[..., DatasetVersion]) -> DatasetVersion:
    return make_dataset([{"expected": "yes"}] * 200)
