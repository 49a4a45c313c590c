"""A finished run of six cases, and people who review it."""

from __future__ import annotations

import pytest

from scoring.models import Member, Role, Run, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, EXACT, finished_run

#: Beside "abcdefghij" their similarity is 1, 0.7, 0.6, 0.73, 0 and 1; the threshold is 0.7.
TEXTS = ("abcdefghij", "abcdefgxyz", "abcdefwxyz", "abcdefghxyz", "----------", "abcdefghij")


def member(team: Team, email: str, role: Role = Role.REVIEWER) -> User:
    user = User.objects.create_user(email)
    Member.objects.create(team=team, user=user, role=role)
    return user


@pytest.fixture
def sam(team: Team) -> User:
    return member(team, "sam@example.org")


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"input": f"q{n}", "expected": "abcdefghij"} for n in range(len(TEXTS))]
    return finished_run(make_outputs(make_dataset(cases), TEXTS), CLOSE, EXACT)
