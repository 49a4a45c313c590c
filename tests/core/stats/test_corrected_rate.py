"""Pass rates corrected by random labels: the formula of the paper, and how often it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.stats.calibration import VerdictTable, Z, verdict_table
from scoring.core.stats.corrected_rate import (
    CorrectedRate,
    corrected_rate,
    labels_for_margin,
    lacking_labels,
)
from scoring.core.stats.descriptive import Estimate

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
Verdicts = np.ndarray[Any, np.dtype[np.bool_]]

enough = st.builds(
    VerdictTable, st.integers(20, 60), st.integers(5, 40), st.integers(5, 40), st.integers(20, 60)
)
rest = st.tuples(st.integers(1, 500), st.integers(1, 500))


def columns(table: VerdictTable) -> tuple[Any, Any]:
    """People's verdicts and the scorer's, one a label."""
    people = [1.0] * table[0] + [0.0] * table[1] + [1.0] * table[2] + [0.0] * table[3]
    scorer = [1.0] * (table[0] + table[1]) + [0.0] * (table[2] + table[3])
    return np.array(people), np.array(scorer)


@given(enough, rest)
def test_it_is_that_of_the_paper(table: VerdictTable, others: tuple[int, int]) -> None:
    people, scorer = columns(table)
    unlabelled = np.array([1.0] * others[0] + [0.0] * others[1])
    n, m = len(people), len(unlabelled)
    whole = np.concatenate([scorer, unlabelled]).var(ddof=1)
    weight = np.cov(people, scorer)[0, 1] / (scorer.var(ddof=1) + n / m * whole)
    weight = min(1.0, max(0.0, weight))
    value = unlabelled.mean() * weight + (people - weight * scorer).mean()
    variance = (people - weight * scorer).var(ddof=1) / n + weight**2 * whole / m
    found = corrected_rate(table, others)
    assert found is not None
    assert found.weight == pytest.approx(weight, abs=1e-9)
    assert found.value == pytest.approx(min(1, max(0, value)), abs=1e-9)
    low, high = value - Z * variance**0.5, value + Z * variance**0.5
    assert found.interval == pytest.approx((max(0, low), min(1, high)), abs=1e-9)


@given(enough, rest)
def test_it_is_never_wider_than_by_weight_0(table: VerdictTable, others: tuple[int, int]) -> None:
    people, _ = columns(table)
    found = corrected_rate(table, others)
    assert found is not None
    assert found.width <= 2 * Z * (people.var(ddof=1) / len(people)) ** 0.5 + 1e-12


def test_a_scorer_that_knows_nothing_has_no_weight() -> None:
    found = corrected_rate(VerdictTable(30, 20, 30, 20), (400, 400))
    assert found is not None
    assert (found.weight, found.value, found.is_narrower) == (0.0, 0.6, False)


def test_a_scorer_that_is_always_right_weighs_nearly_1() -> None:
    found = corrected_rate(VerdictTable(30, 0, 0, 30), (500_000, 500_000))
    assert found is not None
    assert 0.999 < found.weight < 1


def test_a_scorer_against_people_has_no_weight() -> None:
    found = corrected_rate(VerdictTable(5, 40, 45, 10), (400, 400))
    assert found is not None
    assert (found.weight, found.value) == (0.0, 0.5)


def test_with_every_output_labelled_only_labels_count() -> None:
    found = corrected_rate(VerdictTable(40, 10, 5, 45), (0, 0))
    assert found is not None
    assert (found.weight, found.value) == (0.0, 0.45)


def test_a_strict_scorer_is_corrected_upwards() -> None:
    found = corrected_rate(VerdictTable(50, 0, 20, 30), (450, 450))
    assert found is not None
    assert found.labels.value == pytest.approx(0.7)
    assert 0.65 < found.value < 0.75
    assert found.is_narrower


@pytest.mark.parametrize(("width", "is_narrower"), [(0.19, True), (0.2, False), (0.21, False)])
def test_narrower_than_the_labels_alone(width: float, is_narrower: bool) -> None:
    labels = Estimate(0.5, (0.0, 0.2))
    assert CorrectedRate(0.5, (0.0, width), 0.5, labels).is_narrower is is_narrower


LACKING = [
    (VerdictTable(0, 0, 0, 0), 50),
    (VerdictTable(20, 5, 4, 20), 1),
    (VerdictTable(20, 5, 5, 20), 0),
    (VerdictTable(60, 2, 30, 2), 1),
    (VerdictTable(60, 2, 30, 3), 0),
    (VerdictTable(1, 40, 1, 30), 3),
    (VerdictTable(30, 0, 0, 0), 20),
]


@pytest.mark.parametrize(("table", "lacking"), LACKING)
def test_too_few_labels_give_none(table: VerdictTable, lacking: int) -> None:
    assert lacking_labels(table) == lacking
    assert (corrected_rate(table, (300, 300)) is None) is (lacking > 0)


class TestMoreLabels:
    @given(enough, rest, st.floats(0.01, 0.2))
    def test_it_is_the_fewest_that_suffice(
        self, table: VerdictTable, others: tuple[int, int], margin: float
    ) -> None:
        """The number of labels in the formula of the width, and one less."""
        more = labels_for_margin(table, others, margin)

        def width_with(added: int) -> float:
            people, scorer = columns(table)
            n, m = len(people) + added, sum(others) - added
            passed = int(scorer.sum()) + others[0]
            size = len(people) + sum(others)
            whole = passed / size * (1 - passed / size) * size / (size - 1)
            cross, own = np.cov(people, scorer)[0, 1], scorer.var(ddof=1)
            weight = min(1.0, max(0.0, cross / (own + n / m * whole))) if m else 0.0
            variance = (people.var(ddof=1) - 2 * weight * cross + weight**2 * own) / n
            return float(Z * (variance + (weight**2 * whole / m if m else 0)) ** 0.5)

        if more is None:
            assert width_with(sum(others)) > margin
            return
        assert width_with(more) <= margin + 1e-12
        assert more == 0 or width_with(more - 1) > margin - 1e-12

    def test_a_narrow_rate_needs_none(self) -> None:
        assert labels_for_margin(VerdictTable(400, 20, 20, 400), (500, 500), 0.05) == 0

    def test_few_outputs_never_suffice(self) -> None:
        assert labels_for_margin(VerdictTable(30, 5, 5, 20), (10, 10), 0.05) is None


class Judged(NamedTuple):
    scorer: Verdicts
    people: Verdicts

    def draw(self, chosen: Any) -> tuple[VerdictTable, tuple[int, int]]:
        """The labels of the chosen outputs, and the scorer's verdicts on the others."""
        pairs = zip(self.scorer[chosen].tolist(), self.people[chosen].tolist(), strict=True)
        others = np.delete(self.scorer, chosen)
        return verdict_table(pairs), (int(others.sum()), int((~others).sum()))


