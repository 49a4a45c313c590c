"""Pairs found by a tag or a text, or among the positions that are known of a list."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models import Output
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import PairFilters, PairKind
from scoring.models.pairs.search import PageWindow, PairPositions
from tests.support.finished_runs import run_with
from tests.support.run_pairs import Side, expected, walked
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

Named = list[tuple[str, int]]  # keys and trials
FILTERS = (
    PairFilters(tag="odd"),
    PairFilters(text="3"),
    PairFilters(tag="odd", text="3"),
    PairFilters(scorer="close", tag="odd"),
)


def passing(pair: tuple[Side, Side], kind: PairKind, filters: PairFilters) -> Named:
    """By hand: the odd cases have the tag, and numbers stand in the keys alone."""
    return [
        (key, trial)
        for key, trial in expected(*pair)[kind]
        if (not filters.tag or int(key[1:]) % 2) and (filters.text in key or not filters.text)
    ]


def lists(pair: tuple[Side, Side]) -> Iterator[tuple[Pairs, PairKind, PairFilters]]:
    for kind in PairKind:
        for filters in FILTERS:
            yield Pairs(pair[0].run, pair[1].run), kind, filters


@pytest.mark.parametrize("few", [0, 10, 10_000])
def test_many_and_few_are_found_alike(
    pair: tuple[Side, Side], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.models.pairs.search.MAX_POSITIONS", few)
    for pairs, kind, filters in lists(pair):
        found = walked(pairs, kind, filters, 3)
        assert [(row.key, row.place.trial) for row in found] == passing(pair, kind, filters)


def test_a_text_of_either_output_is_found(
    pair: tuple[Side, Side], subtests: pytest.Subtests
) -> None:
    cases: list[int] = [0, 1]
    for side in cases:
        with subtests.test(side=side), undone():
            outputs = Output.objects.filter(output_set=pair[side].run.output_set)
            named = list(outputs.order_by("pk").values_list("case__key", "trial"))[::5]
            for key, trial in named:
                outputs.filter(case__key=key, trial=trial).update(text="a zebra")
            keys = {key for key, _ in named}
            pairs, zebra = Pairs(pair[0].run, pair[1].run), PairFilters(text="zebra")
            alone = {PairKind.ONLY_BASELINE: 0, PairKind.ONLY_CANDIDATE: 1}
            for kind in PairKind:
                is_there = alone.get(kind, side) == side
                wanted = [one for one in expected(*pair)[kind] if one[0] in keys and is_there]
                positions = sorted({row.place.position for row in pairs.page(kind, size=500).rows})
                for known in (None, positions):
                    rows = pairs.page(kind, zebra, size=500, positions=known).rows
                    assert [(row.key, row.place.trial) for row in rows] == wanted


def test_a_text_of_another_run_is_not_found(pair: tuple[Side, Side]) -> None:
    """Which is over the same cases, or stands at the same positions."""
    old, new = (side.run for side in pair)
    other = run_with(new.output_set.version, {"close": [1] * new.output_set.version.case_count})
    Output.objects.filter(output_set=other.output_set).update(text="a zebra")
    for kind in PairKind:
        assert Pairs(old, new).page(kind, PairFilters(text="zebra")).rows == []


def test_known_positions_give_the_same_pages(pair: tuple[Side, Side]) -> None:
    pairs = Pairs(pair[0].run, pair[1].run)
    for kind in PairKind:
        rows = pairs.page(kind, size=500).rows
        positions = sorted({row.place.position for row in rows})
        for filters in (PairFilters(), PairFilters(tag="odd")):
            wanted = list(pairs.page(kind, filters, size=500).rows)
            for start, row in enumerate(wanted):
                page = pairs.page(kind, filters, after=row.place, size=2, positions=positions)
                assert list(page.rows) == wanted[start + 1 : start + 3]
                assert page.has_next == (start + 3 < len(wanted))
                back = pairs.page(kind, filters, before=row.place, size=2, positions=positions)
                assert list(back.rows) == wanted[max(0, start - 2) : start]
                around = pairs.neighbours(kind, filters, row.place, positions)
                assert around == pairs.neighbours(kind, filters, row.place)


def test_what_only_the_baseline_has_is_next_to_its_like(sides: tuple[Side, Side]) -> None:
    pairs = Pairs(sides[0].run, sides[1].run)
    rows = pairs.page(PairKind.ONLY_BASELINE, size=500).rows
    assert len(rows) > 2
    places = [row.place for row in rows]
    for before, here, after in zip([None, *places], places, [*places[1:], None], strict=False):
        found = pairs.neighbours(PairKind.ONLY_BASELINE, PairFilters(), here)
        assert found == (before, after)


def test_a_list_known_to_be_empty_asks_nothing(pair: tuple[Side, Side]) -> None:
    pairs = Pairs(pair[0].run, pair[1].run)
    with CaptureQueriesContext(connection) as queries:
        for kind in PairKind:
            assert pairs.page(kind, positions=[]).rows == []
            around = pairs.neighbours(kind, PairFilters(tag="odd"), CasePosition(2), [])
            assert around == (None, None)
    assert len(queries) == 0


@pytest.mark.parametrize(
    ("window", "is_exact", "numbers"),
    [
        (PageWindow(None, 2), True, "3, 5, 8"),
        (PageWindow(CasePosition(5), 1), True, "5, 8"),
        (PageWindow(CasePosition(6), 1), True, "8, 13"),
        (PageWindow(CasePosition(6), 1), False, "8, 13, 21"),
        (PageWindow(CasePosition(8), 1, is_backwards=True), True, "5, 8"),
        (PageWindow(CasePosition(8), 1, is_backwards=True), False, "3, 5, 8"),
        (PageWindow(None, 1, is_backwards=True), True, "13, 21"),
    ],
)
def test_few_positions_hold_a_window(window: PageWindow, is_exact: bool, numbers: str) -> None:
    held = PairPositions([3, 5, 8, 13, 21], is_exact)
    assert held.condition(window, "c.position") == f" AND c.position IN ({numbers})"


@pytest.mark.parametrize(
    "window", [PageWindow(CasePosition(22), 2), PageWindow(CasePosition(2), 2, True)]
)
def test_beyond_its_ends_a_list_holds_nothing(window: PageWindow) -> None:
    assert PairPositions([3, 21], is_exact=True).condition(window, "c.position") == " AND 1 = 0"
