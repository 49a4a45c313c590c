"""Where a pair stands, and which filters make a list whose places may be kept."""

from __future__ import annotations

import pytest

from scoring.core.charts.comparison_charts import ScoreRange
from scoring.models import Verdict
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.rows import Pair, PairFilters, PairKind, RunSide, ScoreRanges

OLD, NEW = (RunSide(n, CasePosition(n), Verdict.PASS) for n in (1, 2))


@pytest.mark.parametrize(
    ("baseline", "candidate", "place"), [(OLD, NEW, NEW), (None, NEW, NEW), (OLD, None, OLD)]
)
def test_a_pair_stands_where_the_candidate_has_it(
    baseline: RunSide | None, candidate: RunSide | None, place: RunSide
) -> None:
    assert Pair("a", baseline, candidate, is_edited=False).place == place.place


@pytest.mark.parametrize(
    ("kind", "ranges"),
    [(PairKind.PAIRS, ScoreRanges(change=ScoreRange(0.1, 0.2))), (PairKind.BROKE, ScoreRanges())],
)
def test_of_filters_a_kept_list_has_the_scorer_and_the_change(
    kind: PairKind, ranges: ScoreRanges
) -> None:
    asked = PairFilters(
        "close",
        "tag",
        "text",
        ScoreRanges(ScoreRange(0, 1), ScoreRange(0, 1), ScoreRange(0.1, 0.2)),
    )
    assert asked.listed(kind) == PairFilters("close", ranges=ranges)
