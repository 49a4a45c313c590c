"""What is left out of the charts of a comparison is counted as the charts are."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from scoring.engine.compare.comparison import compute_figures
from scoring.engine.compare.excluded_cases import NOTHING_EXCLUDED, count_excluded, exclude_cases
from scoring.engine.compare.figures import ScorerFigures
from scoring.models import DatasetVersion, Output, Run
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.thoroughness import examples

pytestmark = pytest.mark.django_db
CASES = 6

EDGES = (0.0, 0.04, 0.1, 0.15, 0.3, 0.35, 0.7, 0.75, 0.8, 0.96, 1.0)  # of cells and bars
SCORES = st.sampled_from(EDGES) | st.floats(0, 1)


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}"} for n in range(CASES)])


def scorer_of(baseline: Run, candidate: Run) -> ScorerFigures:
    (scorer,) = compute_figures(baseline, candidate).scorers
    return scorer


def outputs_of(run: Run, positions: list[int]) -> list[int]:
    outputs = Output.objects.filter(output_set=run.output_set, case__position__in=positions)
    return list(outputs.values_list("pk", flat=True))


def counted(scorer: ScorerFigures) -> tuple[object, ...]:
    cells = {(cell.x, cell.y): cell.cases for cell in scorer.scatter}
    return scorer.n, scorer.improved, scorer.regressed, cells, scorer.histogram


@settings(
    max_examples=examples(20),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(
    before=st.lists(SCORES, min_size=2 * CASES, max_size=2 * CASES),
    after=st.lists(SCORES, min_size=2 * CASES, max_size=2 * CASES),
    left_out=st.sets(st.integers(1, CASES), max_size=CASES - 1),
    trials=st.sampled_from([1, 2]),
)
def test_the_rest_is_counted_as_if_nothing_else_were_there(
    version: DatasetVersion,
    before: list[float],
    after: list[float],
    left_out: set[int],
    trials: int,
) -> None:
    size = CASES * trials
    runs = [run_with(version, {"close": given[:size]}, trials=trials) for given in (before, after)]
    places = [n for n in range(size) if n // trials + 1 in left_out]
    rest = [
        run_with(
            version,
            {"close": [score for n, score in enumerate(given[:size]) if n not in places]},
            trials=trials,
            leaves_out=places,
        )
        for given in (before, after)
    ]
    found = count_excluded(runs[0], runs[1], "close", outputs_of(runs[1], sorted(left_out)))
    assert found.number == len(left_out)
    assert counted(exclude_cases(scorer_of(*runs), found)) == counted(scorer_of(*rest))


def test_it_is_counted_once_for_the_same_outputs(
    version: DatasetVersion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    baseline, candidate = (run_with(version, {"close": [score] * CASES}) for score in (0.2, 0.9))
    own, other = outputs_of(candidate, [1, 2]), outputs_of(baseline, [3])
    with django_assert_num_queries(1):
        first = count_excluded(baseline, candidate, "close", [*own, *other])
    with django_assert_num_queries(0):
        assert count_excluded(baseline, candidate, "close", [*other, *own]) == first
        assert count_excluded(baseline, candidate, "close", []) == NOTHING_EXCLUDED
    assert (first.number, first.improved, first.regressed) == (3, 3, 0)
    with django_assert_num_queries(1):
        assert count_excluded(baseline, candidate, "close", own).number == 2
    assert count_excluded(baseline, candidate, "other", own) == NOTHING_EXCLUDED


def test_scores_of_one_run_alone_are_in_no_chart(version: DatasetVersion) -> None:
    baseline = run_with(version, {"close": [0.5] * CASES})
    candidate = run_with(version, {"close": ["error", *[0.5] * (CASES - 1)]})
    found = count_excluded(baseline, candidate, "close", outputs_of(candidate, [1, 2]))
    assert (found.number, found.improved, found.regressed) == (1, 0, 0)
