"""What a drift chart says where figures are still missing."""

from __future__ import annotations

from evalsite.pages.drift.figure import DriftFigure
from scoring.engine.drift import drift_lines
from tests.conftest import MakeDataset
from tests.pages.drift.test_marks import STEPS, elements, render
from tests.support.drift_runs import run_in_week


def test_a_step_whose_flips_are_not_counted_yet_is_named_by_its_run(
    db: None, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": "q"}])
    for week in (1, 2):
        run_in_week(version, week, 0.5, "p")
    [line] = drift_lines(version.dataset)
    figure = DriftFigure(line, "a-team")
    assert [step[1]["aria-label"] for step in elements(figure.steps)] == ["Compare w2"]
    assert elements(figure.steps) == render(STEPS, figure)
    assert figure.bars == ""
