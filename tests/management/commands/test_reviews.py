"""`manage.py reviews` imports and exports the reviews of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoring.models import AuditEntry, Review, Run
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.commands import call
from tests.support.run_states import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    return finished_run(make_outputs(make_dataset([{"expected": "a"}] * 2), ["a", "b"]))


def file_of(tmp_path: Path, *lines: str) -> str:
    path = tmp_path / "reviews.csv"
    path.write_text("".join(f"{line}\n" for line in ("key,reviewer,verdict", *lines)))
    return str(path)


def test_a_file_is_imported_and_exported_again(run: Run, tmp_path: Path) -> None:
    path = file_of(tmp_path, "case-1,Jo,pass", "case-2,,0", "case-9,Mo,1")
    code, text = call("reviews", "import", path, "--run", "w46", "--reviewer", "Jo")
    assert code == 0, text
    assert text.splitlines() == [
        "3 reviews: 2 new, 0 changed, 0 unchanged.",
        "",
        "1 review unmatched: the run has no such output",
        "line  key     trial  reviewer",
        "4     case-9  0      Mo",
    ]
    assert AuditEntry.objects.get(action="reviews.imported").actor_name == "the operator"
    code, text = call("reviews", "export", str(run.uuid))
    assert code == 0
    *lines, last = text.splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["pass", "fail"]
    assert last == '{"_rows": 2}'
    out = tmp_path / "out.csv"
    assert call("reviews", "export", "w46", "--format", "csv", "--output", str(out)) == (0, "")
    code, text = call("reviews", "import", str(out), "--run", "w46", "--json")
    assert json.loads(text)["unchanged"] == 2


def test_a_dry_run_says_what_is_found(run: Run, tmp_path: Path) -> None:
    path = file_of(tmp_path, "case-1,Jo,pass")
    code, text = call("reviews", "import", path, "--run", "w46", "--dry-run")
    assert (code, text.strip()) == (
        0,
        "1 review: 1 new, 0 changed, 0 unchanged; nothing was stored.",
    )
    assert not Review.objects.exists()


def test_a_bad_row_refuses_the_file(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of(tmp_path, "case-1,Jo,pass", "case-2,Jo,maybe")
    code, text = call("reviews", "import", path, "--run", "w46")
    assert (code, text) == (2, f"{path}: nothing was imported.")
    assert "3     verdict  unknown_verdict  “maybe” is no verdict." in capsys.readouterr().err
    assert not Review.objects.exists()


def test_an_unknown_run_and_an_unreadable_file_are_errors_of_usage(
    run: Run, tmp_path: Path
) -> None:
    assert call("reviews", "export", "w99")[0] == 2
    code, text = call("reviews", "import", str(tmp_path / "none.csv"), "--run", "w46")
    assert code == 2
    assert "cannot be read" in text
