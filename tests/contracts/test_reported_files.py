"""The files of what users of comparable tools reported, through import and the pages."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from evalsite.rendering.safe_html import render_markdown
from scoring.core.configured import configure_scorer
from scoring.core.contract import Case as ScoredCase
from scoring.models import Case, Output
from tests.support.html import Reader

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("team")]


@pytest.fixture
def reports(facts: Path) -> Path:
    return facts / "data" / "reports"


def said_of(path: Path, *words: str) -> str:
    """What the import of the file prints."""
    out = StringIO()
    call_command("import", str(path), "--dataset", path.stem, *words, stdout=out)
    return out.getvalue()


def test_formatted_cells_are_named_and_read_as_shown(reports: Path) -> None:
    path = reports / "excel-formatted-cells.xlsx"
    said = said_of(path, "--dry-run")
    assert "C3 “50%” as 0.5, C5 “01234” as 1234, C6 “12/31/2024” as 2024-12-31" in said
    said_of(path, "--as-shown")
    expected = {case.key: case.expected for case in Case.objects.all()}
    shown = {"pct": "50%", "pct2": "7%", "zip": "01234", "date": "12/31/2024", "time": "14:30"}
    shown |= {"money": "$1,234.50", "frac": "1/4", "textnum": "007"}
    assert expected | shown == expected


def test_rows_without_a_label_have_none(reports: Path) -> None:
    said = said_of(reports / "blank-expected-cells.csv")
    assert "3 of 4 cases have no expected output" in said
    includes = configure_scorer("includes")
    for case in Case.objects.filter(expected_json=None):
        (result,) = includes.score([ScoredCase(case.outputs.get().text)])
        assert result.code == "expected_missing"


def test_python_s_lists_and_prose_are_read_as_meant(reports: Path) -> None:
    assert "tags: up to 2 a case" in said_of(reports / "python-lists-in-csv-cells.csv")
    (case,) = Case.objects.all()
    assert (case.tags, case.references) == (["geo", "easy"], ["Paris", "Paris, France"])
    assert json.loads(case.expected) == {"city": "Paris", "ok": True, "zip": None}
    said_of(reports / "references-that-are-prose.csv")
    prose = Case.objects.get(input_json__contains="router")
    assert prose.references == ["Hold the button for ten seconds; do not let go early."]


@pytest.mark.parametrize(
    ("name", "text", "keys"),
    [
        ("search-non-ascii-letters", "überlingen", {"u1"}),
        ("search-non-ascii-letters", "ÜBERLINGEN", {"u1"}),
        ("search-non-ascii-letters", "caf\u00e9", {"u2"}),
        ("search-non-ascii-letters", "cafe\u0301", {"u2"}),
        ("json-output-with-u-escapes", "München", {"escaped", "plain"}),
        ("json-output-with-u-escapes", "MÜNCHEN", {"escaped", "plain"}),
    ],
)
def test_searches_find_what_people_look_for(
    reports: Path, name: str, text: str, keys: set[str]
) -> None:
    said_of(reports / f"{name}.jsonl")
    cases = Case.objects.matching(text).values_list("key", flat=True)
    outputs = Output.objects.matching(text).values_list("case__key", flat=True)
    assert {*cases, *outputs} == keys


def test_formulas_stay_as_they_are(reports: Path) -> None:
    said_of(reports / "latex-in-a-markdown-output.jsonl")
    text = Output.objects.get().text
    assert text is not None
    html = render_markdown(text)
    shown = Reader(html).text
    assert "<em>" not in html
    for formula in (r"\(x_1 = 2\)", r"\[ a_{1}*b + c*d_{2} \]", "$a_1*b_2*c$"):
        assert formula in shown
