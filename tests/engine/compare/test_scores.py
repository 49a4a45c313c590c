"""A scorer's flips are those of its stored verdicts, in figures, lists and the command."""

from __future__ import annotations

import json
from io import StringIO
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.engine.compare.columns import CaseScores, MatchedCases, RunOutputs
from scoring.engine.compare.comparison import compare_runs, compute_figures
from scoring.engine.compare.figures import ScorerFigures
from scoring.engine.compare.scores import PairedScores
from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.runs import planning
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Dataset, DatasetVersion, Run, Score, Scorer, Team, Verdict
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairFilters, PairKind
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.finished_runs import run_with
from tests.support.thoroughness import examples

pytestmark = pytest.mark.django_db


def listed(baseline: Run, candidate: Run, kind: PairKind, scorer: str) -> list[str]:
    """The keys in the list of a scorer's flips."""
    page = Pairs(baseline, candidate).page(kind, PairFilters(scorer=scorer))
    return [pair.key for pair in page.rows]


def scored_by(
    kind: str, threshold: float, *runs: tuple[DatasetVersion, list[str]], outputs: MakeOutputs,
    **config: Any,
) -> list[Run]:  # fmt: skip
    """The runs, scored by one scorer as a worker would."""
    made = []
    for version, answers in runs:
        team = version.dataset.team
        known = Scorer.objects.filter(team=team, name="judge").first()
        scorer = known or Scorer.objects.define(team, "judge", kind, config, threshold)
        run = planning.create_run(
            outputs(version, answers), scorers=[(scorer, threshold)], name="w"
        )
        run_to_end(run, InlineExecutor())
        made.append(run)
    return made


def only(found: tuple[ScorerFigures, ...]) -> ScorerFigures:
    (scorer,) = found
    return scorer


@pytest.mark.parametrize("negate", [False, True])
def test_a_case_that_lost_its_expected_breaks_at_threshold_0(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, negate: bool
) -> None:
    """Its score is 0 in both runs or falls to it, and 0 ≥ 0; but without an expected output it
    fails whatever the threshold.
    """
    full = make_dataset([{"key": key, "expected": "yes"} for key in "ab"])
    bare = make_dataset([{"key": "a", "expected": "yes"}, {"key": "b"}])
    runs = scored_by(
        "exact_match", 0.0, (full, ["no", "no"]), (bare, ["no", "no"]),
        outputs=make_outputs, negate=negate,
    )  # fmt: skip
    figures = compute_figures(*runs)
    scorer = only(figures.scorers)
    assert (scorer.flips.n, scorer.flips.broke, scorer.flips.fixed) == (2, 1, 0)
    assert (figures.broke, figures.fixed) == (1, 0)
    assert listed(*runs, PairKind.BROKE, "judge") == ["b"]
    back = only(compute_figures(*reversed(runs)).scorers)
    assert (back.flips.broke, back.flips.fixed) == (0, 1)
    assert scorer.delta == (-0.5 if negate else 0.0)


