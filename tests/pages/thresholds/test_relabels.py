"""A run is re-labelled on request; both labels are shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from scoring.models import Relabel, Run, User
from tests.conftest import MakeDataset
from tests.support.suite_runs import entry_of, suite_run
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

BrowserOf = Callable[[User], Client]
NOBODY = {"pass_count": 0, "fail_count": 1, "error_count": 0, "skipped_count": 0}


@pytest.fixture
def run(make_dataset: MakeDataset) -> Run:
    """Of three cases, the first fails by the suite's later threshold alone."""
    run = suite_run(make_dataset([{}] * 3), {"close": [0.6, 0.8, 0.2], "same": [1, 1, 1]})
    entry_of().change_threshold(0.7, by=None, reason="Too lenient.")
    return run


def words(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def labels(answer: Any) -> list[tuple[str, str]]:
    cases = answer.context["cases"]
    return [tuple(cases.label_of(row)) for row, _, _ in cases.rows()]


def test_a_relabelled_run_shows_both_labels(alices: Client, run: Run) -> None:
    url = reverse("run", args=[run.uuid])
    assert "Re-label with the suite's thresholds" in words(alices.get(url))
    answer = alices.post(reverse("relabel_run", args=[run.uuid]), follow=True)
    assert "Re-labelled with close 0.7." in words(answer)
    assert answer.request["QUERY_STRING"] == "labels=new"
    assert labels(answer) == [("fail", "scored as pass"), ("pass", ""), ("fail", "")]
    before = alices.get(url)
    assert labels(before) == [("pass", "re-labelled fail"), ("pass", ""), ("fail", "")]
    for shown in (answer, before):
        text = words(shown)
        assert "✓ 2 pass ✕ 1 fail" in text
        assert "re-labelled with close 0.7 ✓ 1 pass ✕ 2 fail" in text
        assert "re-labelled 33.3 %" in text
        assert "Re-label with the suite's thresholds" not in text


def test_cells_are_judged_by_the_labels_that_are_shown(alices: Client, run: Run) -> None:
    alices.post(reverse("relabel_run", args=[run.uuid]))
    url = reverse("run", args=[run.uuid])
    for query, wanted in (("", ("pass", 0.5)), ("?labels=new", ("fail", 0.7))):
        _, _, cells = next(alices.get(url + query).context["cases"].rows())
        assert (cells[0].verdict, cells[0].threshold) == wanted
        assert (cells[1].verdict, cells[1].threshold) == ("pass", 0.5)


def test_the_page_of_a_case_says_both(alices: Client, run: Run) -> None:
    case = reverse("run_case", args=[run.uuid, 1])
    assert "re-labelled" not in alices.get(case).text
    alices.post(reverse("relabel_run", args=[run.uuid]))
    text = words(alices.get(case))
    assert "re-labelled fail at 0.7" in text
    assert "✓ pass re-labelled fail" in text
    other = words(alices.get(reverse("run_case", args=[run.uuid, 2])))
    assert "re-labelled pass at 0.7" in other
    assert "✓ pass re-labelled pass" not in other.replace("re-labelled pass at", "")


def test_labels_stay_in_the_addresses_of_the_list(alices: Client, run: Run) -> None:
    alices.post(reverse("relabel_run", args=[run.uuid]))
    answer = alices.get(reverse("run", args=[run.uuid]), {"labels": "new"})
    assert all("labels=new" in heading.url for heading in answer.context["cases"].headings())
    assert ("labels", "new") in answer.context["cases"].kept_for_filters


def test_labels_are_removed_and_restored(alices: Client, run: Run) -> None:
    alices.post(reverse("relabel_run", args=[run.uuid]))
    answer = alices.post(reverse("remove_run_labels", args=[run.uuid]), follow=True)
    assert "Labels removed." in words(answer)
    assert "re-labelled" not in words(answer)
    alices.post(reverse("relabel_run", args=[run.uuid]))
    assert run.relabels.count() == 1


def test_what_cannot_be_relabelled_says_why(alices: Client, run: Run) -> None:
    for _ in range(2):
        answer = alices.post(reverse("relabel_run", args=[run.uuid]), follow=True)
    assert "The suite has no other thresholds than these labels." in words(answer)
    assert run.relabels.count() == 1


def test_a_viewer_sees_labels_and_makes_none(
    browser_of: BrowserOf, alices: Client, bob: User, run: Run
) -> None:
    browser, url = browser_of(bob), reverse("relabel_run", args=[run.uuid])
    assert "Re-label with" not in browser.get(reverse("run", args=[run.uuid])).text
    assert browser.post(url).status_code == 403
    alices.post(url)
    text = browser.get(reverse("run", args=[run.uuid])).text
    assert "re-labelled with" in text
    assert "Remove labels" not in text


def test_lists_of_runs_have_both_counts(
    browser_of: BrowserOf, alices: Client, bob: User, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["runs", "team_home", "dataset_runs", "search"]
    for listed in cases:
        with subtests.test(listed=listed), undone():
            dataset = run.output_set.version.dataset
            argument = dataset.uuid if listed == "dataset_runs" else run.team.slug
            url = reverse(listed, args=[argument]) + "?q=w46"
            assert "re-labelled" not in browser_of(bob).get(url).text
            alices.post(reverse("relabel_run", args=[run.uuid]))
            answer = browser_of(bob).get(url)
            assert "2 re-labelled → 1 1 re-labelled → 2 0 0" in words(answer)
            assert f'href="{reverse("run", args=[run.uuid])}?labels=new"' in answer.text
            assert 'title="With close 0.7"' in answer.text


def test_a_list_of_relabelled_runs_costs_the_same_for_any_number(
    alices: Client, make_dataset: MakeDataset, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    version = make_dataset([{}])
    url, counts = reverse("runs", args=["support"]), []
    for number in (1, 5):
        for _ in range(number):
            made = suite_run(version, {"close": [0.6]})
            Relabel.objects.create(run=made, thresholds={"close": 0.7}, passed={}, **NOBODY)
        with django_assert_num_queries(99, exact=False) as captured:
            alices.get(url)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_the_page_of_a_case_shows_the_later_label_on_request(alices: Client, run: Run) -> None:
    case = reverse("run_case", args=[run.uuid, 1])
    assert "Show re-labelled" not in alices.get(case).text
    alices.post(reverse("relabel_run", args=[run.uuid]))
    before = alices.get(case)
    assert before.context["labels_url"] == "?labels=new"
    later = alices.get(case + "?verdict=pass&labels=new")
    text = words(later)
    assert "✕ fail scored as pass" in text
    assert "re-labelled with close 0.7 Show as scored" in text
    assert "scored as pass at 0.5" in text
    assert later.context["labels_url"] == "?verdict=pass"
    answers = later.context["view"].judgement.answers
    assert [(a.threshold, a.verdict) for a in answers] == [(0.7, "fail"), (0.5, "pass")]
    answers = before.context["view"].judgement.answers
    assert [(a.threshold, a.verdict) for a in answers] == [(0.5, "pass"), (0.5, "pass")]


def test_beside_the_baseline_each_run_says_its_later_label(
    alices: Client, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{}] * 2)
    before, after = (
        suite_run(version, {"close": [score, 0.9]}, name=name)
        for name, score in (("w45", 0.6), ("w46", 0.4))
    )
    entry_of().change_threshold(0.7, by=None, reason="x")
    alices.post(reverse("relabel_run", args=[before.uuid]))
    case = reverse("run_case", args=[after.uuid, 1]) + f"?against={before.uuid}"
    assert "✓ pass in w45 re-labelled fail → ✕ fail" in words(alices.get(case))
    entry_of().change_threshold(0.3, by=None, reason="x")
    alices.post(reverse("relabel_run", args=[after.uuid]))
    assert "w45 re-labelled fail → ✕ fail re-labelled pass" in words(alices.get(case))


def test_trials_say_both_labels(alices: Client, make_dataset: MakeDataset) -> None:
    version = make_dataset([{}])
    scores = {f"s{n}": [1, 1] for n in range(6)} | {"close": [0.6, 0.8]}  # beyond the columns
    run = suite_run(version, scores, trials=2)
    entry_of().change_threshold(0.7, by=None, reason="x")
    case = reverse("run_case", args=[run.uuid, 1])
    first, second = alices.get(case).context["trials"].listed
    assert (tuple(first.label), tuple(second.label)) == (("pass", ""), ("pass", ""))
    alices.post(reverse("relabel_run", args=[run.uuid]))
    trials = alices.get(case).context["trials"]
    assert [tuple(t.label) for t in trials.listed] == [("pass", "re-labelled fail"), ("pass", "")]
    assert len(trials.listed[0].cells) == 6
    trials = alices.get(case + "?labels=new").context["trials"]
    assert [tuple(t.label) for t in trials.listed] == [("fail", "scored as pass"), ("pass", "")]
