"""Two runs whose case verdicts a test chooses, and what became of each case, by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scoring.models import (
    CaseVerdict,
    DatasetVersion,
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
from scoring.models.case_paging import CasePosition
from scoring.models.pairs.pairs import Pairs
from scoring.models.pairs.rows import Pair, PairFilters, PairKind
from tests.conftest import MakeDataset

PASS, FAIL, ERROR, SKIPPED = (verdict.value for verdict in Verdict)
VERDICTS = [PASS, PASS, FAIL, FAIL, ERROR, SKIPPED]


class Told(NamedTuple):
    """A case's verdict in one run, and where it stands."""

    place: CasePosition
    verdict: int


class Side(NamedTuple):
    """A run with what it says, by key and trial; `texts` are input and expected by key."""

    run: Run
    told: dict[tuple[str, int], Told]
    texts: dict[str, tuple[str, str | None]]


class Made(NamedTuple):
    """What a test wants of a run: cases in their order and verdicts by key and trial."""

    cases: Sequence[dict[str, Any]]
    verdicts: dict[tuple[str, int], int]


def stored(team: Team, version: DatasetVersion, verdicts: dict[tuple[str, int], int]) -> Side:
    """A finished run whose outputs have these verdicts; one scorer says the same of each."""
    outputs = OutputSet.objects.create(version=version, series="a", state=OutputSetState.READY)
    run = Run.objects.create(team=team, output_set=outputs, name="w", state=RunState.FINISHED)
    scorer = _scorer(run)
    cases = {case.key: case for case in version.cases.all()}
    mixed = random.Random(5).sample(list(verdicts.items()), len(verdicts))
    told = {
        (key, trial): Told(CasePosition(cases[key].position, trial), verdict)
        for (key, trial), verdict in mixed
    }
    made = Output.objects.bulk_create(
        Output(output_set=outputs, case=cases[key], trial=trial, text=f"{key} {trial}")
        for (key, trial), _ in mixed
    )
    judged = [(output, verdict) for output, (_, verdict) in zip(made, mixed, strict=True)]
    CaseVerdict.objects.bulk_create(
        CaseVerdict(
            run=run,
            output=output,
            position=output.case.position,
            trial=output.trial,
            verdict=verdict,
        )
        for output, verdict in judged
    )
    Score.objects.bulk_create(_score(scorer, output, verdict) for output, verdict in judged)
    counts = Counter(verdicts.values())
    run.pass_count, run.fail_count = counts[PASS], counts[FAIL]
    run.error_count, run.skipped_count = counts[ERROR], counts[SKIPPED]
    run.save()
    texts = {case.key: (case.input_json, case.expected_json) for case in cases.values()}
    return Side(run, told, texts)


def _scorer(run: Run) -> RunScorer:
    known = Scorer.objects.filter(team=run.team, name="close").first()
    scorer = known or Scorer.objects.define(run.team, "close", "levenshtein", {}, 0.5)
    assert scorer.current
    return RunScorer.objects.create(run=run, version=scorer.current, name="close", threshold=0.5)


def _score(scorer: RunScorer, output: Output, verdict: int) -> Score:
    if verdict in {PASS, FAIL}:
        values: dict[str, Any] = {"score": float(verdict == PASS), "verdict": verdict, "status": 0}
    else:
        values = {"status": Status.ERROR if verdict == ERROR else Status.SKIPPED}
    return Score(scorer=scorer, output=output, **values)


def expected(old: Side, new: Side) -> dict[PairKind, list[tuple[str, int]]]:
    """The keys and trials of each kind, as the words of the page define them, in order."""
    found: dict[PairKind, list[tuple[str, int]]] = {kind: [] for kind in PairKind}
    for one in sorted(new.told, key=lambda one: new.told[one].place):
        if one not in old.told:
            found[PairKind.ONLY_CANDIDATE].append(one)
            continue
        found[PairKind.PAIRS].append(one)
        found[_kind(old.told[one].verdict, new.told[one].verdict)].append(one)
        if old.texts[one[0]] != new.texts[one[0]]:
            found[PairKind.EDITED].append(one)
    alone = sorted(old.told.keys() - new.told.keys(), key=lambda one: old.told[one].place)
    found[PairKind.ONLY_BASELINE] = alone
    return found


def _kind(before: int, after: int) -> PairKind:
    if before in {ERROR, SKIPPED} and after in {ERROR, SKIPPED}:
        return PairKind.NEITHER
    if before == after:
        return PairKind.UNCHANGED
    flips = {(PASS, FAIL): PairKind.BROKE, (FAIL, PASS): PairKind.FIXED}
    return flips.get((before, after), PairKind.UNCLEAR)


def walked(pairs: Pairs, kind: PairKind, filters: PairFilters, size: int) -> Iterator[Pair]:
    """All pages forwards; then back from the last to the first, which must be the same rows."""
    page = pairs.page(kind, filters, size=size)
    assert not page.has_previous
    pages = [page]
    while page.has_next:
        page = pairs.page(kind, filters, after=page.rows[-1].place, size=size)
        assert page.has_previous
        pages.append(page)
    for later, earlier in zip(pages[:0:-1], pages[-2::-1], strict=True):
        back = pairs.page(kind, filters, before=later.rows[0].place, size=size)
        assert back.rows == earlier.rows
        assert (back.has_previous, back.has_next) == (earlier.has_previous, True)
    for each in pages:
        yield from each.rows


def over_two_versions(team: Team, make_dataset: MakeDataset) -> tuple[Side, Side]:
    """Forty cases in two versions, the second turned round and without every tenth."""
    coin = random.Random(3)
    cases = [
        {"key": f"q{n:02}", "input": f"question {n}", "tags": ["odd"] if n % 2 else []}
        for n in range(40)
    ]
    kept = [case for n, case in enumerate(reversed(cases)) if n % 10]
    first, second = (
        stored(
            team,
            make_dataset(of),
            {(case["key"], trial): coin.choice(VERDICTS) for case in of for trial in (0, 1)},
        )
        for of in (cases, kept)
    )
    return first, second


def over_one_version(team: Team, make_dataset: MakeDataset) -> tuple[Side, Side]:
    """The first of the same runs, and one over the same cases with other verdicts."""
    first, _ = over_two_versions(team, make_dataset)
    coin = random.Random(4)
    again = {one: coin.choice(VERDICTS) for one in first.told}
    return first, stored(team, first.run.output_set.version, again)
