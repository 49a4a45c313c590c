"""Confusion matrices on a run's page, and the cases behind their cells."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from scoring.engine.confusion import OTHER
from scoring.engine.summaries import summarise
from scoring.models import Output, Run, RunSummary, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.browser_forms import as_sent
from tests.pages.run_steps import BrowserOf, keys, url
from tests.scored import finished_run

CLASSES = ["yes", "no"]
#: Expected and answered; None where nothing was expected or nothing was answered.
PAIRS: list[tuple[str | None, str | None]] = [
    ("yes", "yes"),
    ("yes", "Yes "),
    ("yes", "no"),
    ("no", "no"),
    ("no", "perhaps"),
    ("maybe", "yes"),
    ("yes", None),
    (None, "yes"),
    (None, "perhaps"),
]


@pytest.fixture
def classed(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    cases = [{"expected": expected} if expected else {} for expected, _ in PAIRS]
    outputs = make_outputs(make_dataset(cases), [answered for _, answered in PAIRS])
    config = {"classes": CLASSES, "case_sensitive": False, "trim": True}
    return finished_run(outputs, ("label", "exact_match", config), ("same", "exact_match", {}))


@pytest.fixture
def bobs(browser_of: BrowserOf, bob: User) -> Client:
    return browser_of(bob)


def _label(text: str) -> str:
    """As the scorer compares, written again."""
    plain = text.strip().lower()
    return plain if plain in CLASSES else OTHER


def _wanted(expected: str, answered: str) -> list[str]:
    """The keys of the cases in one cell, counted from the pairs."""
    judged = [(n, one, two) for n, (one, two) in enumerate(PAIRS, 1) if one and two]
    return [
        f"case-{n}" for n, one, two in judged if (_label(one), _label(two)) == (expected, answered)
    ]


def test_the_matrix_counts_the_outputs_that_have_both_labels(classed: Run) -> None:
    kept = RunSummary.objects.get(scorer__run=classed, scorer__name="label").classes
    every = [*CLASSES, OTHER]
    assert kept["labels"] == CLASSES
    assert kept["counts"] == [[len(_wanted(row, column)) for column in every] for row in every]


def test_a_scorer_without_classes_has_no_matrix(bobs: Client, classed: Run) -> None:
    assert RunSummary.objects.get(scorer__run=classed, scorer__name="same").classes == {}
    page = bobs.get(url(classed)).text
    assert "Classes by label" in page
    assert "Classes by same" not in page


def test_summarising_again_gives_the_same_matrix(classed: Run) -> None:
    before = list(RunSummary.objects.order_by("pk").values("classes"))
    summarise(classed)
    assert list(RunSummary.objects.order_by("pk").values("classes")) == before


@pytest.mark.parametrize("expected", [*CLASSES, OTHER])
@pytest.mark.parametrize("answered", [*CLASSES, OTHER])
def test_a_cell_leads_to_its_cases(
    bobs: Client, classed: Run, expected: str, answered: str
) -> None:
    figure = bobs.get(url(classed)).context["figures"][0]
    rows = {row.label: row for row in figure.matrix()}
    places = list(rows)
    cell = rows[expected].cells[places.index(answered)]
    answer = bobs.get(url(classed, cell.query))
    wanted = _wanted(expected, answered)
    assert cell.number == len(wanted)
    assert keys(answer) == wanted
    assert f"expected {expected}, answered {answered}" in answer.text


def test_next_and_previous_stay_inside_a_cell(bobs: Client, classed: Run) -> None:
    query = "?scorer=label&expected=yes&answered=yes"
    _, address, _ = next(iter(bobs.get(url(classed, query)).context["cases"].rows()))
    around = bobs.get(address).context["cases"]
    assert around.standing == "1 of 2"


def test_a_filter_narrows_a_cell(bobs: Client, classed: Run) -> None:
    form = as_sent(
        bobs.get(url(classed, "?scorer=label&expected=yes&answered=yes")).text, "filters"
    )
    answer = bobs.get(url(classed), form | {"q": ["case-2"]})
    assert keys(answer) == ["case-2"]
    said = [chip.text for chip in answer.context["cases"].chips()]
    assert said == ["expected yes, answered yes", "“case-2”"]


@pytest.mark.parametrize(
    "query",
    [
        "?expected=yes",
        "?scorer=same&expected=yes",
        "?scorer=label&answered=perhaps",
        "?scorer=label&expected=maybe&answered=no",
    ],
)
def test_labels_that_nobody_has_are_named(bobs: Client, classed: Run, query: str) -> None:
    assert "scorer" in bobs.get(url(classed, query)).context["cases"].form.errors


def test_too_many_ways_to_a_label_are_counted_but_lead_nowhere(
    bobs: Client, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    texts = ["yes" + " " * n for n in range(60)]
    outputs = make_outputs(make_dataset([{"expected": "yes"}] * 60), texts)
    config: dict[str, Any] = {"classes": CLASSES, "trim": True}
    run = finished_run(outputs, ("label", "exact_match", config))
    kept = RunSummary.objects.get(scorer__run=run).classes
    assert (kept["counts"][0][0], kept["answered"][0]) == (60, None)
    assert Output.objects.filter(output_set=run.output_set).count() == 60
    page = bobs.get(url(run, "?scorer=label&expected=yes&answered=yes"))
    assert "too many ways" in page.text
