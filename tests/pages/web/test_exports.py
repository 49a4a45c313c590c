"""Files of what a page lists: the same rows, a name that no browser minds, one link."""

from __future__ import annotations

import csv
import html
import json
import re
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import DatasetVersion, OutputSet, OutputSetState, Run
from tests.conftest import MakeDataset
from tests.pages.runs.steps import MakeSet, keys, url
from tests.support.run_states import CLOSE, EXACT, finished_run
from tests.support.undone import undone


def text_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.status_code
    return b"".join(answer.streaming_content).decode()


def rows_of(answer: Any) -> list[dict[str, Any]]:
    """The rows of JSON Lines, whose number header and last line tell alike."""
    *rows, last = map(json.loads, text_of(answer).splitlines())
    assert last == {"_rows": len(rows)}
    assert int(answer["X-Row-Count"]) == len(rows)
    return rows


def export_of(run: Run, query: str = "") -> str:
    return reverse("export_run", args=[run.uuid]) + query


def links_of(page: str) -> list[str]:
    """The addresses that a page offers as files."""
    return [html.unescape(link) for link in re.findall(r'<a href="([^"]*)" download', page)]


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"key": "=1", "input": "one"}, {"key": "q2", "expected": None}])


def test_the_file_holds_the_rows_of_the_page_in_its_order(
    bobs: Client, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = [
        "",
        "?order=desc",
        "?sort=close",
        "?sort=close&order=desc",
        "?verdict=fail",
        "?verdict=fail&scorer=exact",
        "?scorer=close&min=0.5&below=1",
        "?scorer=exact&code=no_output",
        "?q=Question+2",
        "?q=%E2%80%AE%22%25",
        "?tag=x",
        "?reviewed=no",
        "?unsteady=on",
        "?after=2&n=3",
        "?col=tags&diff=word&trials=mean",
    ]
    for query in cases:
        with subtests.test(query=query), undone():
            listed = keys(bobs.get(url(run, query.replace("after=2&n=3", ""))))
            assert [row["key"] for row in rows_of(bobs.get(export_of(run, query)))] == listed


def test_the_pages_links_carry_its_filters(bobs: Client, run: Run) -> None:
    page = bobs.get(url(run, "?sort=close&verdict=fail&q=Question&after=3&n=2")).text
    links = links_of(page)
    assert [re.findall("(?:format|verbatim)=[a-z]+", link) for link in links] == [
        ["format=csv"],
        ["format=csv", "verbatim=on"],
        ["format=jsonl"],
        ["format=json"],
    ]
    wanted = keys(bobs.get(url(run, "?sort=close&verdict=fail&q=Question")))
    assert len(wanted) == 2
    for link in links:
        text = text_of(bobs.get(link))
        if "csv" in link:
            rows = list(csv.DictReader(StringIO(text, newline="")))
        else:
            rows = [json.loads(line.rstrip(",")) for line in text.splitlines() if '"key"' in line]
        assert [row["key"] for row in rows] == wanted


def test_filters_that_cannot_be_used_lead_to_the_page_that_says_so(bobs: Client, run: Run) -> None:
    answer = bobs.get(export_of(run, "?min=low&tag=x&format=csv&verbatim=on&after=2"))
    assert (answer.status_code, answer["Location"]) == (302, url(run, "?min=low&tag=x"))
    assert "These filters cannot be used" in bobs.get(answer["Location"]).text


def test_a_list_without_rows_offers_no_file(bobs: Client, run: Run) -> None:
    assert links_of(bobs.get(url(run, "?q=nowhere")).text) == []
    assert links_of(bobs.get(url(run, "?min=low")).text) == []
    assert rows_of(bobs.get(export_of(run, "?q=nowhere"))) == []


def test_a_file_says_what_it_is(bobs: Client, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str]] = [
        ("", "application/x-ndjson", "jsonl"),
        ("?format=jsonl", "application/x-ndjson", "jsonl"),
        ("?format=json", "application/json", "json"),
        ("?format=csv", "text/csv; charset=utf-8", "csv"),
    ]
    for query, content_type, ending in cases:
        with subtests.test(query=query, content_type=content_type, ending=ending), undone():
            answer = bobs.get(export_of(run, query))
            assert answer["Content-Type"] == content_type
            assert answer["Content-Disposition"] == f'attachment; filename="Answers-w46.{ending}"'
            assert answer["Cache-Control"] == "private, no-store"
            assert answer["X-Content-Type-Options"] == "nosniff"
            assert answer["X-Row-Count"] == "4"
            assert answer.streaming


