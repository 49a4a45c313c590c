"""The case table against the same question asked of plain lists."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.models import (
    Case,
    CaseVerdict,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    RunState,
    Score,
    Scorer,
    Status,
    Team,
    Verdict,
)
from scoring.models.case_list import selection
from scoring.models.case_list.filters import CaseFilters
from scoring.models.case_list.table import CaseOrder, CaseRow, CaseTable
from scoring.models.case_paging import CasePosition
from scoring.models.runs.score import ScoreRow
from tests.conftest import MakeDataset
from tests.support.thoroughness import IS_THOROUGH

MakeRun = Callable[..., Run]
PlainRow = dict[str, Any]
CASES = 30


@pytest.fixture
def run(team: Team, make_dataset: MakeDataset) -> Run:
    """Thirty cases in two trials under two scorers, verdicts and scores by a seeded coin."""
    return _run(team, make_dataset, trials=2)


def _run(team: Team, make_dataset: MakeDataset, trials: int) -> Run:
    coin = random.Random(7)
    version = make_dataset(
        [
            {
                "key": f"q-{n:04}",
                "input": coin.choice(["How do I pay?", 'Say "no"', "Où est-il?\nIci."]),
                "expected": coin.choice(["By card", "never", "Zebra"]),
                "tags": coin.sample(["billing", "Billing", "tone", 'a "b"'], 2),
            }
            for n in range(1, CASES + 1)
        ]
    )
    outputs = OutputSet.objects.create(version=version, series="a", state=OutputSetState.READY)
    run = Run.objects.create(team=team, output_set=outputs, name="w46", state=RunState.FINISHED)
    scorers = [_scorer(run, name, place) for place, name in enumerate(["close", "exact"])]
    cases = list(version.cases.all()) * trials
    coin.shuffle(cases)  # ids do not follow the dataset's order
    seen: set[int] = set()
    rows: list[Output | Score | CaseVerdict] = []
    for case in cases:
        rows += _outcome(run, scorers, case, int(case.pk in seen), coin)
        seen.add(case.pk)
    for model in (Output, Score, CaseVerdict):
        model.objects.bulk_create(row for row in rows if isinstance(row, model))
    _count(run)
    return run


def _scorer(run: Run, name: str, position: int) -> RunScorer:
    scorer = Scorer.objects.define(run.team, name, "levenshtein", {}, 0.6)
    assert scorer.current
    return RunScorer.objects.create(
        run=run, version=scorer.current, name=name, threshold=0.6, position=position
    )


def _outcome(
    run: Run, scorers: list[RunScorer], case: Case, trial: int, coin: random.Random
) -> list[Output | Score | CaseVerdict]:
    """The rows of one output, not stored yet."""
    text = coin.choice([None, "", "zebra crossing", "by card", "100 % sure_ly"])
    output = Output(output_set=run.output_set, case=case, trial=trial, text=text)
    rows = [_score(scorer, output, coin) for scorer in scorers]
    verdict = max((_rank(row) for row in rows), default=0)
    told = CaseVerdict(
        run=run,
        output=output,
        position=case.position,
        trial=trial,
        verdict=[Verdict.SKIPPED, Verdict.PASS, Verdict.ERROR, Verdict.FAIL][verdict],
    )
    return [output, *rows, told]


def _score(scorer: RunScorer, output: Output, coin: random.Random) -> Score:
    kind = coin.choice(["score"] * 8 + ["forced", "error", "skip"])
    score = {"score": coin.choice([0, 0.25, 0.5, 0.6, 0.75, 1]), "forced": 0.0}.get(kind)
    verdict = None if score is None else Verdict.PASS if score >= 0.6 else Verdict.FAIL
    status = {"error": Status.ERROR, "skip": Status.SKIPPED}.get(kind, Status.SCORED)
    code = {"forced": "expected_missing", "error": coin.choice(["no_output", "target"])}
    return Score(
        scorer=scorer,
        output=output,
        status=status,
        score=score,
        verdict=verdict,
        code=code.get(kind, ""),
    )


def _rank(row: Score) -> int:
    if row.status == Status.SCORED:
        return 3 if row.verdict == Verdict.FAIL else 1
    return 2 if row.status == Status.ERROR else 0


def _count(run: Run) -> None:
    verdicts = list(run.verdicts.values_list("verdict", flat=True))
    for verdict in Verdict:
        setattr(run, f"{verdict.label}_count", verdicts.count(verdict))
    run.save()


# The oracle: every row as a dict, filtered and sorted by Python.


def _plain_rows(run: Run) -> list[PlainRow]:
    verdicts = run.verdicts.select_related("output__case")
    return [_plain(verdict) for verdict in verdicts.prefetch_related("output__scores__scorer")]


def _oracle(rows: list[PlainRow], filters: CaseFilters, order: CaseOrder) -> list[CasePosition]:
    kept = [row for row in rows if _passes(row, filters)]
    if order.scorer is None:
        kept.sort(key=lambda row: row["place"], reverse=order.descending)
        return [row["place"] for row in kept]
    name = order.scorer.name
    scored = [row for row in kept if row[name].score is not None]
    scored.sort(key=lambda row: (row[name].score, row["output"].pk), reverse=order.descending)
    unscored = [row for row in kept if row[name].score is None]
    unscored.sort(key=lambda row: row["output"].pk)
    return [row["place"] for row in scored + unscored]


def _plain(verdict: CaseVerdict) -> PlainRow:
    output = verdict.output
    return {
        "place": CasePosition(verdict.position, verdict.trial),
        "verdict": verdict.verdict,
        "output": output,
        **{score.scorer.name: score for score in output.scores.all()},
    }


def _passes(row: PlainRow, filters: CaseFilters) -> bool:
    case = row["output"].case
    texts = (row["output"].text or "", case.input, case.expected, case.key)
    return (
        (filters.scorer is not None or filters.verdict in (None, row["verdict"]))
        and (filters.scorer is None or _score_passes(row[filters.scorer.name], filters))
        and (not filters.tag or filters.tag in case.tags)
        and (not filters.text or any(filters.text.lower() in text.lower() for text in texts))
    )


def _score_passes(row: Score, filters: CaseFilters) -> bool:
    has_limits = (filters.minimum, filters.maximum, filters.below) != (None, None, None)
    if has_limits and row.score is None:
        return False
    score = row.score or 0.0
    scored_as = {Status.ERROR: Verdict.ERROR, Status.SKIPPED: Verdict.SKIPPED}
    verdict = scored_as.get(Status(row.status), row.verdict)
    return (
        filters.verdict in (None, verdict)
        and (filters.minimum is None or score >= filters.minimum)
        and (filters.maximum is None or score <= filters.maximum)
        and (filters.below is None or score < filters.below)
        and filters.code in ("", row.code)
    )


FILTERS: list[dict[str, Any]] = [
    {},
    *({"verdict": verdict} for verdict in Verdict),
    *({"scorer": "close", "verdict": verdict} for verdict in Verdict),
    {"scorer": "exact", "minimum": 0.5},
    {"scorer": "exact", "maximum": 0.5},
    {"scorer": "close", "minimum": 0.25, "below": 0.5},
    {"scorer": "close", "minimum": 1.0, "maximum": 1.0},
    {"scorer": "close", "code": "no_output"},
    {"scorer": "exact", "code": "expected_missing"},
    {"tag": "billing"},
    {"tag": 'a "b"'},
    {"tag": "bill"},
    {"text": "zebra"},
    {"text": 'Say "no"'},
    {"text": "il?\nIci"},
    {"text": "100 %"},
    {"text": "sure_l"},
    {"text": "q-0007"},
    {"text": "nowhere"},
    {"text": "zebra", "tag": "tone", "verdict": Verdict.FAIL},
    {"text": "card", "scorer": "exact", "verdict": Verdict.PASS},
    {"tag": "tone", "verdict": Verdict.PASS},
    {"tag": "nowhere"},
    {"tag": "billing", "scorer": "close", "minimum": 0.5},
]
ORDERS = [(None, False), (None, True), ("close", False), ("close", True), ("exact", False)]
#: Every filter and every order, but only some of both together where not all are wished for.
COMBINED = list(product(FILTERS, ORDERS))[:: 1 if IS_THOROUGH else 4]


@pytest.mark.parametrize("few", [0, 2_000], ids=["walking", "picking first"])
def test_every_filter_and_order_shows_what_plain_lists_show(
    run: Run, few: int, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setattr(selection, "MAX_POSITIONS", few)
    scorers = {scorer.name: scorer for scorer in run.scorers.all()}
    rows = _plain_rows(run)
    for asked, (name, is_falling) in COMBINED:
        filters = CaseFilters(**{**asked, "scorer": scorers.get(asked.get("scorer", ""))})
        order = CaseOrder(scorers.get(name or ""), is_falling)
        wanted = _oracle(rows, filters, order)
        table = CaseTable(run, list(scorers.values()), filters, order)
        with subtests.test(asked=asked, order=name, is_falling=is_falling):
            assert _forwards(table) == wanted
            assert _backwards(table, wanted) == wanted
            assert table.count in (None, len(wanted))
            _check_neighbours(table, wanted)


def _check_neighbours(table: CaseTable, wanted: list[CasePosition]) -> None:
    for at in range(0, len(wanted), 17):
        here = wanted[at]
        own = {"output__case__position": here.position, "output__trial": here.trial}
        given = Score.objects.filter(scorer__run=table.run, **own)
        before, after = [None, *wanted][at], [*wanted, None][at + 1]
        for around in (table.neighbours(here), table.neighbours(here, list(given))):
            assert around == (before, after, table.count)


def _forwards(table: CaseTable) -> list[CasePosition]:
    places: list[CasePosition] = []
    page = table.page(size=13)
    assert not page.has_previous
    while True:
        places += [row.place for row in page.rows]
        if not page.has_next:
            return places
        page = table.page(after=places[-1], size=13)
        assert page.has_previous


def _backwards(table: CaseTable, wanted: list[CasePosition]) -> list[CasePosition]:
    """From the last case back to the first; the last one is taken from the oracle."""
    if not wanted:
        return []
    places, has_previous = [wanted[-1]], True
    while has_previous and len(places) < len(wanted):
        page = table.page(before=places[0], size=13)
        assert page.has_next
        places = [row.place for row in page.rows] + places
        has_previous = page.has_previous
    assert not has_previous or len(wanted) == 1
    return places


def _first(run: Run, **filters: Any) -> CaseRow:
    return CaseTable(run, list(run.scorers.all()), CaseFilters(**filters)).page().rows[0]


def test_a_row_shows_texts_tags_and_each_scorer_in_the_run_s_order(run: Run) -> None:
    row = _first(run)
    case = run.output_set.version.cases.get(position=1)
    output = Output.objects.get(output_set=run.output_set, case=case, trial=0)
    assert (row.place, row.key, row.tags) == (CasePosition(1, 0), "q-0001", case.tags)
    assert (row.input, row.output) == (case.input, output.text)
    stored = output.scores.order_by("scorer__position").values_list(*ScoreRow._fields)
    assert row.scores == list(stored)


def test_a_scorer_without_a_row_leaves_a_gap(run: Run) -> None:
    last = run.scorers.get(name="exact")
    Score.objects.filter(scorer=last).delete()
    first, second = _first(run).scores
    assert first is not None
    assert second is None


@pytest.mark.parametrize("rows", [1, 50])
@pytest.mark.parametrize("scorer", [None, "close"])
def test_a_page_costs_the_same_queries_whatever_its_size(
    run: Run, rows: int, scorer: str | None
) -> None:
    scorers = list(run.scorers.all())
    order = CaseOrder(next((each for each in scorers if each.name == scorer), None))
    table = CaseTable(run, scorers, order=order)
    with CaptureQueriesContext(connection) as queries:
        assert len(table.page(size=rows).rows) == rows
    assert len(queries) == 3
