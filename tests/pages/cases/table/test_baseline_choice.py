"""The run that a case table is compared with: the one that is named, pinned, or before it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.http import QueryDict
from django.utils import timezone

from evalsite.pages.cases.table.baseline_choice import find_baselines, get_baseline_choice
from scoring.engine.runs.neighbours import run_baseline
from scoring.models import Baseline, DatasetVersion, OutputSet, Run, Team, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.run_states import EXACT, finished_run


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{}])


@pytest.fixture
def weeks(version: DatasetVersion) -> list[Run]:
    """Three runs of a series, a week apart."""
    runs = [run_with(version, {"close": [1.0]}, name=f"w{n}") for n in range(3)]
    for weeks_ago, run in zip((2, 1, 0), runs, strict=True):
        dated = timezone.now() - timedelta(weeks=weeks_ago)
        OutputSet.objects.filter(pk=run.output_set_id).update(dated=dated)
    return list(Run.objects.for_list().order_by("pk"))


def test_the_run_before_is_the_measure_unless_another_is_pinned(weeks: list[Run]) -> None:
    first, second, third = weeks
    found = find_baselines(third)
    assert (found["baseline"], found["measured_by"]) == (None, second)
    assert found["others"] == [second, first]
    Baseline.objects.pin(first, by=None)
    found = find_baselines(third)
    assert (found["baseline"], found["measured_by"]) == (first, first)
    assert found["others"] == [first, second]
    own = find_baselines(first)
    assert (own["is_baseline"], own["measured_by"]) == (True, None)


def test_a_run_over_the_same_outputs_is_offered_and_never_the_measure(
    weeks: list[Run], alice: User
) -> None:
    first, second, third = weeks
    again = finished_run(third.output_set, EXACT, name="again")
    for run, other in ((again, third), (third, again)):
        found = find_baselines(run)
        assert found["measured_by"] == run_baseline(run) == second
        assert found["others"] == [second, other, first]
    Baseline.objects.pin(third, by=None)
    assert find_baselines(again)["measured_by"] == run_baseline(again) == third
    Baseline.objects.get().unpin(by=None)
    again_first = finished_run(first.output_set, EXACT, name="first again")
    assert find_baselines(again_first)["measured_by"] is None
    assert find_baselines(again_first)["others"] == [first]


def test_a_named_run_of_the_dataset_goes_before_all(
    weeks: list[Run], version: DatasetVersion, alice: User
) -> None:
    _, second, third = weeks
    other = run_with(version, {"close": [1.0]}, name="other", series="b")
    for run, offered in ((second, 2), (other, 3)):
        choice = get_baseline_choice(alice, third, QueryDict(f"baseline={run.uuid}"))
        assert (choice.chosen, len(choice.offered)) == (run, offered)


def test_what_cannot_be_a_measure_is_none(
    weeks: list[Run], make_dataset: MakeDataset, alice: User, charlie: User
) -> None:
    third = weeks[2]
    elsewhere = run_with(make_dataset([{}], "Other"), {"close": [1.0]})
    for name in (str(elsewhere.uuid), str(third.uuid), "nothing"):
        choice = get_baseline_choice(alice, third, QueryDict(f"baseline={name}"))
        assert (choice.chosen, len(choice.offered)) == (None, 2)
    Run.objects.filter(pk=weeks[0].pk).update(team=Team.objects.get(slug="elsewhere"))


def test_whether_the_two_are_compared_is_only_told_where_changes_are_asked_for(
    weeks: list[Run], alice: User
) -> None:
    asked = get_baseline_choice(alice, weeks[2], QueryDict("change=broke"))
    assert (asked.is_compared, asked.is_requested) == (False, False)
    assert get_baseline_choice(alice, weeks[2], QueryDict("")).is_compared
