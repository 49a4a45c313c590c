"""What is said while somebody waits for the worker: how far it is, and how long it takes yet."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from evalsite.pages.underway import Underway, said_of, underway_of
from evalsite.templatetags.look import left
from scoring.engine import hold
from scoring.engine.stages import Progress
from scoring.models import Errand, ErrandKind, ErrandState, Team, Worker
from tests.pages.read_html import Reader

HALF = Progress("replies", 25, 50, 0.5, 11.2)

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> None:
    """One that lives on, however slow the machine is."""
    now = timezone.now()
    later = now + timedelta(hours=1)
    Worker.objects.create(name=hold.own_name(), started_at=now, seen_at=later)


@pytest.fixture
def errand(team: Team) -> Errand:
    return Errand.objects.create(team=team, kind=ErrandKind.PREVIEW_SCORER)


def begun(errand: Errand, told: Progress | None) -> Errand:
    answer = told._asdict() if told else {}
    Errand.objects.filter(pk=errand.pk).update(state=ErrandState.WORKING, answer=answer)
    assert hold.take(errand)
    errand.refresh_from_db()
    return errand


def shown(errand: Errand) -> Reader:
    context = {"text": "Scoring 50 cases.", "url": "/there/", "label": "Scoring", "says": "it"}
    page = render_to_string("_underway.html", context | {"underway": underway_of(errand)})
    return Reader(page)


def words(errand: Errand) -> str:
    return " ".join(shown(errand).text.split())


def bar(errand: Errand) -> dict[str, Any]:
    (found,) = [attributes for tag, attributes in shown(errand).elements if tag == "progress"]
    return {name: found.get(name) for name in ("max", "value", "aria-label")}


def test_it_says_how_many_are_done_and_how_long_the_rest_takes(
    errand: Errand, worker: None
) -> None:
    begun(errand, HALF)
    assert "Replies: 25 of 50 about 12 s left" in words(errand)
    assert "Scoring: half done" in words(errand)
    assert bar(errand) == {"max": "1", "value": "0.500", "aria-label": "Scoring"}


def test_where_the_rest_is_not_known_the_time_so_far_is_told(errand: Errand, worker: None) -> None:
    Errand.objects.update(created_at=timezone.now() - timedelta(seconds=7.5))
    begun(errand, HALF._replace(seconds_left=None))
    assert "Replies: 25 of 50 7 s so far" in words(errand)


@pytest.mark.parametrize("is_begun", [False, True])
def test_before_anything_is_told_the_bar_promises_nothing(
    errand: Errand, worker: None, is_begun: bool
) -> None:
    if is_begun:
        begun(errand, None)
    assert bar(errand) == {"max": None, "value": None, "aria-label": "Scoring"}
    assert f"Scoring: {'begun' if is_begun else 'not begun'}" in words(errand)
    assert "0 s so far" in words(errand)
    assert "left" not in words(errand)


def test_without_a_worker_it_says_so_in_place_of_a_bar(errand: Errand) -> None:
    begun(errand, HALF)
    assert "No worker: start manage.py worker." in words(errand)
    assert "Scoring: standing still" in words(errand)
    assert "progress" not in [tag for tag, _ in shown(errand).elements]


def test_what_changes_each_second_is_read_out_by_nobody(errand: Errand, worker: None) -> None:
    """Only the words that seldom change are a live region; the others lie in one that is off."""
    begun(errand, HALF)
    live = [
        attributes["aria-live"]
        for _, attributes in shown(errand).elements
        if "aria-live" in attributes
    ]
    assert live == ["off", "polite"]


def test_without_scripts_there_is_a_way_to_look_again(errand: Errand, worker: None) -> None:
    assert "/there/" in [attributes.get("href") for _, attributes in shown(errand).elements]


@pytest.mark.parametrize("state", [ErrandState.DONE, ErrandState.FAILED])
def test_what_has_ended_is_waited_for_no_more(errand: Errand, state: ErrandState) -> None:
    errand.state = state
    assert underway_of(errand) is None
    assert underway_of(None) is None


def test_a_clock_that_was_put_back_counts_no_time(errand: Errand) -> None:
    errand.created_at = timezone.now() + timedelta(hours=1)
    assert Underway(errand).seconds == 0


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (None, "not begun"),
        (0.0, "begun"),
        (0.24, "begun"),
        (0.25, "a quarter done"),
        (0.5, "half done"),
        (0.99, "three quarters done"),
        (1.0, "three quarters done"),
    ],
)
def test_how_far_it_is_in_words_that_seldom_change(share: float | None, said: str) -> None:
    assert said_of(share) == said


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "about 1 s"), (59, "about 59 s"), (60, "1 min"), (190, "3 min")]
)
def test_below_a_minute_seconds_are_told(seconds: int, text: str) -> None:
    assert left(seconds) == text