def test_an_output_that_cannot_be_read_fails_at_threshold_0(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    version = make_dataset([{"expected": {"a": 1}}])
    runs = scored_by(
        "json_match", 0.0, (version, ['{"a": 2}']), (version, ["{"]), outputs=make_outputs
    )
    scorer = only(compute_figures(*runs).scorers)
    assert (scorer.delta, scorer.flips.broke) == (0.0, 1)
    assert len(listed(*runs, PairKind.BROKE, "judge")) == 1


def test_command_and_figures_tell_the_same_flips(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    full, bare = make_dataset([{"key": "a", "expected": "yes"}]), make_dataset([{"key": "a"}])
    old, new = scored_by("exact_match", 0.0, (full, ["no"]), (bare, ["no"]), outputs=make_outputs)
    out = StringIO()
    call_command("compare", str(old.uuid), str(new.uuid), "--json", stdout=out)
    (told,) = json.loads(out.getvalue())["comparisons"]
    assert told["scorers"][0]["flips"]["broke"] == told["broke"] == 1
    assert compare_runs(old, new).figures["scorers"][0]["flips"]["broke"] == 1


VERDICTS = st.lists(
    st.tuples(st.sampled_from(list(Verdict)[:2]), st.sampled_from(list(Verdict)[:2])),
    min_size=1,
    max_size=8,
)


@settings(
    max_examples=examples(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(VERDICTS)
def test_flips_are_those_of_the_lists_whatever_the_scores(
    team: Team, make_dataset: MakeDataset, verdicts: list[tuple[Verdict, Verdict]]
) -> None:
    """Verdicts given later, by another threshold than the run's, say nothing the scores would."""
    Run.objects.filter(team=team).delete()
    Dataset.objects.filter(team=team).delete()
    version = make_dataset([{} for _ in verdicts])
    runs = [run_with(version, {"close": [0.5] * len(verdicts)}) for _ in "xy"]
    for side, run in enumerate(runs):
        scores = Score.objects.filter(scorer__run=run).order_by("output")
        for score, given_verdicts in zip(scores, verdicts, strict=True):
            score.verdict = given_verdicts[side]
            score.save()
    flips = only(compute_figures(*runs).scorers).flips
    assert flips.broke == len(listed(*runs, PairKind.BROKE, "close"))
    assert flips.fixed == len(listed(*runs, PairKind.FIXED, "close"))
    assert flips.broke == verdicts.count((Verdict.PASS, Verdict.FAIL))
    assert flips.fixed == verdicts.count((Verdict.FAIL, Verdict.PASS))


def test_flipped_cases_are_told_by_their_positions() -> None:
    index = np.arange(4)
    outputs = RunOutputs(index, index)
    pairs = MatchedCases((outputs, outputs), (index, index), index + 5, index * 0)
    sides = [
        CaseScores(scores, scores > 0.5, (scores > 0.5).astype(float))
        for scores in (np.array([0.9, 0.9, 0.1, 0.1]), np.array([0.8, 0.2, 0.7, 0.3]))
    ]
    scores = PairedScores(pairs, index, *sides)
    assert scores.flipped(Verdict.FAIL).tolist() == [6]
    assert scores.flipped(Verdict.PASS).tolist() == [7]


GIVEN = st.sampled_from([0, 0.2, 0.5, 0.7, 1, "error", "skip"])


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data(), st.sampled_from([(1, 1), (3, 1), (2, 3)]))
def test_figures_and_lists_of_any_trials_are_those_by_hand(
    team: Team, make_dataset: MakeDataset, data: st.DataObject, trials: tuple[int, int]
) -> None:
    """Each case by the mean of its trials, in each run by as many as it has there."""
    Run.objects.filter(team=team).delete()
    Dataset.objects.filter(team=team).delete()
    version = make_dataset([{"key": key} for key in "abcd"])
    given = [data.draw(st.lists(GIVEN, min_size=4 * n, max_size=4 * n)) for n in trials]
    runs = [
        run_with(version, {"close": scores}, trials=n)
        for scores, n in zip(given, trials, strict=True)
    ]
    means: list[dict[str, float | None]] = []
    for scores, n in zip(given, trials, strict=True):
        parts = [[s for s in scores[i * n : i * n + n] if not isinstance(s, str)] for i in range(4)]
        means.append({k: fmean(p) if p else None for k, p in zip("abcd", parts, strict=True)})
    both = [(means[0][key], means[1][key], key) for key in "abcd"]
    scored = [(old, new, key) for old, new, key in both if old is not None and new is not None]
    broke = [key for old, new, key in scored if old >= 0.5 > new]
    fixed = [key for old, new, key in scored if new >= 0.5 > old]
    baseline, candidate = runs
    figures = compute_figures(baseline, candidate)
    scorer = only(figures.scorers)
    assert (scorer.n, scorer.flips.broke, scorer.flips.fixed) == (
        len(scored),
        *map(len, (broke, fixed)),
    )
    assert (figures.broke, figures.fixed) == (len(broke), len(fixed))
    for name in ("close", ""):
        assert listed(baseline, candidate, PairKind.BROKE, name) == broke
        assert listed(baseline, candidate, PairKind.FIXED, name) == fixed
    if scored:
        wanted = [fmean(side[n] for side in scored) for n in (0, 1)]
        assert scorer.means == pytest.approx(wanted)
        assert scorer.delta == pytest.approx(wanted[1] - wanted[0])
