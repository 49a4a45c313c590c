"""Which cases are worth a look first, and for which reason."""

from __future__ import annotations

import pytest

from scoring.engine.review.informative_outputs import most_informative, selected_outputs
from scoring.models import Output, Review, ReviewVerdict, Run, Score, TaskReason, User, Verdict
from scoring.models.case_list.filters import NO_FILTERS, CaseFilters
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import CLOSE, EXACT, finished_run

pytestmark = pytest.mark.django_db


def ranked(run: Run, filters: CaseFilters = NO_FILTERS, count: int = 100) -> list[tuple[int, str]]:
    """Position of the case and reason, in order."""
    positions = dict(
        Output.objects.filter(output_set=run.output_set).values_list("pk", "case__position")
    )
    found = most_informative(run, filters, count)
    return [(positions[each.output], each.reason.label) for each in found]


def test_near_the_threshold_comes_first_and_the_closest_of_all_at_the_top(run: Run) -> None:
    scores = dict(
        Score.objects.filter(scorer__name="close").values_list("output__case__position", "score")
    )
    assert scores == {1: 1.0, 2: 0.7, 3: 0.6, 4: 0.73, 5: 0.0, 6: 1.0}
    assert ranked(run) == [
        (2, "near the threshold"),
        (4, "near the threshold"),
        (1, "not reviewed yet"),
        (3, "not reviewed yet"),
        (5, "not reviewed yet"),
        (6, "not reviewed yet"),
    ]
    first = most_informative(run, NO_FILTERS, 1)
    assert first[0].detail == "close 0.7, threshold 0.7"


def test_a_score_just_within_and_just_outside_of_0_05(run: Run) -> None:
    rows = Score.objects.filter(scorer__name="close")
    rows.filter(output__case__position=3).update(score=0.65)
    rows.filter(output__case__position=4).update(score=0.7500001)
    near = [place for place, reason in ranked(run) if reason == "near the threshold"]
    assert near == [2, 3]


def test_scorers_that_disagree_come_next(
    make_outputs: MakeOutputs, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"input": f"q{n}", "expected": "abcdefghij"} for n in range(3)])
    run = finished_run(make_outputs(version, ["-", "abcdefghiX", "abcdefghij"]), CLOSE, EXACT)
    assert ranked(run) == [
        (2, "scorers disagree"),
        (1, "not reviewed yet"),
        (3, "not reviewed yet"),
    ]


def test_what_changed_since_the_baseline_comes_before_what_nobody_saw(
    make_outputs: MakeOutputs, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"input": f"q{n}", "expected": "yes"} for n in range(4)])
    finished_run(make_outputs(version, ["yes", "no", "no", "yes"]), EXACT, name="w45")
    run = finished_run(make_outputs(version, ["yes", "no", "yes", "no"]), EXACT, name="w46")
    assert ranked(run) == [
        (4, "changed since the baseline"),
        (3, "changed since the baseline"),
        (1, "not reviewed yet"),
        (2, "not reviewed yet"),
    ]
    assert most_informative(run, NO_FILTERS, 1)[0].detail == "broke since w45"


def test_a_judge_that_wavers(run: Run) -> None:
    scorer = run.scorers.select_related("version").get(name="exact")
    type(scorer.version).objects.filter(pk=scorer.version.pk).update(config={"samples": 3})
    rows = Score.objects.filter(scorer=scorer)
    rows.filter(output__case__position=5).update(metadata_json='{"samples": ["A", "B", "A"]}')
    rows.filter(output__case__position=6).update(metadata_json='{"samples": ["A", "A", "A"]}')
    assert ranked(Run.objects.get())[2] == (5, "judge wavers")
    assert most_informative(Run.objects.get(), NO_FILTERS, 3)[2].detail == 'exact: "A", "B"'


def test_reviewed_cases_come_last(run: Run, rita: User) -> None:
    output = Output.objects.get(case__position=1)
    Review.objects.record(run, output, ReviewVerdict.PASS, by=rita)
    assert ranked(run)[-1] == (1, "reviewed before")


def test_filters_and_count_restrict_what_is_drawn(run: Run) -> None:
    failed = CaseFilters(verdict=Verdict.FAIL)
    assert {place for place, _ in ranked(run, failed)} == {2, 3, 4, 5}
    assert len(ranked(run, count=2)) == 2
    assert selected_outputs(run, failed).count() == 4
    assert TaskReason.NEAR_THRESHOLD < TaskReason.DISAGREEING < TaskReason.FLIPPED
