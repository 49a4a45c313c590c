"""What a list of broken cases says of each, and how many there are of a state."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evalsite.pages.compare.case_states import CaseStates, ListedState
from scoring.models import CaseDecision, CaseDecisionState, Run, User
from scoring.models.reviews.broken_cases import BrokenCases, CaseState
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": key} for key in "abcd"])
    return run_with(version, {"close": [1.0] * 4}), run_with(version, {"close": [0.0] * 4})


def test_each_state_says_who_and_why(runs: tuple[Run, Run], alice: User) -> None:
    outputs = list(runs[1].output_set.outputs.order_by("pk").values_list("pk", flat=True))
    rejected = CaseDecisionState.REJECTED
    CaseDecision.objects.decide(runs, outputs[:1], rejected, by=alice, reason="Wrong.")
    waive(runs[1], "b", "close", alice, days=2)
    waive(runs[1], "c", "close", alice, days=-2)
    states = CaseStates(BrokenCases(*runs), 4, outputs)
    today = timezone.localdate()
    assert [states.of(output) for output in outputs] == [
        ListedState(CaseState.REJECTED, alice, "Wrong."),
        ListedState(CaseState.WAIVED, alice, "Known bug 12.", until=today + timedelta(days=2)),
        ListedState(CaseState.OPEN, alice, "Known bug 12.", expired=today - timedelta(days=2)),
        ListedState(CaseState.OPEN),
    ]
    links = states.links(iter([(CaseState.OPEN, "?o"), (CaseState.WAIVED, "?w")]), CaseState.OPEN)
    assert [(link.cases, link.url, link.is_here) for link in links] == [
        (2, "?o", True),
        (1, "?w", False),
    ]


@pytest.mark.parametrize(
    ("reason", "title"), [("Wrong.", "alice@example.org: Wrong."), ("", "alice@example.org")]
)
def test_the_tooltip_names_the_person(alice: User, reason: str, title: str) -> None:
    assert ListedState(CaseState.ACCEPTED, alice, reason).title == title
    assert ListedState(CaseState.OPEN).title == ""
