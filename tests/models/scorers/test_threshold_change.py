"""When a threshold may change, and what the row of a change says."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from scoring.models import Scorer, Team, ThresholdChange, User
from scoring.models.scorers.threshold_change import (
    StaleThresholdError,
    check_change,
    refuse_stale,
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
    ("current", "text"),
    [
        (
            0.7,
            "alice@example.org set the threshold of close to 0.7 in the meantime (“Too strict.”).",
        ),
        (0.6, "Another user set the threshold of close to 0.6 in the meantime."),
        (None, "Another user removed close in the meantime."),
    ],
)
def test_who_did_what_meanwhile_is_said(
    scorer: Scorer, alice: User, current: float | None, text: str
) -> None:
    scorer.change_threshold(0.7, by=alice, reason="Too strict.")
    refuse_stale(0.7, 0.7, scorer)
    with pytest.raises(StaleThresholdError) as caught:
        refuse_stale(0.8, current, scorer)
    assert (caught.value.current, caught.value.what) == (current, text)
    assert str(caught.value) == f"{text} Nothing was changed."


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
