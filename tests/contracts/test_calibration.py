"""Real answers with people's verdicts: a calibration equals scikit-learn's figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from django.urls import reverse
from sklearn import metrics

from scoring.core.stats.calibration import VerdictTable
from scoring.models import Output, Review, ReviewVerdict, Run, Score, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import BrowserOf
from tests.support.run_states import Definition, finished_run

SYSTEMS: Final = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
CLOSE: Final = {"abs": 1e-9}
TEXT_SCORERS: Final[list[Definition]] = [
    ("includes", "includes", {"case_sensitive": False}),
    ("exact_match", "exact_match", {"case_sensitive": False}),
    ("levenshtein", "levenshtein", {"case_sensitive": False}),
]
SAMPLE: Final = 10  # every so many rows
FIFTH: Final = 5  # embedding every answer takes minutes
RATES: Final = (metrics.precision_score, metrics.recall_score, metrics.f1_score)


class Judged(NamedTuple):
    """A run over a system's answers, and what a person said of each, by the ids of outputs."""

    run: Run
    people: Mapping[int, bool]


@pytest.fixture
def rows(facts: Path) -> list[dict[str, Any]]:
    text = (facts / "data/evouna/evouna_NQ_open.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)
    return rows


def judged_run(
    rows: list[dict[str, Any]],
    system: str,
    definitions: list[Definition],
    make: tuple[MakeDataset, MakeOutputs],
    reviewer: User,
) -> Judged:
    judged = [
        row for row in rows if isinstance(row[f"judge_{system}"], bool) and row[f"answer_{system}"]
    ]
    make_dataset, make_outputs = make
    cases = [
        {"input": row["question"], "expected": right[0], "references": right}
        for row in judged
        for right in [row["golden_answer"].split("/")]
    ]
    outputs = make_outputs(make_dataset(cases, system), [row[f"answer_{system}"] for row in judged])
    run = finished_run(outputs, *definitions, name=system)
    ids = Output.objects.filter(output_set=outputs).order_by("case__position")
    people = {
        output: row[f"judge_{system}"]
        for output, row in zip(ids.values_list("pk", flat=True), judged, strict=True)
    }
    Review.objects.bulk_create(
        Review(
            output_id=output,
            output_set=outputs,
            reviewer=reviewer,
            verdict=ReviewVerdict.PASS if is_right else ReviewVerdict.FAIL,
        )
        for output, is_right in people.items()
    )
    return Judged(run, people)


def check(judged: Judged, figures: list[Any]) -> None:
    """Every figure of every scorer by scikit-learn, from the stored scores."""
    for figure in figures:
        calibration = figure.calibration
        stored = Score.objects.filter(scorer=calibration.scorer, score__isnull=False)
        columns = stored.order_by("output").values_list("output", "score", "verdict")
        people = [judged.people[output] for output, *_ in columns]
        passed = [verdict == 0 for *_, verdict in columns]
        scores = [score for _, score, _ in columns]
        found: VerdictTable = calibration.table
        assert found.n == len(judged.people)
        assert found.agreement is not None
        assert found.kappa is not None
        agreement = metrics.accuracy_score(people, passed)
        assert found.agreement.value == pytest.approx(agreement, **CLOSE)
        kappa = metrics.cohen_kappa_score(people, passed)
        assert found.kappa.value == pytest.approx(kappa, **CLOSE)
        for rate, of_sklearn in zip(found.rates, RATES, strict=True):
            wanted = of_sklearn(people, passed, zero_division=0)
            assert (rate or 0.0) == pytest.approx(wanted, **CLOSE)
        threshold, kappa = _best_threshold(scores, people)
        if kappa <= 0:
            assert calibration.best is None
            continue
        assert calibration.best is not None
        assert calibration.best.threshold == pytest.approx(threshold, **CLOSE)
        assert calibration.best.kappa == pytest.approx(kappa, **CLOSE)


def _best_threshold(scores: list[float], people: list[bool]) -> tuple[float, float]:
    """The lowest score with the highest kappa, each score tried in turn."""
    kappas = {
        threshold: metrics.cohen_kappa_score(people, [score >= threshold for score in scores])
        for threshold in set(scores) - {0.0}
    }
    highest = max(kappas.values(), default=0.0)
    best = (each for each, kappa in kappas.items() if kappa >= highest - 1e-12)
    return min(best, default=1.0), highest


@pytest.mark.parametrize(
    ("system", "step"),
    [
        ("chatgpt", SAMPLE),
        *(pytest.param(system, 1, marks=pytest.mark.slow) for system in SYSTEMS),
    ],
)
def test_the_page_has_the_figures_of_scikit_learn(
    rows: list[dict[str, Any]],
    system: str,
    step: int,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    browser_of: BrowserOf,
    alice: User,
    bob: User,
) -> None:
    judged = judged_run(rows[::step], system, TEXT_SCORERS, (make_dataset, make_outputs), alice)
    address = reverse("run_calibration", args=[judged.run.uuid])
    figures = browser_of(bob).get(address).context["figures"]
    assert [figure.calibration.scorer.name for figure in figures] == [
        "includes",
        "exact_match",
        "levenshtein",
    ]
    check(judged, figures)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_scorer_by_embeddings_has_the_figures_of_scikit_learn(
    rows: list[dict[str, Any]],
    system: str,
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    browser_of: BrowserOf,
    alice: User,
    bob: User,
    minilm: str,
) -> None:
    definition: Definition = ("reference_match", "reference_match", {"model_name": minilm})
    judged = judged_run(rows[::FIFTH], system, [definition], (make_dataset, make_outputs), alice)
    address = reverse("run_calibration", args=[judged.run.uuid])
    check(judged, browser_of(bob).get(address).context["figures"])
