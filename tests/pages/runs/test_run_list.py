"""A page of a list of runs, which reads what a table shows and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import QueryDict

from evalsite.pages.runs.run_list import list_runs
from evalsite.pages.web import keyset
from scoring.models import Dataset, OutputSet, Run, RunState, Team
from tests.conftest import MakeDataset, MakeOutputs

MakeRuns = Callable[[int], list[Run]]


@pytest.fixture
def make_runs(team: Team, make_dataset: MakeDataset, make_outputs: MakeOutputs) -> MakeRuns:
    outputs: OutputSet = make_outputs(make_dataset([{}]), ["yes"])

    def make(count: int) -> list[Run]:
        return [
            Run.objects.create(team=team, output_set=outputs, name=f"r{n}", state=RunState.FINISHED)
            for n in range(count)
        ]

    return make


def test_pages_follow_each_other_newest_first(
    make_runs: MakeRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = make_runs(5)
    monkeypatch.setattr(keyset.keyset_page, "__defaults__", (2,))
    query, seen = QueryDict(), []
    while True:
        page = list_runs(Run.objects.all(), query)
        seen.append([run.name for run in page.rows])
        if page.next is None:
            break
        query = QueryDict(page.next.removeprefix("?"))
    assert seen == [["r4", "r3"], ["r2", "r1"], ["r0"]]
    assert [run.name for run in list_runs(Run.objects.filter(pk=runs[0].pk), QueryDict()).rows] == [
        "r0"
    ]


def test_a_row_has_all_that_a_table_shows(
    make_runs: MakeRuns, django_assert_num_queries: Any
) -> None:
    make_runs(3)
    Dataset.objects.update(name="questions")
    with django_assert_num_queries(2):
        for run in list_runs(Run.objects.all(), QueryDict()).rows:
            version = run.output_set.version
            shown: list[Any] = [version.dataset.name, version.numbered, run.output_set.series]
            assert shown == ["questions", "1", "a"]
            assert (run.later_labels, run.is_baseline) == (None, False)  # type: ignore[attr-defined]
            assert [run.has_many_errors, run.archived_at, run.deleted_at] == [False, None, None]


def test_without_runs_the_page_is_empty(db: None, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert list_runs(Run.objects.none(), QueryDict()).rows == []
