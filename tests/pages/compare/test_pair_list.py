"""The lists of a comparison: which is opened, and what counts as no change."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import User
from tests.conftest import MakeDataset
from tests.support.finished_runs import Given, run_with
from tests.support.html import Reader
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]
E: Given = "error"
KEYS = ["q0", "q1", "q2", "q3"]


def test_what_changed_is_opened_first_and_no_error_is_called_unchanged(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, subtests: pytest.Subtests
) -> None:
    given: list[tuple[list[Given], list[Given], list[int], str, list[str]]] = [
        ([0.9, 0.9, 0.1, 0.9], [0.9, 0.1, 0.9, E], [], "Broke", ["q1"]),
        ([0.9, 0.9, 0.1, 0.9], [0.9, 0.9, 0.9, E], [], "Fixed", ["q2"]),
        ([0.9, 0.9, E, E], [0.9, E, 0.9, E], [], "Inconclusive", ["q1", "q2"]),
        ([0.9, 0.9, E, E], [0.9, 0.9, E], [3], "Only in baseline", ["q3"]),
        ([0.9, 0.9, E, E], [0.9, 0.9, E, E], [], "Unchanged", ["q0", "q1"]),
        ([E, E, "skip", "skip"], [E, "skip", E, "skip"], [], "Not scored in either", KEYS),
    ]
    for before, after, leaves_out, opened, keys in given:
        with (
            subtests.test(
                before=before, after=after, leaves_out=leaves_out, opened=opened, keys=keys
            ),
            undone(),
        ):
            version = make_dataset([{"key": key} for key in KEYS])
            old = run_with(version, {"close": before}, name="old")
            new = run_with(version, {"close": after}, name="new", leaves_out=leaves_out)
            runs = urlencode({"baseline": old.uuid, "candidate": new.uuid})
            answer = browser_of(bob).get(f"{reverse('compare', args=[old.team.slug])}?{runs}")
            cases = answer.context["pair"].cases
            assert [tab.title for tab in cases.tabs() if tab.is_here] == [opened]
            assert [row.row.pair.key for row in cases.rows] == keys


def test_a_score_just_below_its_threshold_never_reads_as_having_reached_it(
    browser_of: BrowserOf, bob: User, make_dataset: MakeDataset, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[float, float, tuple[float, float], str]] = [
        (0.71, 0.6996, (0.7, 0.7), "0.71 → 0.6996"),  # "0.70" would seem to have passed
        (0.6996, 0.8949, (0.9, 0.9), "0.70 → 0.89"),
        (0.896, 0.896, (0.5, 0.9), "0.90 → 0.896"),  # each beside the threshold it was judged by
        (0.7, 0.9996, (0.7, 0.7), "0.70 → 0.9996"),
    ]
    for before, after, thresholds, told in cases:
        with subtests.test(before=before, after=after, thresholds=thresholds, told=told), undone():
            version = make_dataset([{"key": "q0"}])
            old, new = (
                run_with(version, {"close": [score]}, thresholds={"close": threshold})
                for score, threshold in zip((before, after), thresholds, strict=True)
            )
            asked = urlencode({"baseline": old.uuid, "candidate": new.uuid, "kind": "pairs"})
            answer = browser_of(bob).get(f"{reverse('compare', args=[old.team.slug])}?{asked}")
            row = answer.text.partition('id="case-1"')[2].partition("</tr>")[0]
            cell = " ".join(Reader(row).text.split())
            assert told in cell
