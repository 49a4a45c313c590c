"""The tests of what a change touches are found by imports and by the names of templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.touched import touched

FILES = {
    "scoring/core/sums.py": "",
    "scoring/engine/totals.py": "from scoring.core.sums import add",
    "scoring/engine/unused.py": "",
    "evalsite/pages/lists/views.py": 'from scoring.engine import totals\npage = "lists/page.html"',
    "evalsite/pages/lists/forms.py": "",
    "templates/lists/page.html": "{% include 'lists/_row.html' %}",
    "templates/lists/_row.html": "",
    "tests/browser/test_lists.py": "",
    "tests/conftest.py": "",
    "tests/support/builders.py": "",
    "tests/support/more_builders.py": "from tests.support.builders import build",
    "tests/core/test_sums.py": "import scoring.core.sums",
    "tests/engine/test_totals.py": "from tests.support import builders",
    "tests/engine/test_odd.py": "from scoring.core import sums",
    "tests/pages/lists/conftest.py": "",
    "tests/pages/lists/test_views.py": "",
    "tests/pages/lists/test_rows.py": "from tests.support.more_builders import build",
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_of_a_module_its_own_and_those_of_its_importers(house: Path) -> None:
    assert touched(house, ["scoring/core/sums.py"]) == [
        "tests/core/test_sums.py",
        "tests/engine/test_odd.py",
        "tests/engine/test_totals.py",
    ]
    assert touched(house, ["scoring/engine/totals.py"]) == [
        "tests/engine/test_totals.py",
        "tests/pages/lists/test_views.py",
    ]
    assert touched(house, ["scoring/engine/unused.py"]) == []


def test_forms_are_tested_with_the_views_beside_them(house: Path) -> None:
    assert touched(house, ["evalsite/pages/lists/forms.py"]) == ["tests/pages/lists/test_views.py"]


@pytest.mark.parametrize("name", ["page", "_row"])
def test_of_a_template_the_folder_of_whoever_renders_it(house: Path, name: str) -> None:
    assert touched(house, [f"templates/lists/{name}.html"]) == ["tests/pages/lists"]


def test_of_what_tests_share_those_that_use_it(house: Path) -> None:
    assert touched(house, ["tests/support/builders.py"]) == [
        "tests/engine/test_totals.py",
        "tests/pages/lists/test_rows.py",
    ]
    assert touched(house, ["tests/pages/lists/conftest.py"]) == ["tests/pages/lists"]
    assert touched(house, ["tests/conftest.py", "tests/core/test_sums.py"]) == ["tests"]


def test_a_test_file_is_its_own_unless_it_is_gone(house: Path) -> None:
    assert touched(house, ["tests/core/test_sums.py", "tests/core/test_gone.py"]) == [
        "tests/core/test_sums.py"
    ]


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("static/site.css", ["tests/browser"]),
        ("pyproject.toml", ["tests"]),
        ("evalsite/settings.py", ["tests"]),
        ("docs/testing.md", []),
    ],
)
def test_of_anything_else_what_it_could_break(house: Path, changed: str, tests: list[str]) -> None:
    assert touched(house, [changed]) == tests
