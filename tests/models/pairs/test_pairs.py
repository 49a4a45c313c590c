"""Pairs of runs against counting in plain Python over the same cases."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.models import Case, CaseVerdict, Dataset, Output, Run, Score, Status, Team, Verdict
from scoring.models.case_list.change_filter import CHANGE_KINDS
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairFilters, PairKind, RunSide
from scoring.models.pairs.sql import UNJUDGED
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.run_pairs import (
    ERROR,
    FAIL,
    PASS,
    VERDICTS,
    Made,
    Side,
    expected,
    stored,
    walked,
)
from tests.support.thoroughness import examples
from tests.support.undone import undone

pytestmark = pytest.mark.django_db


def check(old: Side, new: Side) -> None:
    """Counts, lists and matches are those of plain counting."""
    pairs, wanted = Pairs(old.run, new.run), expected(old, new)
    counts = pairs.counts()
    for kind, of_kind in wanted.items():
        assert getattr(counts, kind.value) == len(of_kind), kind
        assert [(p.key, p.place.trial) for p in pairs.page(kind, size=100).rows] == of_kind, kind
    for kind in CHANGE_KINDS:
        found = pairs.first_positions(kind, 100)
        assert sorted(found) == [new.told[key].place.position for key, _ in wanted[kind]], kind
    both = old.told.keys() & new.told.keys()
    assert counts.pairs == len(both)
    verdicts = [(old.told[one].verdict, new.told[one].verdict) for one in both]
    assert counts.judged == sum(max(each) <= FAIL for each in verdicts)
    found = list(pairs.matches())
    assert [(m.position, m.trial) for m in found] == sorted(new.told[one].place for one in both)
    assert Counter((m.baseline_verdict, m.verdict) for m in found) == Counter(verdicts)


KEYS = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=6)


@st.composite
def runs(draw: st.DrawFn, keys: list[str] | None = None) -> Made:
    keys = draw(KEYS) if keys is None else keys
    cases = [
        {"key": key, "input": draw(st.sampled_from(["q", "r"])), **draw(EXPECTED)} for key in keys
    ]
    trials = range(draw(st.sampled_from([1, 2, 3])))
    places = [(key, trial) for key, trial in product(keys, trials) if draw(st.integers(0, 4))]
    return Made(cases, {place: draw(st.sampled_from(VERDICTS)) for place in places})


EXPECTED = st.sampled_from([{}, {"expected": "a"}, {"expected": None}])
DRAWN = settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def emptied(team: Team) -> None:
    """Each example begins without a dataset."""
    Run.objects.filter(team=team).delete()
    CaseVerdict.objects.all().delete()
    Dataset.objects.filter(team=team).delete()


@DRAWN
@given(runs(), st.data())
def test_runs_over_one_version_are_counted_as_by_hand(
    team: Team, make_dataset: MakeDataset, old: Made, data: st.DataObject
) -> None:
    emptied(team)
    new = data.draw(runs(keys=[case["key"] for case in old.cases]))
    version = make_dataset(old.cases)
    check(stored(team, version, old.verdicts), stored(team, version, new.verdicts))


@DRAWN
@given(runs(), runs())
def test_runs_over_two_versions_are_matched_by_key(
    team: Team, make_dataset: MakeDataset, old: Made, new: Made
) -> None:
    """Cases move, are edited, removed and added between the versions."""
    emptied(team)
    sides = [stored(team, make_dataset(made.cases), made.verdicts) for made in (old, new)]
    check(*sides)
    check(*reversed(sides))


@pytest.mark.parametrize("filters", [PairFilters(), PairFilters(tag="odd"), PairFilters(text="3")])
def test_pages_walk_all_that_passes_the_filters(
    pair: tuple[Side, Side], filters: PairFilters, subtests: pytest.Subtests
) -> None:
    for kind, ones in expected(*pair).items():
        wanted = [
            (key, trial)
            for key, trial in ones
            if (not filters.tag or int(key[1:]) % 2) and (filters.text in key or not filters.text)
        ]
        with subtests.test(kind=kind):
            found = walked(Pairs(pair[0].run, pair[1].run), kind, filters, 3)
            assert [(row.key, row.place.trial) for row in found] == wanted


def test_a_text_is_looked_for_in_the_outputs_too(pair: tuple[Side, Side]) -> None:
    """Outputs end with their trial; those of further trials are looked through as well."""
    trial = max(pair[0].run.verdicts.values_list("trial", flat=True))
    text = PairFilters(text=f"5 {trial}")
    found = list(walked(Pairs(pair[0].run, pair[1].run), PairKind.UNCHANGED, text, 50))
    wanted = [one for one in expected(*pair)[PairKind.UNCHANGED] if one[0][-1] == "5"]
    assert wanted
    assert [(row.key, row.place.trial) for row in found] == wanted


def test_a_scorers_own_verdicts_may_decide(
    pair: tuple[Side, Side], subtests: pytest.Subtests
) -> None:
    """The only scorer says what the case verdict says, so the lists are the same."""
    for kind in [kind for kind in PairKind if "only" not in kind]:
        with subtests.test(kind=kind), undone():
            pairs = Pairs(pair[0].run, pair[1].run)
            by_case = pairs.page(kind, size=100).rows
            assert pairs.page(kind, PairFilters(scorer="close"), size=100).rows == by_case
            assert pairs.page(kind, PairFilters(scorer="no such"), size=100).rows == (
                by_case if kind in (PairKind.EDITED, PairKind.PAIRS) else []
            )


def test_a_scorer_that_says_otherwise_is_listened_to(pair: tuple[Side, Side]) -> None:
    pairs = Pairs(pair[0].run, pair[1].run)
    (row, *_) = pairs.page(PairKind.UNCHANGED).rows
    assert row.baseline
    assert row.candidate
    for half, verdict in ((row.baseline, PASS), (row.candidate, FAIL)):
        Score.objects.filter(output__case=Output.objects.get(pk=half.output).case_id).filter(
            output__output_set=Output.objects.get(pk=half.output).output_set_id
        ).update(verdict=verdict, score=1.0 - verdict, status=Status.SCORED)
    found = pairs.page(PairKind.BROKE, PairFilters(scorer="close"), size=100).rows
    assert row.place in [each.place for each in found]
    assert row.place not in [each.place for each in pairs.page(PairKind.BROKE, size=100).rows]


def test_a_scorer_fails_a_case_of_which_no_trial_passes_it(
    team: Team, make_dataset: MakeDataset
) -> None:
    """Whatever the mean, as some answers fail at any threshold."""
    version = make_dataset([{"key": key} for key in "ab"])
    once = run_with(version, {"close": [1, 1]})
    twice = run_with(version, {"close": [0.5, 0.6, 0.5, 0.6]}, trials=2)
    Score.objects.filter(scorer__run=twice, output__case__key="a").update(verdict=FAIL)
    pairs = Pairs(once, twice)
    found = pairs.page(PairKind.BROKE, PairFilters(scorer="close")).rows
    assert [row.key for row in found] == ["a"]
    assert pairs.verdicts_of("close") == {(PASS, FAIL): 1, (PASS, PASS): 1}


def test_a_row_names_both_outputs_and_places(pair: tuple[Side, Side]) -> None:
    old, new = pair
    for row in Pairs(old.run, new.run).page(PairKind.FIXED, size=100).rows:
        assert (row.baseline, row.candidate) == tuple(_half(side, row.key) for side in pair)
    for row in Pairs(old.run, new.run).page(PairKind.ONLY_BASELINE, size=100).rows:
        assert (row.candidate, row.place) == (None, old.told[row.key].place)


def _half(side: Side, key: str) -> RunSide:
    told = side.told[key]
    output = Output.objects.get(
        output_set=side.run.output_set, case__key=key, trial=told.place.trial
    )
    return RunSide(output.pk, told.place, Verdict(told.verdict))


def test_a_page_takes_the_same_queries_whatever_its_size(
    pair: tuple[Side, Side], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[PairFilters, int]] = [
        (PairFilters(), 1),
        (PairFilters(scorer="close"), 1),
        (PairFilters(tag="odd"), 2),
        (PairFilters(text="3"), 4),
        (PairFilters(tag="odd", text="3"), 2),
    ]
    for filters, queries in cases:
        with subtests.test(filters=filters, queries=queries), undone():
            pairs = Pairs(pair[0].run, pair[1].run)
            for size in (1, 50):
                with CaptureQueriesContext(connection) as captured:
                    assert pairs.page(PairKind.UNCHANGED, filters, size=size).rows
                assert len(captured) == queries


def test_matches_are_read_in_chunks(
    pair: tuple[Side, Side], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = Pairs(pair[0].run, pair[1].run)
    at_once = list(pairs.matches())
    monkeypatch.setattr("scoring.models.pairs.pairs.CHUNK", 7)
    assert list(pairs.matches()) == at_once


def test_nothing_is_looked_for_where_nothing_can_be_unclear(
    team: Team, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": "a"}])
    old, new = (stored(team, version, {("a", 0): verdict}) for verdict in (PASS, FAIL))
    pairs = Pairs(old.run, new.run)
    with CaptureQueriesContext(connection) as queries:
        assert [pairs.page(kind).rows for kind in UNJUDGED] == [[], []]
        assert [pairs.first_positions(kind, 9) for kind in UNJUDGED] == [[], []]
    assert [query["sql"] for query in queries] == []
    for side, found in ((new, [1, 0]), (old, [0, 1])):
        Run.objects.filter(pk=side.run.pk).update(error_count=1)
        CaseVerdict.objects.filter(run=side.run).update(verdict=ERROR)
        side.run.refresh_from_db()
        assert [len(pairs.page(kind).rows) for kind in UNJUDGED] == found


@pytest.mark.sqlite
@pytest.mark.parametrize("kind", [PairKind.UNCHANGED, PairKind.PAIRS])
def test_what_most_pairs_are_is_walked_and_not_sorted(
    pair: tuple[Side, Side], kind: PairKind
) -> None:
    pairs = Pairs(pair[0].run, pair[1].run)
    with CaptureQueriesContext(connection) as queries:
        pairs.page(kind, size=3)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[-1]['sql']}")
        assert not [step for *_, step in cursor.fetchall() if "ORDER BY" in step]


def test_a_run_equals_itself_where_it_was_judged(pair: tuple[Side, Side]) -> None:
    check(pair[0], pair[0])
    counts = Pairs(pair[0].run, pair[0].run).counts()
    verdicts = [told.verdict for told in pair[0].told.values()]
    assert counts.unchanged == sum(verdict <= FAIL for verdict in verdicts)
    assert counts.judged_in_neither == sum(verdict > FAIL for verdict in verdicts) > 0
    assert counts.unchanged + counts.judged_in_neither == counts.pairs


def test_positions_of_another_dataset_are_no_match(team: Team, make_dataset: MakeDataset) -> None:
    """Two versions share keys only within their rows: a key that is nowhere else has no partner."""
    old = stored(team, make_dataset([{"key": "a"}]), {("a", 0): PASS})
    new = stored(team, make_dataset([{"key": "b"}]), {("b", 0): FAIL})
    assert Pairs(old.run, new.run).counts()[:4] == (0, 0, 0, 0)
    assert Case.objects.filter(position=1).count() == 2
