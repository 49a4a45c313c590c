"""An administrator in Django's admin."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from scoring import models as rows
from scoring.models import Scorer, Suite, SuiteEntry, Team, User


@pytest.fixture
def admin(root: User) -> Client:
    client = Client()
    client.force_login(root)
    return client


@pytest.fixture
def entry(team: Team) -> SuiteEntry:
    scorer = Scorer.objects.define(team, "close enough", "levenshtein", {})
    Suite.objects.define(team, "release", [(scorer, None)])
    return SuiteEntry.objects.get()


def change_url(row: rows.SuiteEntry | Team | User | rows.Member) -> str:
    return reverse(f"admin:scoring_{row._meta.model_name}_change", args=[row.pk])
