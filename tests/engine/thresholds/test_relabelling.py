from __future__ import annotations

from random import Random
from typing import Any

import pytest

from scoring.core.contract import forced_fail
from scoring.engine.runs import planning
from scoring.engine.runs.follow_up import follow_up
from scoring.engine.runs.summaries import summarize_run
from scoring.engine.thresholds.relabelling import (
    NothingToRelabelError,
    find_new_thresholds,
    find_runs_to_relabel,
    needs_relabel,
    relabel_run,
    relabel_runs,
    remove_labels,
)
from scoring.models import (
    AuditEntry,
    CaseVerdict,
    Relabel,
    Run,
    Score,
    Status,
    Suite,
    Team,
    User,
    Verdict,
)
from tests.conftest import MakeDataset
from tests.support.fixtures.runs import MakeRun, MakeScorer, finish
from tests.support.fixtures.spy import Spy
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


def stored(run: Run) -> list[Any]:
    """Everything that scoring wrote."""
    scores = Score.objects.filter(scorer__run=run).order_by("pk").values()
    return [*scores, *CaseVerdict.objects.filter(run=run).order_by("pk").values()]


def scores_of(run: Run) -> dict[int, list[tuple[str, Score]]]:
    """By output, each with its scorer's name."""
    by_output: dict[int, list[tuple[str, Score]]] = {}
    for score in Score.objects.filter(scorer__run=run).select_related("scorer"):
        by_output.setdefault(score.output_id, []).append((score.scorer.name, score))
    return by_output


def test_labels_are_those_of_a_run_scored_with_the_new_thresholds(
    team: Team, make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    random = Random(5)
    spy.answers["forced"] = forced_fail("invalid_json", "not JSON")
    words = ["error", "skip", "forced", "0", "1", *(str(n / 9) for n in range(10))]
    outputs = [random.choice(words) for _ in range(60)]
    scorer, other = make_scorer("spy", threshold=0.5), make_scorer("exact_match", "other")
    expected = [random.choice([output, "else", ...]) for output in outputs]
    first = make_run(outputs, scorer, other, expected=expected)
    finish(first)
    suite = Suite.objects.define(team, "release", [(scorer, 0.5), (other, None)])
    Run.objects.filter(pk=first.pk).update(suite=suite, suite_name="release")
    first.refresh_from_db()
    before = stored(first)
    for new in [0.0, 1.0, 4 / 9, *(random.random() for _ in range(3))]:
        suite.entries.get(scorer=scorer).change_threshold(new, by=None, reason="x")
        again = planning.create_run(
            first.output_set, scorers=[(scorer, new), (other, 1.0)], name="again"
        )
        finish(again)
        again.refresh_from_db()
        relabel = relabel_run(first, by=None)
        assert relabel.verdict_counts == again.verdict_counts
        assert relabel.passed == {"spy": again.scorers.get(name="spy").summary.passed}
        verdicts = dict(CaseVerdict.objects.filter(run=again).values_list("output", "verdict"))
        later = {output: relabel.case_verdict(s) for output, s in scores_of(first).items()}
        assert later == verdicts
        for output, scores in scores_of(again).items():
            wanted = {name: score.verdict for name, score in scores}
            own = scores_of(first)[output]
            assert {name: relabel.verdict_of(name, score) for name, score in own} == wanted
        assert stored(first) == before


def test_a_relabel_is_audited_and_the_latest_counts(make_dataset: MakeDataset, alice: User) -> None:
    run = suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.8, "error"]})
    for new in (0.7, 0.9):
        entry_of().change_threshold(new, by=None, reason="x")
        relabel = relabel_run(run, by=alice)
    assert run.relabels.first() == relabel
    assert (relabel.text, relabel.passed) == ("close 0.9", {"close": 0})
    assert relabel.verdict_counts == {"pass": 0, "fail": 2, "error": 1, "skipped": 0}
    latest, first = AuditEntry.objects.filter(action="run.relabelled")
    assert (first.old, first.new) == ({"thresholds": {}}, {"thresholds": {"close": 0.7}})
    assert (latest.old, latest.actor_id) == ({"thresholds": {"close": 0.7}}, str(alice.pk))


def test_labels_that_would_not_change_are_refused(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}]), {"close": [0.6]})
    assert find_new_thresholds(run) == {}
    with pytest.raises(NothingToRelabelError, match="no other thresholds"):
        relabel_run(run, by=None)
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(run, by=None)
    with pytest.raises(NothingToRelabelError, match="no other thresholds"):
        relabel_run(run, by=None)
    entry_of().change_threshold(0.5, by=None, reason="x")
    with pytest.raises(NothingToRelabelError, match="remove the labels"):
        relabel_run(run, by=None)
    assert Relabel.objects.count() == 1


