"""What is kept of a list is given back while it holds."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scoring.models import Comparison, PairIndex, Run
from scoring.models.pairs.pair_index import NOT_INDEXED, IndexedList, indexed_list
from scoring.models.pairs.rows import PairKind
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(make_dataset: MakeDataset) -> tuple[Run, Run]:
    version = make_dataset([{"key": f"q{n}"} for n in range(3)])
    old, new = (run_with(version, {"close": [score] * 3}, name=f"{score}") for score in (0.9, 0.1))
    return old, new


@pytest.fixture
def comparison(runs: tuple[Run, Run]) -> Comparison:
    old, new = runs
    return Comparison.objects.create(
        baseline=old,
        candidate=new,
        baseline_finished_at=old.finished_at,
        candidate_finished_at=new.finished_at,
    )


def test_a_list_is_kept_by_kind_and_scorer(comparison: Comparison, runs: tuple[Run, Run]) -> None:
    of = {"comparison": comparison, "kind": PairKind.BROKE.value}
    PairIndex.objects.create(**of, total=3, positions=[1, 2, 3])
    PairIndex.objects.create(**of, scorer="close", total=1, positions=[2])
    PairIndex.objects.create(**of, scorer="far", total=90_000, positions=None)
    assert indexed_list(*runs, PairKind.BROKE) == IndexedList(3, [1, 2, 3])
    assert indexed_list(*runs, PairKind.BROKE, "close") == IndexedList(1, [2])
    assert indexed_list(*runs, PairKind.BROKE, "far") == IndexedList(90_000, None)
    assert indexed_list(*runs, PairKind.FIXED) == NOT_INDEXED
    assert indexed_list(*reversed(runs), PairKind.BROKE) == NOT_INDEXED


@pytest.mark.parametrize("side", [0, 1])
def test_a_list_of_a_run_that_was_scored_again_holds_no_more(
    comparison: Comparison, runs: tuple[Run, Run], side: int
) -> None:
    PairIndex.objects.create(comparison=comparison, kind="broke", total=0, positions=[])
    assert indexed_list(*runs, PairKind.BROKE) == IndexedList(0, [])
    Run.objects.filter(pk=runs[side].pk).update(finished_at=timezone.now())
    assert indexed_list(*runs, PairKind.BROKE) == NOT_INDEXED


def test_one_query_finds_it(comparison: Comparison, runs: tuple[Run, Run]) -> None:
    PairIndex.objects.create(comparison=comparison, kind="broke", total=0, positions=[])
    with CaptureQueriesContext(connection) as queries:
        indexed_list(*runs, PairKind.BROKE)
    assert len(queries) == 1
