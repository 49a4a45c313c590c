"""The demo tells its story: regressions, repaired and not, and the same outputs on every load."""

from __future__ import annotations

import sys

import pytest

from scoring.engine.demo import DEMO_SLUG
from scoring.engine.demo.extraction import EXTRACTION
from scoring.engine.demo.load import create_demo, score_demo_runs
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.reviews import OWN_CASES
from scoring.engine.demo.story import REGRESSION, WEEKS, DemoDataset
from scoring.engine.demo.support import SUPPORT
from scoring.engine.drift.broken_cases import latest_regressions
from scoring.engine.drift.series_status import series_statuses
from scoring.models import (
    AuditEntry,
    Dataset,
    Member,
    Review,
    ReviewQueue,
    Role,
    Run,
    RunScorer,
    RunState,
    Team,
    User,
)
from tests.engine.demo.conftest import NOW

STORIES = [SUPPORT, EXTRACTION, QUESTIONS]


def runs_of(name: str) -> list[Run]:
    """The dataset's runs, oldest first."""
    runs = Run.objects.filter(output_set__version__dataset__name=name)
    return list(runs.order_by("output_set__dated"))


def test_there_are_three_datasets_with_twelve_finished_runs_each(loaded: Team) -> None:
    assert {d.name for d in Dataset.objects.filter(team=loaded)} == {s.name for s in STORIES}
    for story in STORIES:
        runs = runs_of(story.name)
        assert len(runs) == WEEKS
        assert {run.state for run in runs} == {RunState.FINISHED}


def test_the_latest_runs_are_those_of_the_last_week(loaded: Team) -> None:
    runs = Run.objects.filter(team=loaded).for_list()
    dates = [run.output_set.dated for run in runs]
    assert dates == sorted(dates, reverse=True)
    assert {run.output_set.version.dataset.name for run in runs[:3]} == {s.name for s in STORIES}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.series)
def test_only_the_bad_weeks_are_bad(loaded: Team, story: DemoDataset) -> None:
    shares = [(run.pass_count or 0) / (run.case_count or 0) for run in runs_of(story.name)]
    bad = [shares[week] for week in story.bad_weeks]
    good = [share for week, share in enumerate(shares) if week not in story.bad_weeks]
    assert max(bad) <= min(good) - 0.08
    assert min(good) > 0.7


def test_prompts_change_where_things_break_and_where_they_are_repaired() -> None:
    changes = {story.series: [story.prompt(week) for week in range(WEEKS)] for story in STORIES}
    repaired = ["v5"] * 4 + ["v6"] * 3 + ["v7"] * 2 + ["v8"] * 3
    assert changes == {
        "support-bot": repaired,
        "extractor": ["v5"] * 4 + ["v6"] * 7 + ["v7"],
        "answerer": repaired,
    }


def test_once_scored_the_regression_is_known_without_a_look(loaded: Team) -> None:
    """No page was opened: the command, or the worker after `start`, has measured the series."""
    score_demo_runs(loaded)
    found = series_statuses(loaded)
    broken, *rest = latest_regressions(found)
    assert (broken.standing.dataset_name, broken.pairs) == ("Invoice extraction", 60)
    assert broken.broke >= 10
    assert all(each.broke <= 3 for each in rest)
    assert [each.dataset_name for each in found if each.is_drifting] == ["Invoice extraction"]


def test_no_other_scorer_than_the_judge_ends_in_errors(loaded: Team) -> None:
    for scorer in RunScorer.objects.filter(run__team=loaded).select_related("summary", "version"):
        if scorer.version.type != "llm_judge":
            assert (scorer.summary.errors, scorer.summary.skipped) == (0, 0)
            assert scorer.summary.scored == scorer.summary.n > 0


def test_loading_again_changes_nothing(loaded: Team) -> None:
    before = Run.objects.count(), AuditEntry.objects.count()
    assert create_demo(NOW) == loaded
    assert (Run.objects.count(), AuditEntry.objects.count()) == before


def test_a_load_that_fails_leaves_nothing(db: None) -> None:
    seen = []

    def fail_later() -> None:
        seen.append(1)
        if len(seen) == 3:
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        create_demo(NOW, on_run=fail_later)
    assert (Team.objects.count(), Run.objects.count(), Dataset.objects.count()) == (0, 0, 0)
    assert not User.objects.exists()


@pytest.mark.slow
def test_who_loads_it_has_a_queue_of_their_own(
    db: None, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    team = create_demo(NOW, admins=[alice], by=alice)
    (queue,) = ReviewQueue.objects.waiting_for(alice).filter(team=team)
    assert queue.own_open == OWN_CASES


def test_without_scoring_the_runs_wait_for_the_worker(db: None, alice: User) -> None:
    team = create_demo(NOW, admins=[alice], by=alice, scores=False)
    assert Review.objects.exists()
    assert set(Run.objects.filter(team=team).values_list("state", flat=True)) == {RunState.QUEUED}
    assert Member.objects.get(team=team, user=alice).role == Role.ADMIN


def test_a_team_that_has_the_address_is_left_alone(charlie: User) -> None:
    ours = Team.objects.create(name="Demonstrations", slug=DEMO_SLUG)
    assert create_demo(NOW, admins=[charlie]) == ours
    assert not Member.objects.filter(team=ours).exists()
    assert not Run.objects.exists()


def test_the_regression_hits_the_cases_its_story_names(loaded: Team) -> None:
    run = runs_of("Support answers")[REGRESSION[0]]
    failed = run.verdicts.filter(verdict=1).values_list("output__case__tags_json", flat=True)
    billing = sum("billing" in tags for tags in failed)
    assert billing > len(failed) / 2
