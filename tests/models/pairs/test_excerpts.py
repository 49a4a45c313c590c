"""What a list of pairs shows: both answers, both scores, in two queries."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models import DatasetVersion, Output, Run
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.excerpts import OUTPUT_LENGTH, PairRow, read_pair_rows
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import NO_FILTERS, PairFilters, PairKind
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}", "input": f"Question {n}"} for n in range(6)])


@pytest.fixture
def runs(version: DatasetVersion) -> tuple[Run, Run]:
    """The first three break; the last has an error now; "far" is the baseline's alone."""
    before = run_with(version, {"close": [0.9] * 6, "far": [1.0] * 6}, name="old")
    after = run_with(version, {"close": [0.1, 0.2, 0.3, 0.9, 0.8, "error"]}, name="new")
    return before, after


def rows(runs: tuple[Run, Run], kind: PairKind) -> list[PairRow]:
    return read_pair_rows(Pairs(*runs).page(kind).rows, *runs)


def test_rows_hold_both_answers_and_scores(runs: tuple[Run, Run]) -> None:
    found = rows(runs, PairKind.BROKE)
    assert [row.pair.key for row in found] == ["q0", "q1", "q2"]
    assert [row.input for row in found] == ["Question 0", "Question 1", "Question 2"]
    assert found[1].before
    assert found[1].before.scores == {"close": 0.9, "far": 1.0}
    assert found[1].after
    assert found[1].after.scores == {"close": 0.2}
    assert found[1].after.output == "q1 0"


def test_what_was_not_scored_has_no_score(runs: tuple[Run, Run]) -> None:
    (row,) = rows(runs, PairKind.UNCLEAR)
    assert row.after
    assert row.after.scores == {}


def test_a_long_answer_is_cut_and_none_stays_none(runs: tuple[Run, Run]) -> None:
    outputs = Output.objects.filter(output_set=runs[1].output_set).order_by("pk")
    Output.objects.filter(pk=outputs[0].pk).update(text="x" * (OUTPUT_LENGTH + 1))
    Output.objects.filter(pk=outputs[1].pk).update(text=None, error="timeout")
    long, absent, _ = rows(runs, PairKind.BROKE)
    assert long.after
    assert long.after.output == "x" * OUTPUT_LENGTH
    assert absent.after
    assert absent.after.output is None
    assert absent.after.error == "timeout"


def test_a_case_of_one_run_was_said_once(version: DatasetVersion, runs: tuple[Run, Run]) -> None:
    fewer = run_with(version, {"close": [0.9] * 5}, leaves_out=[0])
    (row,) = rows((runs[0], fewer), PairKind.ONLY_BASELINE)
    assert row.after is None
    assert row.before
    assert row.before.output == "q0 0"


def test_two_queries_whatever_the_number(runs: tuple[Run, Run]) -> None:
    pairs = Pairs(*runs).page(PairKind.BROKE).rows
    for some in (pairs[:1], pairs):
        with CaptureQueriesContext(connection) as captured:
            read_pair_rows(some, *runs)
        assert len(captured) == 2


@pytest.mark.sqlite
def test_sqlite_reads_only_the_scores_of_these_outputs(runs: tuple[Run, Run]) -> None:
    """By its index over scores it would walk through those of the whole run."""
    pairs = Pairs(*runs).page(PairKind.BROKE).rows
    with CaptureQueriesContext(connection) as captured:
        read_pair_rows(pairs, *runs)
    (read,) = [query["sql"] for query in captured if "scoring_score" in query["sql"]]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {read}")
        steps = [row[3] for row in cursor.fetchall()]
    assert any("(scorer_id=? AND output_id=?)" in step for step in steps)


# Neighbours in a list.


@pytest.mark.parametrize("kind", PairKind)
@pytest.mark.parametrize("filters", [NO_FILTERS, PairFilters(scorer="close")])
def test_neighbours_are_those_of_the_page(
    runs: tuple[Run, Run], kind: PairKind, filters: PairFilters
) -> None:
    pairs = Pairs(*runs)
    places = [row.place for row in pairs.page(kind, filters).rows]
    for position in range(1, 7):
        here = CasePosition(position)
        before = [place for place in places if place < here]
        after = [place for place in places if place > here]
        wanted = (before[-1] if before else None, after[0] if after else None)
        assert pairs.neighbours(kind, filters, here) == wanted


def test_neighbours_of_a_case_with_trials_are_cases(version: DatasetVersion) -> None:
    old = run_with(version, {"close": [0.9] * 12}, trials=2)
    new = run_with(version, {"close": [0.1] * 12}, trials=2)
    found = Pairs(old, new).neighbours(PairKind.BROKE, NO_FILTERS, CasePosition(2, 0))
    assert found == (CasePosition(1, 0), CasePosition(3, 0))


def test_scores_of_several_trials_are_their_mean(version: DatasetVersion) -> None:
    """Texts are those of the first trial that is there."""
    old = run_with(version, {"close": [0.9] * 6})
    scores: list[Given] = [0.5, 0.1, "error", 0.2, *[0.0] * 7]
    new = run_with(version, {"close": scores}, trials=2, leaves_out=[4])
    pairs = Pairs(old, new).page(PairKind.PAIRS).rows
    found = [
        (row.after.output, row.after.scores)
        for row in read_pair_rows(pairs, old, new)[:3]
        if row.after
    ]
    assert found == [
        ("q0 0", {"close": 0.3}),
        ("q1 0", {"close": 0.2}),
        ("q2 1", {"close": 0.0}),
    ]


def test_neighbours_take_a_query_each(runs: tuple[Run, Run]) -> None:
    pairs = Pairs(*runs)
    pairs.page(PairKind.BROKE)  # reads the runs' output sets
    for filters in (NO_FILTERS, PairFilters(scorer="close")):
        with CaptureQueriesContext(connection) as captured:
            pairs.neighbours(PairKind.BROKE, filters, CasePosition(2))
        assert len(captured) == 2
