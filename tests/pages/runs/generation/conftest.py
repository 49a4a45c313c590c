"""An editor before a dataset of four questions, with a model to ask and a suite to score by."""

from __future__ import annotations

import pytest
from django.test import Client

from scoring.models import Connection, Dataset, Suite, Team, User
from tests.conftest import MakeDataset
from tests.pages.runs.generation.steps import connected, suite_with
from tests.pages.runs.steps import BrowserOf


@pytest.fixture
def dataset(make_dataset: MakeDataset) -> Dataset:
    cases = [{"input": {"q": f"question {n}"}, "expected": "yes"} for n in range(1, 5)]
    return make_dataset(cases).dataset


@pytest.fixture
def own(team: Team) -> Connection:
    return connected(team)


@pytest.fixture
def suite(team: Team) -> Suite:
    return suite_with(team)


@pytest.fixture
def browser(browser_of: BrowserOf, alice: User) -> Client:
    return browser_of(alice)
