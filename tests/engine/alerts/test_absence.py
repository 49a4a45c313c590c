"""When runs have stopped coming, and when they only seem to."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from scoring.models import (
    DatasetVersion,
    OutputSet,
    Run,
    WatchState,
)
from tests.engine.alerts.conftest import MakeRule, found, letters, run_of

FINE, FIRING, UNDECIDED, SILENT = (
    WatchState.FINE,
    WatchState.FIRING,
    WatchState.UNDECIDED,
    WatchState.SILENT,
)


def date_all(when: datetime) -> None:
    OutputSet.objects.update(dated=when)
    Run.objects.update(finished_at=when)


@pytest.mark.parametrize(
    ("age_days", "limit", "state"),
    [(0.5, 1, FINE), (0.99, 1, FINE), (1.01, 1, FIRING), (6, 7, FINE), (30, 7, FIRING)],
)
def test_no_run_for_days(
    version: DatasetVersion, make_rule: MakeRule, age_days: float, limit: int, state: str
) -> None:
    now = timezone.now()
    run = run_of(version, 1, letters(20))
    date_all(now - timedelta(days=age_days))
    told = found(make_rule("no_data", limit, series="a"))
    assert (told.state, told.run) == (state, run)
    assert told.value == pytest.approx(age_days, abs=0.01)
    due = now + timedelta(days=limit - age_days)
    assert told.look_at is None if state == FIRING else abs(told.look_at - due) < timedelta(1e-4)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("more", "state"), [({"series": "later"}, FIRING), ({"series": ""}, SILENT)]
)
def test_a_series_that_had_ended_is_awaited_only_by_its_name(
    version: DatasetVersion, make_rule: MakeRule, more: dict[str, Any], state: str
) -> None:
    run_of(version, 1, letters(20), series="later")
    date_all(timezone.now() - timedelta(days=90))
    assert found(make_rule("no_data", 7, **more), "later").state == state


def test_a_series_without_any_run_is_awaited_from_the_rule_on(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    rule = make_rule("no_data", 2)
    told = found(rule, "")
    assert (told.state, told.run) == (FINE, None)
    rule.created_at -= timedelta(days=3)
    told = found(rule, "")
    assert told.state == FIRING
    assert told.sentence == "No run for 3 days: none has come since the rule was made."


def test_a_date_in_the_future_hides_no_missing_run(
    version: DatasetVersion, make_rule: MakeRule
) -> None:
    run_of(version, 1, letters(20))
    now = timezone.now()
    OutputSet.objects.update(dated=now + timedelta(days=300))
    Run.objects.update(finished_at=now - timedelta(days=3))
    assert found(make_rule("no_data", 2, series="a")).state == FIRING