def test_a_format_that_is_none_is_not_there(
    bobs: Client, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["?format=xml", "?format=html", "?format=__class__"]
    for query in cases:
        with subtests.test(query=query), undone():
            assert bobs.get(export_of(run, query)).status_code == 404


def test_a_hostile_name_stays_within_the_files_name(
    bobs: Client, make_set: MakeSet, subtests: pytest.Subtests
) -> None:
    cases: list[str] = [
        "../../etc/passwd",
        'a"; filename="b.exe',
        "x\r\nSet-Cookie: a=b",
        "\u202excod.exe",
    ]
    for name in cases:
        with subtests.test(name=name), undone():
            run = finished_run(make_set(["yes"], "\u202e/..\\"), CLOSE, name=name)
            disposition = bobs.get(export_of(run))["Content-Disposition"]
            (shown,) = re.fullmatch(r'attachment; filename="([^"]*)"', disposition).groups()  # type: ignore[union-attr]
            assert re.fullmatch(r"\w[\w.-]*\.jsonl", shown)
            assert ".." not in shown


def test_a_name_in_other_letters_is_kept(bobs: Client, make_set: MakeSet) -> None:
    run = finished_run(make_set(["yes"], "質問"), CLOSE)
    disposition = bobs.get(export_of(run))["Content-Disposition"]
    assert disposition == "attachment; filename*=utf-8''%E8%B3%AA%E5%95%8F-w46.jsonl"


def test_asking_for_the_head_reads_no_row(bobs: Client, run: Run) -> None:
    with CaptureQueriesContext(connection) as seen:
        answer = bobs.head(export_of(run))
        assert list(answer) == []
    assert answer["X-Row-Count"] == "4"
    assert not [query for query in seen if "input_json" in query["sql"]]


def test_hostile_texts_arrive_as_they_are(bobs: Client, make_set: MakeSet) -> None:
    texts = [
        "=cmd|' /C calc'!A0",
        "a\rb",
        "\x01\x1b[31m",
        "\u202e\u2066",
        "x" * 130_000,
        '","=1',
        "",
    ]
    run = finished_run(make_set(texts), CLOSE)
    assert [row["output"] for row in rows_of(bobs.get(export_of(run)))] == texts
    verbatim = text_of(bobs.get(export_of(run, "?format=csv&verbatim=on")))
    rows = list(csv.DictReader(StringIO(verbatim, newline=""), strict=True))
    assert [row["output"] for row in rows] == texts
    marked = list(
        csv.reader(StringIO(text_of(bobs.get(export_of(run, "?format=csv"))), newline=""))
    )
    assert not [cell for row in marked for cell in row if cell[:1] in tuple("=+-@\t\r")]


def test_a_run_that_is_not_done_gives_what_there_is(bobs: Client, queued: Run) -> None:
    assert rows_of(bobs.get(export_of(queued))) == []


def test_a_version_is_offered_where_it_is_listed(bobs: Client, version: DatasetVersion) -> None:
    address = reverse("export_version", args=[version.dataset.uuid, 1])
    for name in ("dataset", "dataset_versions", "dataset_runs"):
        links = links_of(bobs.get(reverse(name, args=[version.dataset.uuid])).text)
        assert f"{address}?format=jsonl" in links
    answer = bobs.get(address)
    assert [row["key"] for row in rows_of(answer)] == ["=1", "q2"]
    assert answer["Content-Disposition"] == 'attachment; filename="Answers-v1.jsonl"'


def test_an_older_version_is_exported_where_it_is_shown(
    bobs: Client, version: DatasetVersion, make_dataset: MakeDataset
) -> None:
    make_dataset([{"key": "new"}])
    page = reverse("dataset", args=[version.dataset.uuid])
    for query, wanted in (("", ["new"]), ("?version=1", ["=1", "q2"])):
        (link,) = [each for each in links_of(bobs.get(page + query).text) if "jsonl" in each]
        assert [row["key"] for row in rows_of(bobs.get(link))] == wanted


def test_a_version_that_is_none_is_not_there(
    bobs: Client, version: DatasetVersion, subtests: pytest.Subtests
) -> None:
    cases: list[int] = [0, 2, 2**31, 10**30]
    for number in cases:
        with subtests.test(number=number), undone():
            answer = bobs.get(reverse("export_version", args=[version.dataset.uuid, number]))
            assert answer.status_code == 404


def test_a_version_that_still_loads_is_not_there(bobs: Client, version: DatasetVersion) -> None:
    DatasetVersion.with_loading.create(dataset=version.dataset, number=2)
    address = reverse("export_version", args=[version.dataset.uuid, 2])
    assert bobs.get(address).status_code == 404


def test_an_output_set_is_offered_where_it_is_listed(bobs: Client, run: Run) -> None:
    dataset = run.output_set.version.dataset
    page = bobs.get(reverse("dataset_outputs", args=[dataset.uuid])).text
    address = reverse("export_outputs", args=[run.output_set.uuid])
    assert f"{address}?format=csv" in links_of(page)
    rows = rows_of(bobs.get(address))
    assert [(row["key"], row["output"], row["error"]) for row in rows] == [
        ("case-1", "yes", ""),
        ("case-2", "yet", ""),
        ("case-3", "no", ""),
        ("case-4", None, "failed"),
    ]


@pytest.mark.parametrize("state", [OutputSetState.LOADING, OutputSetState.GENERATING])
def test_an_output_set_that_is_not_whole_is_not_there(
    bobs: Client, run: Run, state: OutputSetState
) -> None:
    OutputSet.objects.update(state=state)
    assert bobs.get(reverse("export_outputs", args=[run.output_set.uuid])).status_code == 404


def test_the_menu_costs_few_queries(bobs: Client, make_set: MakeSet) -> None:
    run = finished_run(make_set(["yes"] * 3), CLOSE, EXACT)
    with CaptureQueriesContext(connection) as seen:
        assert links_of(bobs.get(url(run)).text)
    assert len(seen) <= 19
