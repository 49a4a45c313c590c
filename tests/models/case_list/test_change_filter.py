"""The case table by what became of cases, against joining two runs in plain Python."""

from __future__ import annotations

import random
from itertools import product
from statistics import fmean
from typing import Any, Final

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from scoring.engine.compare.comparison import compare_runs
from scoring.engine.runs.summaries import summarize_run
from scoring.models import (
    AuditEntry,
    Case,
    CaseVerdict,
    Output,
    OutputSet,
    OutputSetState,
    Review,
    ReviewVerdict,
    Run,
    RunScorer,
    RunState,
    Score,
    Scorer,
    Status,
    Team,
    User,
    Verdict,
)
from scoring.models.case_list import selection
from scoring.models.case_list.change_filter import CHANGE_KINDS, ChangeFilter
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder, CaseTable
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.pair_index import indexed_list
from scoring.models.pairs.rows import PairKind
from tests.conftest import MakeDataset
from tests.support.undone import undone

CASES: Final = 40


def _cases(numbers: list[int], text: str) -> list[dict[str, Any]]:
    return [
        {"key": f"q-{n}", "input": f"{text} {n % 3}", "tags": [f"tag {n % 2}"]} for n in numbers
    ]


def _run(team: Team, cases: list[Case], seed: int) -> Run:
    """Two trials of most cases. A score of 0, 0.5 or 1 by one scorer."""
    coin = random.Random(seed)
    outputs = OutputSet.objects.create(
        version=cases[0].version, series="a", state=OutputSetState.READY
    )
    run = Run.objects.create(team=team, output_set=outputs, name="w", state=RunState.FINISHED)
    scorer = Scorer.objects.filter(team=team).first() or Scorer.objects.define(
        team, "close", "levenshtein", {}, 0.5
    )
    assert scorer.current
    row = RunScorer.objects.create(run=run, version=scorer.current, name="close", threshold=0.5)
    rows: list[Output | CaseVerdict | Score] = []
    for case in coin.sample(cases, len(cases)):
        for trial in range(coin.choice([1, 2, 2])):
            rows += _outcome(run, row, case, trial, coin)
    for model in (Output, CaseVerdict, Score):
        model.objects.bulk_create(each for each in rows if isinstance(each, model))
    summarize_run(run)
    return run


def _outcome(
    run: Run, scorer: RunScorer, case: Case, trial: int, coin: random.Random
) -> tuple[Output, CaseVerdict, Score]:
    """The rows of one output, not stored yet."""
    output = Output(output_set=run.output_set, case=case, trial=trial, text="said")
    verdict = coin.choice([Verdict.PASS, Verdict.PASS, Verdict.FAIL, Verdict.FAIL, *Verdict])
    told = CaseVerdict(run=run, output=output, position=case.position, trial=trial, verdict=verdict)
    given: dict[str, Any] = {"status": Status.ERROR}
    if verdict <= Verdict.FAIL:
        score = coin.choice([0.5, 1.0]) if verdict == Verdict.PASS else 0.0
        given = {"status": Status.SCORED, "score": score, "verdict": verdict}
    return output, told, Score(scorer=scorer, output=output, **given)


@pytest.fixture(params=["one version", "two versions"])
def pair(request: pytest.FixtureRequest, team: Team, make_dataset: MakeDataset) -> tuple[Run, Run]:
    """A baseline and a run; of two versions the second lacks cases, has new ones, and is mixed."""
    old = make_dataset(_cases(list(range(CASES)), "How"))
    new = old
    if request.param == "two versions":
        new = make_dataset(_cases([*range(CASES + 5, CASES, -1), *range(5, CASES)], "Why"))
    return _run(team, list(old.cases.all()), 1), _run(team, list(new.cases.all()), 2)


def _verdicts(run: Run) -> dict[str, int]:
    """By key those of cases: of the mean of their trials."""
    scores: dict[str, list[float]] = {}
    rows = Score.objects.filter(scorer__run=run).values_list("output__case__key", "score")
    for key, score in rows:
        scores.setdefault(key, []).extend([] if score is None else [score])
    means = {key: fmean(given) if given else None for key, given in scores.items()}
    return {
        key: Verdict.ERROR if mean is None else Verdict.PASS if mean >= 0.5 else Verdict.FAIL
        for key, mean in means.items()
    }


