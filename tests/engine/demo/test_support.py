"""The demo's support answers: in the bad weeks questions of billing are sent away."""

from __future__ import annotations

import pytest

from scoring.engine.demo.story import REGRESSION, WEEKS
from scoring.engine.demo.support import SUPPORT
from scoring.engine.demo.support_judge import DEAD_END

BILLING = [case for case in SUPPORT.cases if "billing" in case.tags]


@pytest.mark.parametrize("week", range(WEEKS))
def test_only_in_the_bad_weeks_billing_leads_nowhere(week: int) -> None:
    sent_away = [case for case in SUPPORT.cases if SUPPORT.answer(case, week) == DEAD_END]
    assert all("billing" in case.tags for case in sent_away)
    if week in REGRESSION:
        assert len(sent_away) > len(BILLING) / 2
    else:
        assert sent_away == []
