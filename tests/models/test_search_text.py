"""Cases, outputs and pairs are found whatever the case and the form of the letters."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from scoring.models import Case, Output, Run, User
from scoring.models.bulk import bulk_insert
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.selection import MAX_POSITIONS
from scoring.models.case_list.table import CaseTable
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairFilters, PairKind
from scoring.models.runs.run import text_condition
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.paths import ROOT

pytestmark = pytest.mark.django_db

INPUTS = ["Wo liegt ÜBERLINGEN?", "cafe\u0301", "caf\u00e9", {"ort": 'Größe "L"'}, "plain cafe"]
OUTPUTS = [
    "Am Bodensee, Überlingen",
    '{"city": "M\\u00fcnchen"}',
    '{"city":"München"}',
    "50%_\\ ÄÖ",
    "PLAIN",
]
SEARCHES = [
    ("überlingen", [1]),
    ("ÜBERLINGEN", [1]),
    ("caf\u00e9", [2, 3]),
    ("CAFE\u0301", [2, 3]),
    ("cafe", [5]),
    ("münchen", [2, 3]),
    ("M\\u00fcnchen", [2, 3]),
    ("GRÖSSE", [4]),
    ('größe "l', [4]),
    ("%_\\ äö", [4]),
    ("%", [4]),
    ("plain", [5]),
    ('"', [2, 3, 4]),
    ("ö_", []),
    ("\x1f", []),
]


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    version = make_dataset([{"input": value} for value in INPUTS])
    run = run_with(version, {"close": [1] * len(INPUTS)})
    for output, text in zip(run.output_set.outputs.order_by("pk"), OUTPUTS, strict=True):
        output.text = text
        output.save()
    return run


@pytest.mark.parametrize(("text", "positions"), SEARCHES)
def test_outputs_and_cases_are_found(run: Run, text: str, positions: list[int]) -> None:
    outputs = Output.objects.matching(text).values_list("case__position", flat=True)
    cases = Case.objects.matching(text).values_list("position", flat=True)
    assert sorted({*outputs, *cases}) == positions


@pytest.mark.parametrize("few", [0, MAX_POSITIONS])
@pytest.mark.parametrize(("text", "positions"), SEARCHES)
def test_a_run_s_list_finds_them(
    run: Run, text: str, positions: list[int], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.models.case_list.selection.MAX_POSITIONS", few)
    rows = CaseTable(run, list(run.scorers.all()), CaseFilters(text=text)).page().rows
    assert [row.place.position for row in rows] == positions


@pytest.mark.parametrize("few", [0, MAX_POSITIONS])
@pytest.mark.parametrize(("text", "positions"), SEARCHES)
def test_a_comparison_finds_them(
    run: Run, text: str, positions: list[int], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.models.pairs.search.MAX_POSITIONS", few)
    other = run_with(run.output_set.version, {"close": [1] * len(INPUTS)}, name="w47")
    for old, new in ((run, other), (other, run)):
        rows = Pairs(old, new).page(PairKind.UNCHANGED, PairFilters(text=text)).rows
        assert [row.place.position for row in rows] == positions


def test_what_is_inserted_in_bulk_is_found(make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "k1"}])
    columns = (
        "version_id",
        "position",
        "key",
        "input_json",
        *("references_json",),
        "metadata_json",
    )
    rows: list[tuple[Any, ...]] = [(version.pk, 2, "Ü", '"x"', "[]", "{}")]
    bulk_insert(Case, (*columns, "tags_json"), [(*row, "[]") for row in rows])
    assert list(Case.objects.matching("ü").values_list("key", flat=True)) == ["Ü"]


def test_the_migration_makes_the_copies_that_saving_makes(run: Run) -> None:
    def copies() -> list[list[tuple[Any, ...]]]:
        rows = (model._default_manager.order_by("pk") for model in (Case, Output))
        return [list(each.values_list("pk", "search_text")) for each in rows]

    wanted = copies()
    assert any(copy for rows in wanted for _, copy in rows)
    for model in (Case, Output):
        model._default_manager.update(search_text=None)
    import_module("scoring.migrations.0006_search_text").fill(apps, None)
    assert copies() == wanted


@pytest.mark.parametrize(
    ("text", "is_same"),
    [("jörg@x.org", True), ("JöRG@X.ORG", True), ("jÖrg@x.org", False), ("j", False)],
)
def test_texts_are_the_same_but_for_the_case_of_ascii_letters(
    db: None, text: str, is_same: bool
) -> None:
    User.objects.create_user("Jörg@x.org")
    assert User.objects.filter(email__same=text).exists() == is_same


@pytest.fixture
def trigrams(db: None) -> None:
    (statements,) = re.findall(
        r"```sql\n(.*?)```", (ROOT / "docs/postgresql.md").read_text(), re.DOTALL
    )
    with connection.cursor() as cursor:
        cursor.execute(statements.replace("CONCURRENTLY ", ""))
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")


@pytest.mark.postgresql
def test_searches_take_the_indexes_that_the_documentation_names(trigrams: None, run: Run) -> None:
    found = Case.objects.matching("über"), Output.objects.filter(text_condition("über"))
    for rows, index in zip(found, ("case_trigrams", "output_trigrams"), strict=True):
        plan = rows.explain()
        assert index in plan
        assert "Seq Scan" not in plan
    assert [rows.count() for rows in found] == [1, 1]