def _kind(before: int, now: int) -> PairKind:
    if min(before, now) > Verdict.FAIL:
        return PairKind.NEITHER
    if max(before, now) > Verdict.FAIL:
        return PairKind.UNCLEAR
    if before == now:
        return PairKind.UNCHANGED
    return PairKind.BROKE if now == Verdict.FAIL else PairKind.FIXED


def _wanted(baseline: Run, run: Run, kind: PairKind) -> list[CaseVerdict]:
    """The rows of first trials, in the run's order."""
    before, now = _verdicts(baseline), _verdicts(run)
    rows = run.verdicts.select_related("output__case").filter(trial=0).order_by("position")
    keys = [(row, row.output.case.key) for row in rows]
    return [row for row, key in keys if key in before and _kind(before[key], now[key]) == kind]


def _places(rows: list[CaseVerdict]) -> list[CasePosition]:
    return [CasePosition(row.position, row.trial) for row in rows]


def test_a_kind_of_change_shows_what_joining_in_python_shows(
    pair: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """Whether cases are walked along or picked first."""
    for kind in CHANGE_KINDS:
        with subtests.test(kind=kind), undone(), monkeypatch.context() as patch:
            baseline, run = pair
            scorers = list(run.scorers.all())
            change, rows = ChangeFilter(kind, baseline), _wanted(baseline, run, kind)
            assert rows
            by_tag = [row for row in rows if "tag 1" in row.output.case.tags]
            by_score = [row for row in rows if row.output.scores.filter(score__gte=0.6).exists()]
            tables = {
                CaseFilters(change=change): rows,
                CaseFilters(change=change, tag="tag 1"): by_tag,
                CaseFilters(change=change, scorer=scorers[0], minimum=0.6): by_score,
            }
            for few, (filters, wanted) in product([0, 2_000], tables.items()):
                patch.setattr(selection, "MAX_POSITIONS", few)
                table = CaseTable(run, scorers, filters)
                assert [row.place for row in table.page(size=200).rows] == _places(wanted)
                assert table.count in {None, len(wanted)}
                sorted_table = CaseTable(run, scorers, filters, CaseOrder(scorers[0]))
                found = [row.place for row in sorted_table.page(size=200).rows]
                assert sorted(found) == sorted(_places(wanted))


def test_a_change_contradicted_by_the_verdict_shows_nothing(
    pair: tuple[Run, Run],
) -> None:
    """But for cases that broke though the output of the first trial passes."""
    baseline, run = pair
    filters = CaseFilters(verdict=Verdict.PASS, change=ChangeFilter(PairKind.BROKE, baseline))
    wanted = [row for row in _wanted(baseline, run, PairKind.BROKE) if row.verdict == Verdict.PASS]
    rows = CaseTable(run, list(run.scorers.all()), filters).page().rows
    assert [row.place for row in rows] == _places(wanted)


def finished_and_compared(pair: tuple[Run, Run]) -> tuple[Run, Run]:
    Run.objects.update(finished_at=timezone.now())
    for each in pair:
        each.refresh_from_db()
    compare_runs(*pair)
    return pair


def test_what_is_kept_of_compared_runs_shows_the_same(
    pair: tuple[Run, Run], subtests: pytest.Subtests
) -> None:
    baseline, run = finished_and_compared(pair)
    for kind in CHANGE_KINDS:
        with subtests.test(kind=kind):
            assert indexed_list(baseline, run, kind).total is not None
            table = CaseTable(
                run, list(run.scorers.all()), CaseFilters(change=ChangeFilter(kind, baseline))
            )
            wanted = _places(_wanted(baseline, run, kind))
            with CaptureQueriesContext(connection) as queries:
                assert [row.place for row in table.page(size=200).rows] == wanted
            assert not any("CROSS JOIN" in query["sql"] for query in queries)


def test_how_many_changed_is_known_of_compared_runs_however_many(
    pair: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline, run = finished_and_compared(pair)
    monkeypatch.setattr(selection, "MAX_POSITIONS", 1)
    scorers = list(run.scorers.all())
    found, wanted, narrowed = {}, {}, {}
    for kind in CHANGE_KINDS:
        change = ChangeFilter(kind, baseline)
        found[kind] = CaseTable(run, scorers, CaseFilters(change=change)).count
        # Most cases are unchanged, and nobody looks for the number.
        is_counted = kind != PairKind.UNCHANGED
        wanted[kind] = len(_wanted(baseline, run, kind)) if is_counted else None
        filters = CaseFilters(change=change, tag="nowhere")
        narrowed[kind] = CaseTable(run, scorers, filters).count
    assert found == wanted
    assert narrowed == dict.fromkeys(CHANGE_KINDS, 0)


def test_a_row_says_what_the_case_was_in_the_run_beside_it(pair: tuple[Run, Run]) -> None:
    baseline, run = pair
    """On the rows of first trials; those of others tell no change."""
    before, now = _verdicts(baseline), _verdicts(run)
    rows = CaseTable(run, list(run.scorers.all()), compared_with=baseline).page(size=200).rows
    assert {row.place.trial for row in rows} == {0, 1}
    for row in rows:
        if row.place.trial:
            assert row.case_verdict is None
        else:
            old = before.get(row.key)
            assert row.earlier == (None if old is None else Verdict(old).label)
            assert row.case_verdict == Verdict(now[row.key]).label


def test_the_neighbours_of_a_case_are_those_of_the_filtered_table(pair: tuple[Run, Run]) -> None:
    baseline, run = pair
    filters = CaseFilters(change=ChangeFilter(PairKind.BROKE, baseline))
    table = CaseTable(run, list(run.scorers.all()), filters)
    wanted = _places(_wanted(baseline, run, PairKind.BROKE))
    assert table.neighbours(wanted[1])[:2] == (wanted[0], wanted[2])


# Reviews.


def test_reviewed_cases_are_those_that_anybody_reviewed(
    pair: tuple[Run, Run],
    alice: User,
    bob: User,
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    cases: list[int] = [0, 2_000]
    for few in cases:
        with subtests.test(few=few), undone(), monkeypatch.context() as patch:
            patch.setattr(selection, "MAX_POSITIONS", few)
            baseline, run = pair
            scorers = list(run.scorers.all())
            every = _places(list(run.verdicts.order_by("position", "trial")))
            for place in every[3:6]:
                for person in (alice, bob):
                    Review.objects.record(run, _output(run, place), ReviewVerdict.PASS, by=person)
            Review.objects.record(
                baseline, _output(baseline, CasePosition(1)), ReviewVerdict.FAIL, by=bob
            )
            for is_reviewed, wanted in ((True, every[3:6]), (False, every[:3] + every[6:])):
                for order in (CaseOrder(), CaseOrder(scorers[0])):
                    table = CaseTable(
                        run, scorers, CaseFilters(reviewed=is_reviewed), order, counts_reviews=True
                    )
                    rows = table.page(size=200).rows
                    assert sorted(row.place for row in rows) == wanted
                    assert {row.reviews for row in rows} == {2 if is_reviewed else 0}


def _output(run: Run, place: CasePosition) -> Output:
    position, trial = place
    return Output.objects.get(output_set=run.output_set, case__position=position, trial=trial)


def test_a_person_has_one_review_of_an_output_and_every_word_is_audited(
    pair: tuple[Run, Run], alice: User
) -> None:
    run = pair[1]
    output = Output.objects.filter(output_set=run.output_set)[0]
    Review.objects.record(run, output, ReviewVerdict.PASS, by=alice)
    review = Review.objects.record(run, output, ReviewVerdict.FAIL, by=alice, note="It is rude.")
    assert list(Review.objects.of_run(run)) == [review]
    assert (review.get_verdict_display(), review.note) == ("fail", "It is rude.")
    last, first = AuditEntry.objects.filter(action="review.said")
    assert (first.old, first.new) == ({}, {"verdict": "pass", "note": ""})
    assert last.old == first.new
    assert last.new == {"verdict": "fail", "note": "It is rude."}
    assert last.actor == alice
