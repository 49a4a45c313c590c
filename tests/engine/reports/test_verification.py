"""Release reports verified: sound ones pass, any changed figure, row or page is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring.engine.reports.release_report import (
    build_release_report,
    render_release_report,
    report_json,
)
from scoring.engine.reports.verification import UnreadableReportError, verify_file
from scoring.models import Review, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db


@pytest.fixture
def report(make_dataset: MakeDataset, alice: User) -> dict[str, Any]:
    version = make_dataset([{"key": f"q{n}", "tags": ["all"]} for n in range(12)])
    old = run_with(version, {"close": [0.9] * 12})
    new = run_with(version, {"close": [0.1, 0.2, 0.3, *[0.95] * 9]})
    waive(new, "q0", "close", alice)
    return build_release_report(new, old, Review.objects.of_run(new))


def faults_of(path: Path, text: bytes | str) -> list[str]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return verify_file(path).faults


def test_a_sound_report_passes(tmp_path: Path, report: dict[str, Any]) -> None:
    assert faults_of(tmp_path / "r.json", report_json(report)) == []
    assert faults_of(tmp_path / "r.html", render_release_report(report)) == []
    found = verify_file(tmp_path / "r.html")
    assert found.rows == 12
    assert found.figures > 20


def set_value(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        inner: Any = report
        for part in path[:-1]:
            inner = inner[part]
        assert inner[path[-1]] != to
        inner[path[-1]] = to

    return change


CHANGES = [
    (set_value("result", "broke", to=2), "result.broke is 2"),
    (set_value("result", "scorers", 0, "delta", to=0.1), "result.scorers[1].delta is 0.1"),
    (set_value("result", "scorers", 0, "interval", 0, to=0.0), "result.scorers[1].interval[1]"),
    (set_value("result", "scorers", 0, "p_corrected", to=0.9), "result.scorers[1].p_corrected"),
    (set_value("result", "scorers", 0, "flips", "broke", to=0), "flips.broke is 0"),
    (set_value("result", "slices", 0, "n", to=11), "result.slices[1].n is 11"),
    (set_value("result", "slices", to=[]), "result.slices (count) is 0"),
    (set_value("states", "open", to=0), "states.open is 0"),
    (set_value("waivers", to=[]), "states.waived is 1 in the report and 0"),
    (set_value("risk", to=[]), "risk (count) is 0"),
    (set_value("rows", "scorers", "close", "candidate", 0, to=0.9), "rows_sha256"),
    (set_value("rows", "candidate", 0, to=0), "result.broke is 3 in the report and 2"),
]


def test_what_was_changed_is_named(tmp_path: Path, report: dict[str, Any]) -> None:
    unnamed = {}
    for change, said in CHANGES:
        kept = json.loads(report_json(report))
        change(kept)
        faults = faults_of(tmp_path / "r.json", json.dumps(kept))
        if not any(said in fault for fault in faults):
            unnamed[said] = faults
    assert unnamed == {}


def test_a_page_that_shows_other_figures_is_noticed(tmp_path: Path, report: dict[str, Any]) -> None:
    text = render_release_report(report)
    assert "3 broke" in text
    faults = faults_of(tmp_path / "r.html", text.replace("3 broke", "0 broke"))
    assert faults == ["the page does not show what its data say"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("[]", "not a release report"),
        ('{"format": "evalsite release report", "version": 99}', "it has the version 99"),
        ("<html></html>", "carries no data"),
        ('<template id="release-data">AAAA</template>', "cannot be unpacked"),
        ('{"format": "evalsite release report", "version": 1}', "another shape"),
        ('{"format": "evalsite release report", "version": 1, "rows": 3}', "another shape"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UnreadableReportError, match=said):
        faults_of(tmp_path / "r.json", text)


def test_an_older_report_is_verified_where_its_cases_have_one_trial(
    tmp_path: Path, report: dict[str, Any]
) -> None:
    report["version"] = 1
    assert faults_of(tmp_path / "r.json", report_json(report)) == []
    report["rows"]["key"][1] = report["rows"]["key"][0]
    with pytest.raises(UnreadableReportError, match="it counts each trial of a case"):
        faults_of(tmp_path / "r.json", report_json(report))
