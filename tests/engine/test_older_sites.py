"""What a newer site keeps of runs and versions is made up for those of an older one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from scoring.engine.tag_places import keep_tag_places
from scoring.models import RunSummary, TagPlaces
from tests.conftest import MakeDataset
from tests.engine.conftest import MakeRun, MakeScorer, Spy, finish

pytestmark = pytest.mark.django_db


def step_of(migration: str, name: str) -> Any:
    return getattr(import_module(f"scoring.migrations.{migration}"), name)


def test_errors_are_counted_by_cause_beside_skips(
    make_run: MakeRun, make_scorer: MakeScorer, spy: Spy
) -> None:
    scorer = make_scorer("spy")
    finish(make_run(["1", "error", "error", "skip", None], scorer))
    finish(make_run(["1", "skip"], scorer))
    counted = dict(RunSummary.objects.values_list("pk", "error_causes"))
    assert sorted(counted.values(), key=len) == [{}, {"service_down": 2, "no_output": 1}]
    RunSummary.objects.update(error_causes={})
    step_of("0023_errors_by_cause", "_count")(apps, None)
    assert dict(RunSummary.objects.values_list("pk", "error_causes")) == counted


def test_versions_get_the_places_of_their_tags(
    make_dataset: MakeDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = [["a"], ["b", "a"], [], ["x" * 201], ["b", "b"]]
    version = make_dataset([{"key": f"q-{n}", "input": 1, "tags": t} for n, t in enumerate(tags)])
    keep_tag_places(version)
    kept = list(TagPlaces.objects.order_by("tag").values_list("version", "tag", "positions"))
    assert [tag for _, tag, _ in kept] == ["", "a", "b"]
    TagPlaces.objects.all().delete()
    step_of("0022_tag_places", "_look_through")(apps, None)
    again = TagPlaces.objects.order_by("tag").values_list("version", "tag", "positions")
    assert list(again) == kept
    TagPlaces.objects.all().delete()
    monkeypatch.setattr(import_module("scoring.migrations.0022_tag_places"), "MOST_TAGS", 1)
    step_of("0022_tag_places", "_look_through")(apps, None)
    assert not TagPlaces.objects.exists()
