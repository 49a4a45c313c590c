"""Few cases are found at once: by each thing asked, and with what is kept of a tag read along."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from scoring.engine.tag_places import keep_tag_places
from scoring.models import DatasetVersion, Run, TagPlaces
from scoring.models import case_filters as filtering
from scoring.models.case_filters import CaseFilters
from scoring.models.case_table import CaseOrder, CaseTable
from scoring.models.few_cases import Query, positions_of
from scoring.models.tag_places import TaggedPlaces
from tests.conftest import MakeDataset, MakeOutputs
from tests.scored import finished_run

FAILS = "SELECT abs(-9223372036854775808) AS position"  # an overflow, once it is asked


def numbers(first: int, last: int) -> Query:
    sql = """
        WITH RECURSIVE counted(position) AS
        (SELECT %(first)s UNION ALL SELECT position + 1 FROM counted WHERE position < %(last)s)
        SELECT position FROM counted
    """
    return sql, {"first": first, "last": last}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ([], []),
        ([[]], [[]]),
        ([[numbers(1, 3)]], [[1, 2, 3]]),
        ([[numbers(1, 2), numbers(7, 8)], [numbers(4, 4)]], [[1, 2, 7, 8], [4]]),
        ([[], [numbers(1, 9)]], [[], [1, 2, 3, 4, 5]]),
        ([[numbers(1, 3), numbers(6, 9)]], [[1, 2, 3, 6, 7]]),
    ],
)
def test_positions_are_those_of_all_queries_of_a_filter_cut_beyond_the_most(
    filters: list[list[Query]], found: list[list[int]]
) -> None:
    assert positions_of(filters, most=4) == found


@pytest.mark.django_db
def test_once_so_many_are_found_no_other_query_of_the_filter_is_asked() -> None:
    assert positions_of([[numbers(1, 9), (FAILS, {})]], most=4) == [[1, 2, 3, 4, 5]]
    with pytest.raises(OperationalError, match="overflow"):
        positions_of([[numbers(1, 4), (FAILS, {})]], most=4)


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    tags = [["billing"], ["billing", "tone"], ["billing"], ["tone"]]
    return make_dataset([{"key": f"q-{n}", "tags": each} for n, each in enumerate(tags)])


@pytest.mark.parametrize("has_looked", [False, True])
@pytest.mark.parametrize("tag", ["billing", "tone", "nowhere", "", "a\0b", "x" * 201])
def test_what_is_kept_of_a_tag_is_the_same_read_along_with_something_else(
    version: DatasetVersion, tag: str, has_looked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.engine.tag_places.FEW", 2)
    if has_looked:
        keep_tag_places(version)
    columns = TagPlaces.objects.beside(version.pk, tag)
    row = DatasetVersion.objects.annotate(**columns).values_list(*columns or ["pk"]).get()
    read = TaggedPlaces.read(*row) if columns else TaggedPlaces(None, is_known=False)
    assert read == TagPlaces.objects.of(version.pk, tag)


def test_beyond_a_place_where_the_tag_stands_is_read_along_with_it(
    version: DatasetVersion, make_outputs: MakeOutputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filtering, "FEW", 0)
    keep_tag_places(version)
    run = finished_run(make_outputs(version, ["yes"] * 4), ("same", "exact_match", {}))
    first, *others = _table(run).page().rows
    table = _table(run)
    with CaptureQueriesContext(connection) as captured:
        (second,) = table.page(after=first.place, size=1).rows
    assert second.key == others[0].key
    # The place with the tag, who is few, the walk, the texts and the scores.
    assert len(captured) == 5


def _table(run: Run) -> CaseTable:
    scorers = list(run.scorers.all())
    asked = CaseFilters(tag="billing", reviewed=False, text="q")
    return CaseTable(run, scorers, asked, CaseOrder(scorers[0]), has_one_each=True)
