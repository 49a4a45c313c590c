"""Confusion matrices are counted from the outputs that have both labels."""

from __future__ import annotations

import pytest

from scoring.engine.runs.confusion import OTHER_LABEL
from scoring.engine.runs.summaries import summarize_run
from scoring.models import Run, RunSummary
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run

CLASSES = ["yes", "no"]
#: Expected and answered; None where nothing was expected or nothing was answered.
PAIRS: list[tuple[str | None, str | None]] = [
    ("yes", "yes"),
    ("yes", "Yes "),
    ("yes", "no"),
    ("no", "no"),
    ("no", "perhaps"),
    ("maybe", "yes"),
    ("yes", None),
    (None, "yes"),
    (None, "perhaps"),
]


@pytest.fixture
def classed(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"expected": expected} if expected else {} for expected, _ in PAIRS]
    outputs = make_outputs(make_dataset(cases), [answered for _, answered in PAIRS])
    config = {"classes": CLASSES, "case_sensitive": False, "trim": True}
    return finished_run(outputs, ("label", "exact_match", config), ("same", "exact_match", {}))


def _label(text: str) -> str:
    """As the scorer compares, written again."""
    plain = text.strip().lower()
    return plain if plain in CLASSES else OTHER_LABEL


def _wanted(expected: str, answered: str) -> list[str]:
    """The keys of the cases in one cell, counted from the pairs."""
    judged = [(n, one, two) for n, (one, two) in enumerate(PAIRS, 1) if one and two]
    return [
        f"case-{n}" for n, one, two in judged if (_label(one), _label(two)) == (expected, answered)
    ]


def test_the_matrix_counts_the_outputs_that_have_both_labels(classed: Run) -> None:
    kept = RunSummary.objects.get(scorer__run=classed, scorer__name="label").classes
    every = [*CLASSES, OTHER_LABEL]
    assert kept["labels"] == CLASSES
    assert kept["counts"] == [[len(_wanted(row, column)) for column in every] for row in every]


def test_summarising_again_gives_the_same_matrix(classed: Run) -> None:
    before = list(RunSummary.objects.order_by("pk").values("classes"))
    summarize_run(classed)
    assert list(RunSummary.objects.order_by("pk").values("classes")) == before
