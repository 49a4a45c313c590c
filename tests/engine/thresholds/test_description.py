from __future__ import annotations

import pytest

from scoring.engine.thresholds.description import (
    describe_flips,
    describe_preview,
    describe_thresholds,
)
from scoring.engine.thresholds.preview import Preview
from scoring.models import ReviewVerdict, User
from tests.conftest import MakeDataset
from tests.support.reviewed_runs import give_in_turn
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


def test_thresholds_and_changes_are_described(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.8]})
    entry_of().change_threshold(0.7, by=None, reason="Too lenient.")
    described = describe_thresholds(entry_of().suite)
    (entry,) = described["entries"]
    assert (entry["name"], entry["threshold"]) == ("close", 0.7)
    assert [(r["run"], r["pass_rate"]) for r in entry["runs"]] == [(str(run.uuid), 0.5)]
    assert [change["reason"] for change in described["changes"]] == ["Too lenient."]


def test_a_preview_is_described_with_its_flips(make_dataset: MakeDataset) -> None:
    suite_run(make_dataset([{}] * 2), {"close": [0.6, 0.8]})
    preview = Preview.of(entry_of(), 0.7)
    assert preview.latest
    described = describe_preview(preview, preview.latest)
    assert (described["threshold"], described["new_threshold"]) == (0.5, 0.7)
    assert described["case_verdicts"] == 1
    assert describe_flips(preview.latest.flips.page().cases) == [
        {"key": "case-1", "trial": 0, "score": 0.6, "changes_case": True}
    ]


def test_a_preview_is_described_with_peoples_agreement(
    make_dataset: MakeDataset, alice: User
) -> None:
    run = suite_run(make_dataset([{}] * 4), {"close": [0.2, 0.6, 0.7, 0.9]})
    preview = Preview.of(entry_of(), 0.65)
    assert describe_preview(preview, preview.latest)["agreement"] is None
    give_in_turn(run, alice, [ReviewVerdict.FAIL] * 2 + [ReviewVerdict.PASS] * 2)
    agreement = describe_preview(preview, preview.latest)["agreement"]
    assert (agreement["labels"], agreement["runs"]) == (4, 1)
    assert agreement["current"]["kappa"]["value"] == 0.5
    assert agreement["new"]["kappa"]["value"] == 1.0
    assert (agreement["new"]["precision"], agreement["new"]["recall"]) == (1.0, 1.0)
    assert agreement["best_threshold"]["threshold"] == 0.7
