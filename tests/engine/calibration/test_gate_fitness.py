"""Stamps of scorers: earned by a random sample, bound to what was stamped, and told by gates."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command

from scoring.core.stats.gate_fitness import Fitness
from scoring.engine.calibration.gate_fitness import (
    StampedScorer,
    describe_stamp,
    give_stamp,
    measure_fitness,
    stamped_scorers,
)
from scoring.engine.calibration.scorers import ScorerCalibration, calibrate_run
from scoring.engine.compare.gates import GateLimits, check_gates, find_scorers, parse_gate
from scoring.engine.reports.run_summary import Report, as_json, as_table, write_junit
from scoring.models import (
    AuditEntry,
    DatasetVersion,
    FailureTag,
    Review,
    ReviewVerdict,
    Run,
    RunScorer,
    Team,
    User,
)
from tests.support.datasets import published_version
from tests.support.finished_runs import run_with
from tests.support.reviewed_runs import draw_sample, give, outputs_of

PASS, FAIL = ReviewVerdict.PASS, ReviewVerdict.FAIL
pytestmark = pytest.mark.django_db
CASES = 60


@pytest.fixture
def version(team: Team) -> DatasetVersion:
    return published_version(team, [{"input": f"q{n}"} for n in range(CASES)], "Stamped")


@pytest.fixture
def run(version: DatasetVersion) -> Run:
    """Every other output passes by both scorers; the second one also passes three more."""
    close = [float(n % 2) for n in range(CASES)]
    lenient = [1.0 if n < 6 else score for n, score in enumerate(close)]
    return run_with(version, {"close": close, "lenient": lenient})


def review_all(run: Run, person: User, wrong: int = 0) -> None:
    """As the first scorer has it, but for the last so many outputs; all of them are drawn."""
    outputs = outputs_of(run)
    draw_sample(outputs)
    turned = set(outputs[-wrong:]) if wrong else set()
    verdicts = {
        output: PASS if (number % 2 == 1) != (output in turned) else FAIL
        for number, output in enumerate(outputs)
    }
    give(person, verdicts)


def calibration_of(run: Run, name: str = "close") -> ScorerCalibration:
    found = calibrate_run(run, run.scorers.with_summary()).scorers
    return next(each for each in found if each.scorer.name == name)


def run_over_next_version(team: Team) -> Run:
    later = published_version(team, [{"input": f"q{n}"} for n in range(CASES)], "Stamped")
    return run_with(later, {"close": [1.0] * CASES})


def stamp_of(run: Run, name: str = "close") -> StampedScorer:
    return stamped_scorers(run, [name])[0]


def test_a_stamp_says_what_the_figures_allow(run: Run, alice: User) -> None:
    assert stamp_of(run).text == "not stamped"
    review_all(run, alice)
    stamp = give_stamp(calibration_of(run), 0.6, by=alice)
    assert (stamp.fitness, stamp.labels, stamp.missed) == (Fitness.GATING, CASES, 0)
    assert stamp_of(run).is_fit
    assert stamp_of(run).text == "gating"
    entry = AuditEntry.objects.get(action="scorer.stamped")
    assert entry.new["fitness"] == "gating"
    assert give_stamp(calibration_of(run, "lenient"), 0.95, by=alice).fitness == Fitness.TREND
    assert [each.text for each in stamped_scorers(run)] == ["gating", "trend"]


def test_labels_that_were_not_drawn_at_random_do_not_count(run: Run, alice: User) -> None:
    outputs = outputs_of(run)
    give(alice, {output: PASS if n % 2 else FAIL for n, output in enumerate(outputs)})
    figures = measure_fitness(calibration_of(run))
    assert (figures.labels, figures.fitness) == (0, Fitness.EXPLORING)


def test_a_severe_failure_that_it_passes_keeps_a_scorer_from_gating(
    run: Run, team: Team, alice: User
) -> None:
    review_all(run, alice)
    FailureTag.objects.create(team=team, name="harm", is_severe=True)
    FailureTag.objects.create(team=team, name="tone")
    first, second, third = outputs_of(run)[:3]
    Review.objects.filter(output=first).update(failure_tags=["harm"])
    Review.objects.filter(output=second).update(failure_tags=["tone"])
    assert measure_fitness(calibration_of(run)).missed == 0
    assert measure_fitness(calibration_of(run, "lenient")).missed == 1
    Review.objects.filter(output=third).update(failure_tags=["tone", "harm"])
    assert measure_fitness(calibration_of(run, "lenient")).missed == 2
    assert measure_fitness(calibration_of(run, "lenient")).fitness == Fitness.TREND


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model": "b", "rubric": "r"}, ["another judge model"]),
        ({"model": "a", "rubric": "s"}, ["another rubric"]),
        ({"model": "b", "rubric": "s"}, ["another judge model", "another rubric"]),
        ({"model": "a", "rubric": "r", "n": 2}, ["version 2 of the scorer, not 1"]),
    ],
)
def test_another_version_makes_it_stale_and_says_what_changed(
    run: Run, alice: User, config: dict[str, object], said: list[str]
) -> None:
    scorer = run.scorers.get(name="close")
    type(scorer.version).objects.filter(pk=scorer.version_id).update(
        config={"model": "a", "rubric": "r"}
    )
    review_all(run, alice)
    give_stamp(calibration_of(run), 0.6, by=alice)
    later = scorer.version.scorer.versions.create(
        number=2, type=scorer.version.type, config=config, fingerprint="x"
    )
    RunScorer.objects.filter(pk=scorer.pk).update(version=later)
    found = stamp_of(run)
    assert found.changes == said
    assert found.is_stale
    assert not found.is_fit
    assert found.text == f"gating, stale: {', '.join(said)}"
    assert describe_stamp(found) == {
        "scorer": "close",
        "fitness": "gating",
        "is_fit": False,
        "changes": said,
    }


def test_another_dataset_version_or_threshold_makes_it_stale(
    run: Run, team: Team, alice: User
) -> None:
    review_all(run, alice)
    give_stamp(calibration_of(run), 0.6, by=alice)
    again = run_over_next_version(team)
    assert stamp_of(again).changes == ["version 2 of the dataset, not 1"]
    RunScorer.objects.filter(run=run, name="close").update(threshold=0.9)
    assert stamp_of(run).changes[0].startswith("threshold 0.9, not ")


def test_a_stamp_of_what_the_run_has_counts_before_later_ones(
    run: Run, team: Team, alice: User
) -> None:
    review_all(run, alice)
    give_stamp(calibration_of(run), 0.6, by=alice)
    again = run_over_next_version(team)
    give_stamp(calibration_of(again), 0.6, by=alice)
    assert stamp_of(run).text == "gating"
    assert stamp_of(again).text == "exploring"


def test_gates_say_it_of_the_scorers_they_rest_on(run: Run, alice: User) -> None:
    review_all(run, alice)
    wanted = [parse_gate("mean.close>=0.4")]
    check = check_gates(run, None, wanted, GateLimits())
    assert "fit to gate" not in as_table(Report(*check))
    give_stamp(calibration_of(run), 0.6, by=alice)
    assert "fit to gate: close: gating\n" in as_table(Report(*check))
    whole = check_gates(run, None, [parse_gate("pass_rate>=0"), *wanted], GateLimits())
    assert find_scorers(whole.outcomes) is None
    assert "fit to gate: close: gating; lenient: not stamped\n" in as_table(Report(*whole))
    junit = StringIO()
    write_junit(Report(*whole), junit)
    assert '<property name="stamps" value="fit to gate: close: gating;' in junit.getvalue()
    stamps = as_json(Report(*whole))["stamps"]
    assert [(each["scorer"], each["is_fit"]) for each in stamps] == [
        *(("close", True), ("lenient", False))
    ]


def test_the_command_that_compares_says_it_too(
    run: Run, version: DatasetVersion, alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    later = run_with(version, {"close": [1.0] * CASES, "lenient": [1.0] * CASES}, name="later")
    review_all(run, alice)
    give_stamp(calibration_of(run), 0.6, by=alice)
    call_command("compare", run.name, later.name, "--gate", "pass_rate>=0")
    assert "fit to gate: close: gating; lenient: not stamped" in capsys.readouterr().out
    call_command("compare", run.name, later.name, "--gate", "pass_rate>=0", "--json")
    (compared,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert [each["is_fit"] for each in compared["stamps"]] == [True, False]