@pytest.fixture
def judged(facts: Path, system: str, scorer: str) -> Judged:
    """A system's real answers with a person's verdict on each."""
    path = facts / "data/evouna/evouna_NQ_open.json"
    rows = [
        (row[f"answer_{system}"], tuple(row["golden_answer"].split("/")), row[f"judge_{system}"])
        for row in json.loads(path.read_text(encoding="utf-8"))
        if isinstance(row[f"judge_{system}"], bool) and row[f"answer_{system}"]
    ]
    cases = [Case(answer, right[0], references=right) for answer, right, _ in rows]
    results = configure_scorer(scorer, {"case_sensitive": False}).score(cases)
    passed = np.array([result.verdict == "pass" for result in results])
    return Judged(passed, np.array([verdict for *_, verdict in rows]))


@pytest.mark.parametrize("scorer", ["includes", "exact_match", "levenshtein"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_thousand_draws_of_real_labels_hold_the_rate(judged: Judged, scorer: str) -> None:
    """What a page shows: the corrected rate where it is narrower, else that of the labels."""
    draws, truth = np.random.default_rng(2311), judged.people.mean()
    held, widths, alone = [], [], []
    for _ in range(1_000):
        table, others = judged.draw(draws.permutation(len(judged.people))[:100])
        found = corrected_rate(table, others)
        assert found is not None
        assert found.labels.interval is not None
        low, high = found.interval if found.is_narrower else found.labels.interval
        held.append(low <= truth <= high)
        widths.append(high - low)
        alone.append(found.labels.interval[1] - found.labels.interval[0])
    assert 0.93 <= np.mean(held) <= 0.98
    assert np.mean(widths) <= np.mean(alone)
    if scorer == "includes":
        assert np.mean(widths) <= 0.85 * np.mean(alone)


@pytest.mark.parametrize("scorer", ["includes"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_labels_where_scorer_and_people_disagree_never_hold_it(judged: Judged) -> None:
    """Which is why labels that a queue picked by their value must not enter."""
    draws, truth, held = np.random.default_rng(5), judged.people.mean(), 0
    value = (judged.scorer != judged.people) + 0.5 * draws.random(len(judged.people))
    for _ in range(100):
        noise = value + 0.3 * draws.random(len(value))
        found = corrected_rate(*judged.draw(np.argsort(-noise)[:100]))
        held += found is not None and found.interval[0] <= truth <= found.interval[1]
    assert held == 0


@pytest.mark.parametrize(
    ("rate", "labels", "right"),
    [(0.5, 50, 0.8), (0.8, 50, 0.95), (0.8, 100, 0.8), (0.9, 100, 0.8), (0.95, 200, 0.9)],
)
def test_five_labels_of_a_kind_are_enough(rate: float, labels: int, right: float) -> None:
    """Of 1,000 outputs people pass so many; the scorer is right on this share of each kind."""
    draws, held = np.random.default_rng(8), []
    for _ in range(1_000):
        people = draws.random(1_000) < rate
        scorer = people ^ (draws.random(1_000) >= right)
        found = corrected_rate(*Judged(scorer, people).draw(np.arange(labels)))
        if found is not None:
            held.append(found.interval[0] <= rate <= found.interval[1])
    assert len(held) > 900
    assert np.mean(held) >= 0.9
