"""An exported list comes back as the dataset it was made of, without the scores of its run."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.engine.export import run_table
from scoring.models import Case
from scoring.models.case_list.table import CaseTable
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.fixtures.uploads import Put, check, load

pytestmark = pytest.mark.django_db
CASES: list[dict[str, Any]] = [
    {"key": "q1", "input": "one", "expected": "a", "tags": ["x"], "references": ["b", "c"]},
    {"key": "q2", "input": {"n": 2}, "expected": "b", "metadata": {"lang": "fr"}},
]


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_an_exported_list_is_imported_without_its_scores(
    put: Put, make_dataset: MakeDataset, file_format: str
) -> None:
    run = run_with(make_dataset(CASES), {"close": [1, 0], "same": [0, "error"]})
    before = list(run.output_set.version.cases.values_list("key", "metadata_json", "tags_json"))
    exported = run_table(CaseTable(run, list(run.scorers.with_summary()))).stream(file_format)
    upload = put(b"".join(exported), f"list.{file_format}", dataset_name="again")
    (note,) = check(upload).report["notes"]
    count = 14 if file_format == "csv" else 3
    assert (note["code"], note["count"]) == ("exported_scores", count)
    assert note["message"].startswith(f"{count} columns hold verdicts and scores of an exported")
    version = load(upload).version
    assert version is not None
    cases = Case.objects.filter(version=version)
    assert list(cases.values_list("key", "metadata_json", "tags_json")) == before
    assert version.output_sets.count() == 1
