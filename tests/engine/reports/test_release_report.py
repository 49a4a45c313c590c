"""The release report: what it holds, and that the HTML shows nothing else."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from html import unescape

import pytest
from django.utils import timezone

from scoring.engine.reports.release_report import (
    build_release_report,
    render_release_report,
    report_file,
    report_json,
)
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import (
    CaseDecision,
    CaseDecisionState,
    Output,
    ReleaseDecision,
    ReleaseState,
    Review,
    ReviewVerdict,
    Run,
    Suite,
    User,
)
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.html import Reader
from tests.support.waived_runs import waive

pytestmark = pytest.mark.django_db
KEYS = "abcdefghij"


@pytest.fixture
def runs(make_dataset: MakeDataset, alice: User) -> tuple[Run, Run]:
    """a and b broke, a is waived and b accepted; the suite's threshold was raised."""
    version = make_dataset([{"key": key, "tags": ["odd"]} for key in KEYS])
    old = run_with(version, {"close": [1.0] * 10, "tone": [0.75] * 10}, name="w45")
    new = run_with(version, {"close": [0, 0, *[1.0] * 8], "tone": [0.5] * 10}, name="w46")
    scorer = new.scorers.get(name="close").version.scorer
    suite = Suite.objects.define(new.team, "release", [(scorer, 0.5)])
    suite.entries.get().change_threshold(0.6, by=alice, reason="Stricter.")
    Run.objects.filter(pk=new.pk).update(suite=suite, suite_name="release", suite_revision=2)
    waive(new, "a", "close", alice)
    output = Output.objects.get(output_set=new.output_set, case__key="b")
    accepted = CaseDecisionState.ACCEPTED
    CaseDecision.objects.decide((old, new), [output.pk], accepted, by=alice, reason="Right.")
    Review.objects.record(new, output, ReviewVerdict.PASS, by=alice)
    new.refresh_from_db()
    approved = ReleaseState.APPROVED
    ReleaseDecision.objects.decide(new, approved, "Good enough.", {}, baseline=old, by=alice)
    return old, new


def test_it_holds_what_a_decision_rests_on(runs: tuple[Run, Run]) -> None:
    old, new = runs
    found = json.loads(report_json(build_release_report(new, old, Review.objects.of_run(new))))
    assert (found["run"]["name"], found["baseline"]["name"]) == ("w46", "w45")
    assert found["dataset"]["version"] == 1
    assert found["suite"]["name"] == "release"
    assert [scorer["threshold"] for scorer in found["suite"]["scorers"]] == [0.5, 0.5]
    (change,) = [each for each in found["threshold_history"] if each["reason"]]
    assert (change["old"], change["new"], change["reason"]) == (0.5, 0.6, "Stricter.")
    assert (found["result"]["broke"], found["result"]["pairs"]) == (2, 10)
    assert found["states"] == {"open": 0, "accepted": 1, "rejected": 0, "waived": 1}
    assert [waiver["key"] for waiver in found["waivers"]] == ["a"]
    assert [each["key"] for each in found["decisions"]] == ["b"]
    assert found["reviews"] == {"verdicts": {"pass": 1}, "reviewers": 1}
    assert [each["state"] for each in found["release"]] == ["approved"]
    assert "Broken cases that are waived and still fail: 1." in found["risk"]
    assert found["rows"]["key"] == list(KEYS)


def test_the_page_shows_it_and_loads_nothing(runs: tuple[Run, Run]) -> None:
    old, new = runs
    report = build_release_report(new, old, Review.objects.of_run(new), now=timezone.now())
    text = render_release_report(report)
    said = " ".join(Reader(text.partition("<template")[0]).text.split())
    for part in (
        "Approved by",
        "Good enough.",
        "Stricter.",
        "0 open, 1 accepted, 0 rejected, 1 waived",
        "Known bug 12.",
        "1 pass by 1 reviewer.",
        report["rows_sha256"],
    ):
        assert part in said, part
    assert "<script" not in text
    assert "default-src 'none'" in unescape(text)
    files = [report_file(new, report, "html"), report_file(new, report, "json")]
    assert [file.name.rpartition(".")[2] for file in files] == ["html", "json"]
    assert [file.content for file in files] == [text.encode(), report_json(report)]


def test_an_expired_waiver_no_longer_counts(runs: tuple[Run, Run]) -> None:
    old, new = runs
    later = timezone.now() + timedelta(days=30)
    report = build_release_report(new, old, Review.objects.of_run(new), now=later)
    assert report["states"] == {"open": 1, "accepted": 1, "rejected": 0, "waived": 0}
    assert "Broken cases that are open: 1." in report["risk"]


def test_hostile_texts_stay_texts(runs: tuple[Run, Run], alice: User) -> None:
    old, new = runs
    hostile = "</template><script>alert(1)</script>"
    rejected = ReleaseState.REJECTED
    ReleaseDecision.objects.decide(new, rejected, hostile, {}, baseline=old, by=alice)
    text = render_release_report(build_release_report(new, old, Review.objects.of_run(new)))
    assert "<script" not in text
    assert text.count("</template>") == 1


def test_later_labels_of_both_runs_are_told(runs: tuple[Run, Run], alice: User) -> None:
    old, new = runs
    build = partial(build_release_report, new, old, Review.objects.none())
    before = build()
    assert (before["run"]["relabel"], before["baseline"]["relabel"]) == (None, None)
    assert "re-labelled" not in Reader(render_release_report(before)).text
    relabel_run(new, by=alice)
    after = build()
    assert after["run"]["relabel"]["thresholds"] == {"close": 0.6}
    assert after["run"]["relabel"]["verdicts"]["pass"] == 8
    assert after["baseline"]["relabel"] is None
    assert after["result"] == before["result"]
    text = " ".join(Reader(render_release_report(after)).text.split())
    said = "re-labelled with close 0.6 (8 pass, 2 fail, 0 error, 0 skipped)"
    assert f"{said}; all figures here use the verdicts as scored" in text
