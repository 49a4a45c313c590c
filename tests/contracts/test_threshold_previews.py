"""What a preview lists is what flips: before the change it names exactly the outputs, or cases with
several trials, whose labels differ once the threshold is changed and the run is re-labelled.
"""

from __future__ import annotations

from random import Random
from typing import Final

import pytest

from scoring.engine.runs.trial_figures import read_trials
from scoring.engine.thresholds.preview import Preview, RunPreview
from scoring.engine.thresholds.relabelling import relabel_run, remove_labels
from scoring.models import Case, CaseVerdict, DatasetVersion, Output, Run, RunScorer, Score
from scoring.models.bulk import gather_statistics
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given
from tests.support.suite_runs import entry_of, suite_run
from tests.support.thoroughness import IS_THOROUGH

pytestmark = pytest.mark.django_db

THRESHOLDS: Final = 10
GRID: Final[list[Given]] = [n / 40 for n in range(41)]
WITH_GAPS: Final[list[Given]] = [*GRID, "error", "skip", "skip"]


def labels_of(run: Run, threshold: float) -> dict[str, int | None]:
    """The verdict of `close` on each output, or case of several trials, at a threshold."""
    scorer = RunScorer.objects.select_related("run").get(run=run, name="close")
    if run.has_trials:
        keys = dict(run.output_set.version.cases.values_list("pk", "key"))
        tried = read_trials(scorer, threshold).verdicts()
        return {f"{keys[case]}/0": verdict for case, (_, verdict) in tried}
    columns = ("output__case__key", "output__trial", "score")
    rows = Score.objects.filter(scorer=scorer).values_list(*columns)
    return {
        f"{key}/{trial}": None if score is None else int(score < threshold)
        for key, trial, score in rows.iterator()
    }


def listed(preview: RunPreview) -> set[str]:
    """All pages of the list, which the API shows in the same order."""
    found, page = [], preview.flips.page(size=10_000)
    found += page.cases
    while page.after:
        page = preview.flips.page(size=10_000, after=page.after)
        found += page.cases
    keys = {f"{case.key}/{case.trial}" for case in found}
    assert len(keys) == len(found)
    return keys


@pytest.fixture
def large(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{}] * 100_000)


def check_previews(
    version: DatasetVersion,
    choices: list[Given],
    *,
    trials: int = 1,
    thresholds: int = THRESHOLDS,
) -> None:
    random, cases = Random(27), version.case_count
    close = random.choices(choices, k=cases * trials)
    same = random.choices([0, 1, 1, 1], k=cases * trials)
    run = suite_run(version, {"close": close, "same": same}, trials=trials)
    gather_statistics(Case, Output, Score, CaseVerdict)
    scores = list(Score.objects.order_by("pk").values_list("score", "verdict"))
    verdicts = list(CaseVerdict.objects.order_by("pk").values_list("verdict", "of_case"))
    flipped = 0
    for number in range(thresholds):
        new = random.choice([random.random(), random.randrange(1, 40) / 40])
        (preview,) = Preview.of(entry_of(), new).runs
        promised, counts = listed(preview), preview.counts
        changed_cases = preview.case_verdicts
        before, after = labels_of(run, 0.5), labels_of(run, new)
        assert promised == {key for key in before if before[key] != after[key]}
        assert counts.flips == len(promised)
        entry_of().change_threshold(new, by=None, reason=f"Try {number}.")
        relabel = relabel_run(run, by=None)
        assert relabel.passed == {"close": counts.after}
        moved = abs(relabel.pass_count - (run.pass_count or 0))
        moved += abs(relabel.error_count - (run.error_count or 0))
        assert changed_cases == abs(relabel.fail_count - (run.fail_count or 0))
        assert moved >= changed_cases
        flipped += counts.flips
        entry_of().change_threshold(0.5, by=None, reason="Back.")
        remove_labels(run, by=None)
    assert flipped > cases / 2
    assert list(Score.objects.order_by("pk").values_list("score", "verdict")) == scores
    stored = CaseVerdict.objects.order_by("pk").values_list("verdict", "of_case")
    assert list(stored) == verdicts


def test_flips_of_a_run_with_errors_and_skips(make_dataset: MakeDataset) -> None:
    check_previews(make_dataset([{}] * 120), WITH_GAPS)


def test_flips_of_a_run_with_trials(make_dataset: MakeDataset) -> None:
    check_previews(make_dataset([{}] * 80), WITH_GAPS, trials=3)


def test_flips_of_a_large_run(large: DatasetVersion) -> None:
    check_previews(large, GRID, thresholds=THRESHOLDS if IS_THOROUGH else 3)
