"""Whatever makes two runs less alike is named, on the page, by the command and by the API alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from scoring.engine.compare.comparison import compute_figures
from scoring.models import (
    CallPurpose,
    DatasetVersion,
    ModelCall,
    Run,
    RunState,
    Scorer,
    ScorerVersion,
    User,
)
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with

pytestmark = pytest.mark.django_db

CASES = 4
SCORES: list[Given] = [1.0] * CASES


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": f"q{n}"} for n in range(CASES)])


def warned(*runs: Run) -> tuple[str, ...]:
    return compute_figures(*runs).warnings


def runs_of(version: DatasetVersion, **second: Any) -> tuple[Run, Run]:
    """Two runs alike but for what is given."""
    first = run_with(version, {"close": SCORES}, name="w45")
    return first, run_with(version, **{"scores": {"close": SCORES}, "name": "w46", **second})


def test_of_runs_alike_nothing_is_said(version: DatasetVersion) -> None:
    assert warned(*runs_of(version)) == ()


def test_a_run_over_a_part_of_the_cases_is_named(version: DatasetVersion) -> None:
    runs = runs_of(version, scores={"close": SCORES[:3]}, leaves_out=[0])
    said = "The run w46 covers 3 of 4 cases of its dataset version."
    assert warned(*runs) == warned(*reversed(runs)) == (said,)


def test_a_cancelled_run_is_named(version: DatasetVersion) -> None:
    runs = runs_of(version, scores={"close": SCORES[:2]}, leaves_out=[0, 1])
    runs[1].state = RunState.CANCELLED
    assert warned(*runs) == (
        "The run w46 was cancelled: it covers 2 of 4 cases of its dataset version.",
    )


def test_other_dataset_versions_are_named(
    version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    newer = make_dataset([{"key": f"q{n}", "input": "anew" * (n > 1)} for n in range(CASES)])
    first = run_with(version, {"close": SCORES})
    assert warned(first, run_with(newer, {"close": SCORES})) == (
        "The runs are over versions v1 and v2 of the dataset: cases match by key, "
        "2 cases were edited.",
    )


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ([], "by key."),
        (["anew"], "by key, 1 case was edited."),
        (["a", "b"], "2 cases were edited."),
    ],
)
def test_edited_cases_are_said_only_where_there_are_some(
    version: DatasetVersion, make_dataset: MakeDataset, inputs: list[str], said: str
) -> None:
    cases = [{"key": f"q{n}"} for n in range(CASES)]
    for case, text in zip(cases, inputs, strict=False):
        case["input"] = text
    newer = make_dataset([*cases, {"key": "more"}])
    runs = run_with(version, {"close": SCORES}), run_with(newer, {"close": [*SCORES, 1.0]})
    (told,) = warned(*runs)
    assert told.endswith(said)


def test_another_threshold_is_named(version: DatasetVersion) -> None:
    assert warned(*runs_of(version, thresholds={"close": 0.75})) == (
        "close: the threshold was 0.5 and then 0.75, so verdicts differ by that, too.",
    )


def revised(name: str, **config: str) -> None:
    """The scorer asks others from now on; its config is not looked at but for that."""
    version = Scorer.objects.get(name=name).revise({"case_sensitive": True}, by=None)
    ScorerVersion.objects.filter(pk=version.pk).update(config=config)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model": "m2"}, "the model was the default and then m2"),
        ({"connection": "spare"}, "the connection was the default and then spare"),
        ({"model_name": "large"}, "the model was the default and then large"),
        ({"embedding_provider": "local"}, "the provider was the default and then local"),
    ],
)
def test_a_version_that_asks_another_is_named(
    version: DatasetVersion, config: dict[str, str], said: str
) -> None:
    first = run_with(version, {"close": SCORES})
    revised("close", **config)
    assert warned(first, run_with(version, {"close": SCORES})) == (
        "close: version 1 and version 2 scored the runs, so a difference may be the scorer's own.",
        f"close: {said}, whose answers may differ.",
    )


def answered(run: Run, model: str, connection: str, purpose: str = CallPurpose.JUDGE) -> None:
    ModelCall.objects.create(
        team=run.team, run=run, purpose=purpose, connection_name=connection, model=model
    )


def test_judges_answered_by_others_are_named_though_the_scorer_is_the_same(
    version: DatasetVersion,
) -> None:
    first, second = runs_of(version)
    for _ in range(2):
        answered(first, "m1", "ours")
    answered(second, "m1", "spare")
    answered(second, "m2", "spare")
    assert warned(first, second) == (
        "Judges were answered by m1 through ours and then by m1 through spare, m2 through spare.",
    )


@pytest.mark.parametrize(
    ("model", "purpose"), [("m1", CallPurpose.JUDGE), ("m2", CallPurpose.GENERATE), ("", "")]
)
def test_judges_answered_alike_are_not(version: DatasetVersion, model: str, purpose: str) -> None:
    """Nor those whose replies were kept before, nor models that made the outputs."""
    first, second = runs_of(version)
    answered(first, "m1", "ours")
    if model:
        answered(second, model, "ours", purpose)
    assert warned(first, second) == ()


def test_runs_with_other_numbers_of_trials_are_named(version: DatasetVersion) -> None:
    runs = runs_of(version, scores={"close": SCORES * 3}, trials=3)
    how = (
        "each case counts once, by the mean of its trials. More trials even out chance, so "
        "verdicts can change by that alone; tested is the share of trials that pass."
    )
    assert warned(*runs) == (f"A case has 1 trial in w45 and 3 in w46: {how}",)
    more = run_with(version, {"close": SCORES * 2}, trials=2, name="w47")
    assert warned(runs[1], more) == (f"A case has 3 trials in w46 and 2 in w47: {how}",)
    assert warned(more, run_with(version, {"close": SCORES * 2}, trials=2, name="w48")) == (
        "Cases have several trials: each case counts once, by the mean of its trials.",
    )


def test_page_command_and_api_say_all_of_it(
    browser_of: Callable[[User], Client],
    bob: User,
    make_dataset: MakeDataset,
    version: DatasetVersion,
) -> None:
    newer = make_dataset([{"key": f"q{n}", "input": "anew"} for n in range(CASES)])
    first = run_with(version, {"close": SCORES, "left": SCORES}, name="w45")
    revised("close", model="m2")
    second = run_with(
        newer, {"close": SCORES, "joined": SCORES}, name="w46", thresholds={"close": 0.75}
    )
    said = warned(first, second)
    assert len(said) == 6
    named = {"baseline": first.uuid, "candidate": second.uuid}
    page = browser_of(bob).get(reverse("compare", args=[first.team.slug]), named)
    assert page.context["pair"].figures.warnings == said
    assert page.text.count("notice notice-warning") == len(said)
    client = APIClient()
    client.force_authenticate(bob)
    assert client.get(reverse("api:compare"), named).json()["warnings"] == list(said)
    out, table = StringIO(), StringIO()
    call_command("compare", str(first.uuid), str(second.uuid), "--json", stdout=out)
    (told,) = json.loads(out.getvalue())["comparisons"]
    assert told["warnings"] == list(said)
    call_command("compare", str(first.uuid), str(second.uuid), stdout=table)
    assert all(f"note: {text}" in table.getvalue() for text in said)