def test_only_a_finished_run_is_relabelled(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}]), {"close": [0.6]})
    Run.objects.filter(pk=run.pk).update(state="running")  # since the page was shown
    with pytest.raises(NothingToRelabelError, match="finished"):
        relabel_run(run, by=None)


def test_labels_count_anew_once_errors_are_retried(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.8, "error"]})
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel = relabel_run(run, by=None)
    assert relabel.verdict_counts == {"pass": 1, "fail": 1, "error": 1, "skipped": 0}
    Score.objects.filter(score=None).update(score=0.9, status=Status.SCORED, verdict=Verdict.PASS)
    CaseVerdict.objects.filter(verdict=Verdict.ERROR).update(verdict=Verdict.PASS)
    summarize_run(run)
    follow_up([run])
    relabel.refresh_from_db()
    assert relabel.verdict_counts == {"pass": 2, "fail": 1, "error": 0, "skipped": 0}
    assert relabel.passed == {"close": 2}


def test_labels_are_removed_once(make_dataset: MakeDataset) -> None:
    run = suite_run(make_dataset([{}]), {"close": [0.6]})
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(run, by=None)
    assert remove_labels(run, by=None)
    assert not remove_labels(run, by=None)
    assert not run.relabels.exists()
    assert AuditEntry.objects.filter(action="run.labels_removed").count() == 1


def test_the_last_runs_of_a_suite_are_relabelled_at_once(
    make_dataset: MakeDataset, alice: User
) -> None:
    version = make_dataset([{}] * 2)
    names = ("w44", "w45", "w46", "w47")
    runs = [suite_run(version, {"close": [0.6, 0.8]}, name=name) for name in names]
    suite = entry_of().suite
    assert find_runs_to_relabel(suite) == []
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(runs[2], by=None)
    Run.objects.filter(pk=runs[1].pk).update(state="cancelled")
    assert [run.name for run in find_runs_to_relabel(suite)] == ["w47", "w44"]
    assert [run.name for run in find_runs_to_relabel(suite, 2)] == ["w47"]
    assert [needs_relabel(run) for run in runs] == [True, True, False, True]
    done: list[int] = []
    counts = relabel_runs(find_runs_to_relabel(suite), by=alice, report=done.append)
    assert (counts, done) == ((2, 0), [1, 2])
    assert find_runs_to_relabel(suite) == []
    assert AuditEntry.objects.filter(action="run.relabelled", actor_id=alice.pk).count() == 2


def test_labels_are_removed_where_the_thresholds_are_those_of_the_runs_again(
    make_dataset: MakeDataset,
) -> None:
    version = make_dataset([{}])
    first, second = (suite_run(version, {"close": [0.6]}, name=name) for name in ("w45", "w46"))
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(first, by=None)
    entry_of().change_threshold(0.5, by=None, reason="x")
    assert find_runs_to_relabel(entry_of().suite) == [first]
    assert relabel_runs([second, first], by=None) == (0, 1)
    assert not Relabel.objects.exists()


def test_finding_the_runs_costs_the_same_for_any_number(
    make_dataset: MakeDataset, django_assert_num_queries: Any
) -> None:
    version = make_dataset([{}])
    for number in range(3):
        suite_run(version, {"close": [0.6], "same": [1]}, name=f"w{number}")
    entry_of().change_threshold(0.7, by=None, reason="x")
    suite = entry_of().suite
    with django_assert_num_queries(4):
        assert len(find_runs_to_relabel(suite, 1)) == 1
    with django_assert_num_queries(4):
        assert len(find_runs_to_relabel(suite)) == 3


def test_a_case_with_several_trials_is_labelled_once_by_their_mean(
    make_dataset: MakeDataset,
) -> None:
    scores = [0.4, 0.8, 0.6, 0.6, 0.2, 0.2, "error", 1.0, "error", "error"]
    run = suite_run(make_dataset([{}] * 5), {"close": scores}, trials=2)
    entry_of().change_threshold(0.55, by=None, reason="x")
    relabel = relabel_run(run, by=None)
    assert relabel.passed == {"close": 3}
    assert relabel.verdict_counts == {"pass": 3, "fail": 1, "error": 1, "skipped": 0}
