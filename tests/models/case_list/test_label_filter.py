"""The cases of one cell of a confusion matrix, by the spellings of its labels."""

from __future__ import annotations

import pytest

from scoring.models import Run
from scoring.models.case_list.label_filter import LabelFilter, LabelSpellings
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import EXACT, finished_run
from tests.support.undone import undone

YES = LabelSpellings(frozenset({'"yes"'}))
NOT_YES = LabelSpellings(frozenset({'"yes"'}), is_other=True)
SAID_YES = LabelSpellings(frozenset({(False, "yes"), (False, "Yes")}))
SAID_ELSE = LabelSpellings(SAID_YES.written, is_other=True)


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    pairs = [("yes", "yes"), ("yes", "Yes"), ("yes", "no"), ("no", "yes"), ("no", "no")]
    cases = [{"key": f"{one} {two}", "expected": one} for one, two in pairs]
    cases += [{"key": "yes -", "expected": "yes"}, {"key": "- yes"}]
    outputs = make_outputs(make_dataset(cases), [*(two for _, two in pairs), None, "yes"])
    return finished_run(outputs, EXACT)


def test_a_cell_holds_what_its_scorer_compared(run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[LabelSpellings | None, LabelSpellings | None, list[str]]] = [
        (YES, SAID_YES, ["yes yes", "yes Yes"]),
        (YES, SAID_ELSE, ["yes no"]),
        (NOT_YES, SAID_YES, ["no yes"]),
        (NOT_YES, SAID_ELSE, ["no no"]),
        (YES, None, ["yes yes", "yes Yes", "yes no"]),
        (None, SAID_YES, ["yes yes", "yes Yes", "no yes"]),
        (None, None, ["yes yes", "yes Yes", "yes no", "no yes", "no no"]),
    ]
    for expected, answered, keys in cases:
        with subtests.test(expected=expected, answered=answered, keys=keys), undone():
            found = LabelFilter(run.scorers.get(), expected, answered).outputs(run)
            assert list(found.order_by("case").values_list("case__key", flat=True)) == keys
