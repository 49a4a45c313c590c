"""Confusion matrices on a run's page, and the cases behind their cells."""

from __future__ import annotations

from typing import Any

from django.test import Client

from scoring.engine.runs.confusion import OTHER_LABEL
from scoring.models import Output, Run, RunSummary
from tests.conftest import MakeDataset, MakeOutputs
from tests.engine.runs.test_confusion import CLASSES, _wanted, classed
from tests.pages.runs.steps import keys, url
from tests.support.browser_forms import as_sent
from tests.support.run_states import finished_run

__all__ = ["classed"]


def test_a_scorer_without_classes_has_no_matrix(bobs: Client, classed: Run) -> None:
    assert RunSummary.objects.get(scorer__run=classed, scorer__name="same").classes == {}
    page = bobs.get(url(classed)).text
    assert "Classes by label" in page
    assert "Classes by same" not in page


def test_a_cell_leads_to_its_cases(bobs: Client, classed: Run) -> None:
    for expected in [*CLASSES, OTHER_LABEL]:
        for answered in [*CLASSES, OTHER_LABEL]:
            figure = bobs.get(url(classed)).context["figures"][0]
            rows = dict(figure.matrix())
            cell = rows[expected][list(rows).index(answered)]
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
    said = [chip.text for chip in answer.context["cases"].filter_chips()]
    assert said == ["expected yes, answered yes", "“case-2”"]


def test_labels_that_nobody_has_are_named(bobs: Client, classed: Run) -> None:
    for query in [
        "?expected=yes",
        "?scorer=same&expected=yes",
        "?scorer=label&answered=perhaps",
        "?scorer=label&expected=maybe&answered=no",
    ]:
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
