"""Which runs are offered to be compared: archived ones only when they are wanted."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evalsite.pages.compare import forms
from scoring.models import Baseline, Run, User
from tests.conftest import MakeDataset
from tests.support.finished_runs import run_with
from tests.support.undone import undone

Asked = Callable[..., Any]


@pytest.fixture
def runs(make_dataset: MakeDataset) -> list[Run]:
    """Of one dataset and series, the oldest first."""
    version = make_dataset([{}])
    return [run_with(version, {"close": [1.0]}, name=name) for name in ("w44", "w45", "w46")]


@pytest.fixture
def asked(browser_of: Callable[[User], Client], bob: User, runs: list[Run]) -> Asked:
    """The form to choose runs, after this query."""
    path = reverse("compare", args=[runs[0].team.slug])
    return lambda query="": browser_of(bob).get(f"{path}?{query}")


def archive(*runs: Run) -> None:
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(archived_at=timezone.now())


def offered(answer: Any) -> list[str]:
    """The names of the runs that may be chosen."""
    field = answer.context["choice"]["baseline"].field
    return [label.partition(" ")[0] for _, label in field.choices]


def chosen(answer: Any) -> tuple[str, list[str]]:
    """The baseline and the candidates that the form begins with."""
    choice = answer.context["choice"]
    return choice["baseline"].value(), choice["candidate"].value()


def test_archived_runs_are_offered_when_asked_for_and_what_was_chosen_stays(
    asked: Asked, runs: list[Run]
) -> None:
    old, baseline, candidate = runs
    assert "archived runs" not in asked().text
    archive(old)
    assert offered(asked()) == ["w46", "w45"]
    assert ">Show archived runs</button>" in asked().text
    shown = asked(f"baseline={baseline.uuid}&candidate={candidate.uuid}&choose=archived")
    assert offered(shown) == ["w46", "w45", "w44"]
    assert shown.text.count(" · archived") == 2
    assert ">Leave out archived runs</button>" in shown.text
    assert chosen(shown) == (str(baseline.uuid), [str(candidate.uuid)])


def test_an_archived_run_that_is_chosen_or_pinned_is_offered(asked: Asked, runs: list[Run]) -> None:
    old, _, candidate = runs
    archive(old)
    answer = asked(f"choose=1&baseline={old.uuid}&candidate={candidate.uuid}")
    assert offered(answer) == ["w46", "w45", "w44"]
    assert chosen(answer)[0] == str(old.uuid)
    assert ">Show archived runs</button>" not in answer.text
    Baseline.objects.pin(old, by=None)
    assert offered(asked()) == ["w46", "w45", "w44"]


def test_a_usual_baseline_that_is_archived_gives_way_to_the_next_run(
    asked: Asked, runs: list[Run]
) -> None:
    archive(runs[1])
    assert chosen(asked()) == (str(runs[0].uuid), [str(runs[2].uuid)])


def test_where_only_archived_runs_are_left_they_are_one_link_away(
    asked: Asked, runs: list[Run]
) -> None:
    archive(*runs)
    link = f"choose=archived&amp;dataset={runs[0].output_set.version.dataset.uuid}"
    page = asked(f"dataset={runs[0].output_set.version.dataset.uuid}").text
    assert "One run more is needed" in page
    assert f'href="?{link}"' in page
    assert offered(asked(unescape(link))) == ["w46", "w45", "w44"]


def test_the_runs_of_the_chosen_ones_dataset_are_offered(
    asked: Asked, make_dataset: MakeDataset, runs: list[Run], subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["none", "", "1" * 36]
    for candidate in cases:
        with subtests.test(candidate=candidate), undone():
            run_with(make_dataset([{}], "Other"), {"close": [1.0]}, name="other")
            assert offered(asked()) == ["other"]
            query = f"choose=1&baseline={runs[0].uuid}&candidate={candidate}"
            assert offered(asked(query)) == ["w46", "w45", "w44"]


def test_the_newest_runs_are_offered_and_older_ones_on_request(
    asked: Asked, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "INITIAL_OFFERED", 2)
    assert offered(asked()) == ["w46", "w45"]
    assert "Latest 2 of 3 runs." in asked().text
    shown = asked("runs=all")
    assert offered(shown) == ["w46", "w45", "w44"]
    assert "Latest" not in shown.text
    archive(runs[0])
    assert "Latest" not in asked().text


def test_an_old_run_that_is_chosen_or_pinned_is_offered(
    asked: Asked, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "INITIAL_OFFERED", 1)
    assert offered(asked(f"choose=1&baseline={runs[0].uuid}")) == ["w46", "w44"]
    Baseline.objects.pin(runs[1], by=None)
    assert offered(asked()) == ["w46", "w45"]


def test_a_long_history_costs_the_same_queries_and_options(
    asked: Asked, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "INITIAL_OFFERED", 3)

    def cost() -> tuple[int, int]:
        asked()
        with CaptureQueriesContext(connection) as captured:
            answer = asked()
        return len(captured), answer.text.count('name="candidate"')

    queries, options = cost()
    version = runs[0].output_set.version
    for week in range(12):
        run_with(version, {"close": [1.0]}, name=f"later {week}")
    assert cost() == (queries, options)
