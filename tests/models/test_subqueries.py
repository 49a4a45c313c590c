"""Rows counted within a query."""

from __future__ import annotations

from django.db.models import OuterRef

from scoring.models import Case, Dataset
from scoring.models.subqueries import count_rows
from tests.conftest import MakeDataset


def test_rows_are_counted_for_each_row_of_the_query(make_dataset: MakeDataset) -> None:
    for name, count in (("few", 2), ("many", 5)):
        make_dataset([{"key": f"q-{n}"} for n in range(count)], name=name)
    Dataset.objects.create(team=Dataset.objects.get(name="few").team, name="empty")
    cases = Case.objects.filter(version__dataset=OuterRef("pk"))
    counted = Dataset.objects.annotate(case_count=count_rows(cases)).order_by("name")
    counts = dict(counted.values_list("name", "case_count"))
    assert counts == {"empty": 0, "few": 2, "many": 5}


def test_the_order_of_the_rows_does_not_matter(make_dataset: MakeDataset) -> None:
    version = make_dataset([{}, {}])
    cases = Case.objects.filter(version=version).order_by("key", "position")
    assert Dataset.objects.values_list(count_rows(cases), flat=True).get() == 2
