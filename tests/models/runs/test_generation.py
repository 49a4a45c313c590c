"""A generation makes at least one output a case, and not too many."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from django.core.exceptions import ValidationError

from scoring.models import Generation, OutputSet
from scoring.models.runs.generation import MAX_TRIALS


@pytest.mark.parametrize(
    ("trials", "is_valid"), [(0, False), (1, True), (MAX_TRIALS, True), (MAX_TRIALS + 1, False)]
)
def test_trials_have_limits(trials: int, is_valid: bool) -> None:
    made = Generation(model="m", template="{{ input }}", trials=trials)
    with nullcontext() if is_valid else pytest.raises(ValidationError, match="trials"):
        made.clean_fields(exclude=["output_set", "connection"])


def test_it_is_called_by_its_model_and_outputs() -> None:
    assert str(Generation(model="m", output_set=OutputSet(series="a"))) == "m for a"
