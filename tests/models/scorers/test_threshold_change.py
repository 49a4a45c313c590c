"""When a threshold may change, and what the row of a change says."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from scoring.models import Scorer, Team, ThresholdChange
from scoring.models.scorers.threshold_change import (
    StaleThresholdError,
    check_change,
    use_current_threshold,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def scorer(team: Team) -> Scorer:
    return Scorer.objects.define(team, "close", "levenshtein", {}, 0.8)


@pytest.mark.parametrize(
    ("new", "reason", "field"), [(0.9, " ", "reason"), (0.8, "why", "threshold")]
)
def test_a_change_needs_another_threshold_and_a_reason(new: float, reason: str, field: str) -> None:
    check_change(0.8, 0.9, "why")
    with pytest.raises(ValidationError) as caught:
        check_change(0.8, new, reason)
    assert list(caught.value.message_dict) == [field]


@pytest.mark.parametrize(
    ("current", "text"), [(0.7, "set the threshold to 0.7"), (None, "removed the scorer")]
)
def test_what_another_did_meanwhile_is_said(
    scorer: Scorer, current: float | None, text: str
) -> None:
    use_current_threshold(scorer, 0.8, 0.8)
    with pytest.raises(StaleThresholdError, match=text) as caught:
        use_current_threshold(scorer, 0.8, current)
    assert caught.value.current == current
    assert scorer.threshold == (0.8 if current is None else current)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [(None, 0.9, "added at 0.9"), (0.9, None, "removed (was 0.9)"), (0.5, 0.25, "0.5 → 0.25")],
)
def test_a_change_says_what_happened(
    scorer: Scorer, old: float | None, new: float | None, text: str
) -> None:
    change = ThresholdChange.objects.create(scorer=scorer, old=old, new=new, reason="why")
    assert (change.text, str(change)) == (text, f"default · {scorer}: {text}")


def test_a_change_without_a_reason_is_not_stored(scorer: Scorer) -> None:
    with transaction.atomic(), pytest.raises(IntegrityError, match="threshold_change_has_reason"):
        ThresholdChange.objects.create(scorer=scorer, old=0.5, new=0.25)
