"""The filters of a run's page that look at another run or at people, and its columns."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalsite.pages.cases.table.case_table import CaseList
from scoring.models import Baseline, Member, Output, Review, ReviewVerdict, Role, Run, Team, User
from tests.conftest import MakeDataset, MakeOutputs
from tests.pages.runs.steps import BrowserOf, MakeSet, keys, url
from tests.support.html import Reader, on_one_line
from tests.support.run_states import CLOSE, EXACT, finished_run
from tests.support.undone import undone

BEFORE = ["yes", "no", "yes", "no", None]
AFTER = ["no", "yes", "yes", "no", "yes"]


@pytest.fixture
def versions(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> list[Run]:
    """Two earlier runs and the one to look at, of one series; the first of them is older still."""
    version = make_dataset([{"expected": "yes", "tags": [f"t{n % 2}"]} for n in range(5)])
    texts = [["no"] * 5, BEFORE, AFTER]
    names = ["w44", "w45", "w46"]
    return [
        finished_run(make_outputs(version, said), EXACT, name=name)
        for said, name in zip(texts, names, strict=True)
    ]


def test_cases_are_filtered_by_what_became_of_them(bobs: Client, versions: list[Run]) -> None:
    for query, wanted in [
        ({"change": "broke"}, "1"),
        ({"change": "fixed"}, "2"),
        ({"change": "unchanged"}, "3 4"),
        ({"change": "unclear"}, "5"),
        ({"change": "unchanged", "verdict": "fail"}, "4"),
        ({"change": "unchanged", "tag": "t0"}, "3"),
        ({"change": "broke", "verdict": "pass"}, ""),
        ({"change": "unchanged", "sort": "exact", "order": "desc"}, "3 4"),
        ({"change": "unchanged", "scorer": "exact", "min": "0.5"}, "3"),
    ]:
        answer = bobs.get(url(versions[2], f"?{urlencode(query)}"))
        assert keys(answer) == [f"case-{place}" for place in wanted.split()]


def test_without_a_word_the_previous_run_is_the_measure(bobs: Client, versions: list[Run]) -> None:
    page = bobs.get(url(versions[2], "?change=broke"))
    assert page.context["cases"].baseline_choice.chosen == versions[1]
    assert [chip.text for chip in page.context["cases"].filter_chips()] == ["broke since w45"]
    assert "Since w45" in page.text


def test_the_pinned_run_goes_before_the_previous_one(
    bobs: Client, alice: User, versions: list[Run], make_outputs: MakeOutputs
) -> None:
    whole = make_outputs(versions[0].output_set.version, ["no"] * 5)
    pinned = finished_run(whole, EXACT, name="pinned")
    Baseline.objects.pin(pinned, by=alice)
    cases = bobs.get(url(versions[2])).context["cases"]
    assert cases.baseline_choice.chosen == pinned
    assert [run.name for run in cases.baseline_choice.offered] == ["pinned", "w45", "w44"]


def test_outputs_scored_again_are_not_measured_by_their_first_run(
    bobs: Client, make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    outputs = make_outputs(make_dataset([{"expected": "yes"}]), ["yes"])
    first, again = (finished_run(outputs, EXACT, name=name) for name in ("first", "again"))
    choice = bobs.get(url(again)).context["cases"].baseline_choice
    assert (choice.chosen, choice.offered) == (None, [first])


def test_another_run_can_be_chosen_as_the_measure(bobs: Client, versions: list[Run]) -> None:
    answer = bobs.get(url(versions[2], f"?change=fixed&baseline={versions[0].uuid}"))
    assert keys(answer) == ["case-2", "case-3", "case-5"]
    assert "fixed since w44" in answer.text


def test_a_run_that_is_no_measure_is_an_error_of_the_form(
    bobs: Client,
    versions: list[Run],
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    subtests: pytest.Subtests,
) -> None:
    cases: list[str] = ["nobody", "01890000-0000-7000-8000-000000000000"]
    other = make_outputs(make_dataset([{"expected": "yes"}], "Other"), ["yes"])
    cases.append(str(finished_run(other, EXACT).uuid))
    for named in cases:
        with subtests.test(named=named):
            page = bobs.get(url(versions[2], f"?change=broke&baseline={named}"))
            assert "baseline" in page.context["cases"].form.errors
            assert "These filters cannot be used" in page.text


def test_the_first_run_of_a_series_has_nothing_to_change_from(
    bobs: Client, versions: list[Run]
) -> None:
    assert "Changed" not in bobs.get(url(versions[0])).text
    page = bobs.get(url(versions[0], "?change=broke"))
    assert "No earlier run of the series" in page.text


def test_each_row_says_what_became_of_its_case(bobs: Client, versions: list[Run]) -> None:
    rows = bobs.get(url(versions[2])).context["cases"].page.rows
    assert [(row.earlier, row.verdict) for row in rows] == [
        ("pass", "fail"),
        ("fail", "pass"),
        ("pass", "pass"),
        ("fail", "fail"),
        ("error", "pass"),
    ]
    page = on_one_line(bobs.get(url(versions[2])).text)
    for words in ("broke", "fixed", "was error"):
        assert words in page


def test_next_and_previous_follow_the_change(bobs: Client, versions: list[Run]) -> None:
    listed = bobs.get(url(versions[2], "?change=unchanged"))
    first, last = [address for _, address, _ in listed.context["cases"].rows()]
    around = bobs.get(first).context["cases"]
    assert (around.previous_url, around.next_url) == (None, last)
    assert around.standing == "1"  # of how many, only a kept comparison knows without counting
    assert bobs.get(around.list_url).context["cases"].is_narrowed


# Reviews.


def test_cases_are_filtered_by_whether_anybody_reviewed_them(
    bobs: Client, alice: User, versions: list[Run]
) -> None:
    run = versions[2]
    output = Output.objects.get(output_set=run.output_set, case__key="case-3")
    Review.objects.record(run, output, ReviewVerdict.PASS, by=alice)
    assert keys(bobs.get(url(run, "?reviewed=yes"))) == ["case-3"]
    rest = bobs.get(url(run, "?reviewed=no"))
    assert keys(rest) == [f"case-{n}" for n in (1, 2, 4, 5)]
    assert [chip.text for chip in rest.context["cases"].filter_chips()] == ["not reviewed"]


def test_cases_are_filtered_by_what_people_say(
    bobs: Client, alice: User, versions: list[Run]
) -> None:
    run = versions[2]
    for key, verdict in (("case-3", ReviewVerdict.PASS), ("case-5", ReviewVerdict.UNSURE)):
        output = Output.objects.get(output_set=run.output_set, case__key=key)
        Review.objects.record(run, output, verdict, by=alice)
    passed = bobs.get(url(run, "?reviewed=pass&n=1"))
    assert keys(passed) == ["case-3"]
    assert [chip.text for chip in passed.context["cases"].filter_chips()] == ["people: pass"]
    assert keys(bobs.get(url(run, "?reviewed=unsure"))) == ["case-5"]
    assert keys(bobs.get(url(run, "?reviewed=fail"))) == []
    (row,) = passed.context["cases"].rows()
    assert bobs.get(row[1]).context["cases"].standing == "1 of 1"


def test_a_reviewer_finds_no_verdict_of_others_before_their_own(
    browser_of: BrowserOf, alice: User, team: Team, versions: list[Run]
) -> None:
    run, rita = versions[2], User.objects.create_user("rita@example.org")
    Member.objects.create(team=team, user=rita, role=Role.REVIEWER)
    for key in ("case-3", "case-5"):
        output = Output.objects.get(output_set=run.output_set, case__key=key)
        Review.objects.record(run, output, ReviewVerdict.PASS, by=alice)
    ritas = browser_of(rita)
    assert keys(ritas.get(url(run, "?reviewed=pass"))) == []
    Review.objects.record(run, output, ReviewVerdict.PASS, by=rita)
    assert keys(ritas.get(url(run, "?reviewed=pass"))) == ["case-5"]
    address = reverse("export_run", args=[run.uuid])
    exported: Any = ritas.get(f"{address}?reviewed=pass&format=jsonl")
    assert b"".join(exported.streaming_content).count(b"case-") == 1
    ticked = reverse("ticked_cases", args=[run.uuid])
    answer = ritas.post(ticked, {"reviewed": "pass", "do": "csv"})
    assert "reviewed=pass" in answer.headers["Location"]


# Links.


def test_all_filters_are_taken_off_at_once_and_the_order_stays(
    bobs: Client, versions: list[Run]
) -> None:
    query = "?change=unchanged&tag=t0&verdict=pass&reviewed=no&sort=exact&col=tags"
    cases = bobs.get(url(versions[2], query)).context["cases"]
    assert len(cases.filter_chips()) == 4
    after = bobs.get(url(versions[2], cases.unfiltered)).context["cases"]
    assert not after.is_narrowed
    assert (after.form.sorting.scorer.name, after.query.getlist("col")) == ("exact", ["tags"])


def test_a_bar_of_the_histogram_keeps_the_other_filters(bobs: Client, versions: list[Run]) -> None:
    query = "?change=unchanged&tag=t0&scorer=exact&max=0.3&sort=exact&col=tags&col=output"
    bars = list(bobs.get(url(versions[2], query)).context["figures"][0].bars())
    answer = bobs.get(url(versions[2], bars[-1].query))
    assert keys(answer) == ["case-3"]
    cases = answer.context["cases"]
    assert cases.form.filters.maximum is None
    assert cases.form.sorting.scorer.name == "exact"
    assert cases.query.getlist("col") == ["tags", "output"]


def test_filters_need_few_queries(
    bobs: Client, versions: list[Run], subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, int]] = [
        ("", 20),
        ("?change=broke", 21),
        ("?change=unchanged&reviewed=no&verdict=fail&tag=t1&q=o&sort=exact&after=2&n=2", 25),
        ("?scorer=exact&code=no_output&change=unclear&q=x&tag=t0", 25),
    ]
    for query, most in cases:
        with subtests.test(query=query, most=most), undone():
            with CaptureQueriesContext(connection) as captured:
                assert bobs.get(url(versions[2], query)).status_code == 200
            assert len(captured) <= most


@pytest.mark.parametrize(
    ("query", "changes", "start"),
    [
        ("", {}, "?"),
        ("verdict=fail&after=5&n=6&diff=word", {}, "?verdict=fail"),
        ("q=a+b%20%26&tag=%C3%9C&sort=", {}, "?q=a+b+%26&tag=%C3%9C"),
        ("col=tags&col=output", {"n": "7", "trial": None}, "?col=tags&col=output&n=7"),
        ("q=old&tag=t", {"q": "new"}, "?tag=t&q=new"),
        ("q=old&tag=t", {"q": None}, "?tag=t"),
        ("q=old&tag=t", {"q": ""}, "?tag=t"),
    ],
)
def test_addresses_keep_what_is_asked_and_nothing_empty(
    query: str, changes: dict[str, str | None], start: str
) -> None:
    assert CaseList(Run(), [], QueryDict(query)).changed(**changes) == start


# Columns.


@pytest.fixture
def seven(make_set: MakeSet) -> Run:
    """A run of seven scorers, more than the usual columns."""
    definitions = [(f"s{n}", "exact_match", {}) for n in range(7)]
    return finished_run(make_set(["yes", "no"]), *definitions)


def heads(page: str) -> list[str]:
    """The columns of the case table after the case itself."""
    table = page.partition('id="cases"')[2].partition("<thead")[2].partition("</thead>")[0]
    cells = [cell.partition("</th>")[0] for cell in table.split("<th")[1:]]
    texts = [cell.partition(">")[2].replace("</a>", "") for cell in cells]
    return [text.rpartition(">")[2].strip() for text in texts][3:]


def test_at_first_the_table_has_the_usual_columns(bobs: Client, seven: Run) -> None:
    assert heads(bobs.get(url(seven)).text) == ["Output", "Tags", *(f"s{n}" for n in range(6))]


def test_a_scorer_that_is_sorted_by_has_a_column(bobs: Client, seven: Run) -> None:
    assert heads(bobs.get(url(seven, "?sort=s6")).text)[2:] == ["s0", "s1", "s2", "s3", "s4", "s6"]


def test_the_address_names_the_columns(bobs: Client, seven: Run) -> None:
    query = urlencode({"col": ["scorer:s6", "latency", "cost", "tokens", "reviews"]}, doseq=True)
    page = bobs.get(url(seven, f"?{query}"))
    assert heads(page.text) == ["s6", "Reviews", "Latency", "Tokens in, out", "Cost"]
    assert "The usual ones" in page.text


def test_columns_nobody_knows_leave_the_usual_ones(bobs: Client, seven: Run) -> None:
    assert len(heads(bobs.get(url(seven, "?col=nothing&col=scorer:none")).text)) == 8


def test_pages_sorts_and_cases_keep_the_columns(bobs: Client, make_set: MakeSet) -> None:
    run = finished_run(make_set(["yes"] * 51), CLOSE, EXACT)
    cases = bobs.get(url(run, "?col=tags&col=scorer%3Aexact")).context["cases"]
    _, case_url, _ = next(iter(cases.rows()))
    addresses = [cases.next_url, cases.case_heading.url, case_url]
    assert all("col=tags&col=scorer%3Aexact" in address for address in addresses)
    assert (
        bobs.get(case_url).context["cases"].list_url
        == reverse("run", args=[run.uuid]) + "?col=tags&col=scorer%3Aexact"
    )


def test_what_is_read_out_tells_filters_and_order(bobs: Client, versions: list[Run]) -> None:
    for query, said in [
        ("", "1\N{EN DASH}5 of 5"),
        ("?sort=exact", "1\N{EN DASH}5 of 5, sorted by exact, lowest first"),
        ("?sort=exact&order=desc", "1\N{EN DASH}5 of 5, sorted by exact, highest first"),
        ("?order=desc", "1\N{EN DASH}5 of 5, last case first"),
        ("?order=desc&verdict=fail", "1\N{EN DASH}2 of 2, fail, last case first"),
    ]:
        page = on_one_line(bobs.get(url(versions[2], query)).text)
        span = page.partition('data-says="cases" aria-live="polite">')[2].partition("<th")[0]
        assert Reader(span.partition("</span></span>")[0]).text == said
