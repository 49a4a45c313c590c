"""Two runs whose case verdicts a test chooses, and what became of each case, by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
    """A case's verdict in one run, and where the first of its trials stands."""

    place: CasePosition
    verdict: int


class Side(NamedTuple):
    """A run with what it says of cases, by key; `texts` are input and expected by key."""

    run: Run
    told: dict[str, Told]
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
    trials: dict[str, dict[int, int]] = {}
    for (key, trial), verdict in sorted(verdicts.items()):
        trials.setdefault(key, {})[trial] = verdict
    told = {
        key: Told(CasePosition(cases[key].position, min(own)), verdict_of_case(own.values()))
        for key, own in trials.items()
    }
    has_trials = any(trial for _, trial in verdicts)
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
            of_case=_of_case(output, told[output.case.key]) if has_trials else None,
        )
        for output, verdict in judged
    )
    Score.objects.bulk_create(_score(scorer, output, verdict) for output, verdict in judged)
    counts = Counter(each.verdict for each in told.values())
    run.pass_count, run.fail_count = counts[PASS], counts[FAIL]
    run.error_count, run.skipped_count = counts[ERROR], counts[SKIPPED]
    if has_trials:
        of_outputs = Counter(verdicts.values())
        run.output_verdicts = {each.label: of_outputs[each] for each in Verdict}
    run.save()
    texts = {case.key: (case.input_json, case.expected_json) for case in cases.values()}
    return Side(run, told, texts)


def verdict_of_case(verdicts: Iterable[int]) -> int:
    """That of the mean of scores that are 1 where a trial passes and 0 where it fails."""
    told = list(verdicts)
    passed, failed = told.count(PASS), told.count(FAIL)
    if passed or failed:
        return PASS if passed >= failed else FAIL
    return ERROR if ERROR in told else SKIPPED


def _of_case(output: Output, told: Told) -> int | None:
    return told.verdict if output.trial == told.place.trial else None


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
    """The keys of each kind, as the words of the page define them, in order, each with the trial
    that stands for the case.
    """
    found: dict[PairKind, list[tuple[str, int]]] = {kind: [] for kind in PairKind}
    for key in sorted(new.told, key=lambda key: new.told[key].place):
        one = (key, new.told[key].place.trial)
        if key not in old.told:
            found[PairKind.ONLY_CANDIDATE].append(one)
            continue
        found[PairKind.PAIRS].append(one)
        found[_kind(old.told[key].verdict, new.told[key].verdict)].append(one)
        if old.texts[key] != new.texts[key]:
            found[PairKind.EDITED].append(one)
    alone = sorted(old.told.keys() - new.told.keys(), key=lambda key: old.told[key].place)
    found[PairKind.ONLY_BASELINE] = [(key, old.told[key].place.trial) for key in alone]
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


def over_two_versions(
    team: Team, make_dataset: MakeDataset, trials: tuple[int, int] = (1, 1)
) -> tuple[Side, Side]:
    """Forty cases in two versions, the second turned round and without every tenth. `trials` are
    how many a case has in each run; every seventh output but a case's last is missing.
    """
    cases = _questions()
    kept = [case for n, case in enumerate(reversed(cases)) if n % 10]
    first, second = (
        stored(team, make_dataset(of), _drawn(of, count, seed))
        for of, count, seed in ((cases, trials[0], 3), (kept, trials[1], 5))
    )
    return first, second


def over_one_version(
    team: Team, make_dataset: MakeDataset, trials: tuple[int, int] = (1, 1)
) -> tuple[Side, Side]:
    """Two runs over the same forty cases."""
    cases = _questions()
    version = make_dataset(cases)
    first, second = (
        stored(team, version, _drawn(cases, count, seed))
        for count, seed in zip(trials, (3, 8), strict=True)
    )
    return first, second


def _questions() -> list[dict[str, Any]]:
    return [
        {"key": f"q{n:02}", "input": f"question {n}", "tags": ["odd"] if n % 2 else []}
        for n in range(40)
    ]


def _drawn(cases: Sequence[dict[str, Any]], trials: int, seed: int) -> dict[tuple[str, int], int]:
    """Verdicts by key and trial."""
    coin = random.Random(seed)
    return {
        (case["key"], trial): coin.choice(VERDICTS)
        for n, case in enumerate(cases)
        for trial in range(trials)
        if trial == trials - 1 or (n + trial) % 7
    }
