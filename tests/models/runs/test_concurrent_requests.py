"""What may be there once is made once, however many ask for it at the same moment."""

from __future__ import annotations

import pytest

from scoring.models import AlertRule, AuditEntry, Team, User
from scoring.models.alerts.rule import RuleExistsError
from tests.conftest import MakeDataset
from tests.support.concurrency import TIMES, call_at_once, wait_for_all


@pytest.mark.django_db(transaction=True)
def test_the_same_rule_made_eight_times_at_once_is_one(
    team: Team, alice: User, make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AlertRule, "_refuse_duplicate", wait_for_all(AlertRule._refuse_duplicate))
    dataset = make_dataset([{}]).dataset

    def define() -> str:
        try:
            AlertRule.objects.define(team, dataset, by=alice, kind="no_data", limit=3)
        except RuleExistsError:
            return "exists"
        return "made"

    assert sorted(call_at_once(define)) == ["exists"] * (TIMES - 1) + ["made"]
    assert AlertRule.objects.count() == AuditEntry.objects.filter(target_type="alert rule").count()
