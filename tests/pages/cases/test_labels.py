from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.pages.cases.labels import RunLabels, label_case
from scoring.core.explain.explanation import LaterVerdict
from scoring.engine.thresholds.relabelling import relabel_run
from scoring.models import Run, Score, User
from tests.conftest import MakeDataset
from tests.support.html import Reader
from tests.support.suite_runs import entry_of, suite_run

pytestmark = pytest.mark.django_db


def labels_of(run: Run, labels: str) -> RunLabels:
    found = RunLabels.of(run, list(run.scorers.all()), labels)
    assert found
    return found


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    run = suite_run(make_dataset([{}] * 2), {"close": [0.6, "error"], "same": [1, 1]})
    assert RunLabels.of(run, list(run.scorers.all()), "new") is None
    entry_of().change_threshold(0.7, by=None, reason="x")
    relabel_run(run, by=None)
    return run


def test_the_shown_threshold_is_that_of_the_labels(run: Run) -> None:
    close, same = run.scorers.all()
    assert [labels_of(run, "new").shown_threshold(s) for s in (close, same)] == [0.7, 0.5]
    assert [labels_of(run, "").shown_threshold(s) for s in (close, same)] == [0.5, 0.5]


def test_a_score_says_what_the_later_threshold_makes_of_it(run: Run) -> None:
    close, same = run.scorers.all()
    scored, failed = Score.objects.filter(scorer=close).order_by("pk")
    labels = labels_of(run, "")
    assert labels.text_of(close, scored) == "re-labelled fail at 0.7"
    assert labels.text_of(close, failed) == labels.text_of(close, None) == ""
    assert labels.text_of(same, same.scores.all()[0]) == ""


def test_shown_later_labels_say_what_was_scored(run: Run) -> None:
    close, _ = run.scorers.all()
    scored, failed = Score.objects.filter(scorer=close).order_by("pk")
    assert labels_of(run, "new").text_of(close, scored) == "scored as pass at 0.5"
    assert labels_of(run, "new").text_of(close, failed) == ""


@pytest.mark.parametrize(
    ("later", "is_later_shown", "label"),
    [
        (None, False, ("pass", "")),
        (None, True, ("pass", "")),
        ("pass", True, ("pass", "")),
        ("fail", False, ("pass", "re-labelled fail")),
        ("fail", True, ("fail", "scored as pass")),
    ],
)
def test_a_case_says_the_other_label_where_it_differs(
    later: str | None, is_later_shown: bool, label: tuple[str, str]
) -> None:
    assert label_case("pass", later, is_later_shown=is_later_shown) == label


def test_the_explanation_compares_with_the_threshold_that_is_shown(
    browser_of: Callable[[User], Client], bob: User, run: Run
) -> None:
    close, same = run.scorers.all()
    scored, failed = Score.objects.filter(scorer=close).order_by("pk")
    shown, stored = labels_of(run, "new"), labels_of(run, "")
    assert shown.later_verdict(close, scored) == LaterVerdict(0.7, "fail")
    assert stored.later_verdict(close, scored) is None
    assert shown.later_verdict(close, failed) is None
    assert shown.later_verdict(same, same.scores.all()[0]) is None
    address = reverse("run_case", args=[run.uuid, 1])
    later = "0.6 < 0.7 → fail (re-labelled; scored with 0.5 → pass)"
    page = " ".join(Reader(browser_of(bob).get(address, {"labels": "new"}).text).text.split())
    assert later in page
    assert "1 ≥ 0.5 → pass" in page
    page = " ".join(Reader(browser_of(bob).get(address).text).text.split())
    assert "0.6 ≥ 0.5 → pass" in page
    assert "re-labelled; scored" not in page
