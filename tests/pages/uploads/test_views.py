"""A file on its way in through the pages: mapped, checked, imported or given up."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from evalsite.pages.uploads.sample import sample_csv
from scoring.engine import imports
from scoring.engine.jobs import lease
from scoring.engine.runs.progress import NO_WORKER
from scoring.models import (
    Dataset,
    DatasetVersion,
    Output,
    OutputSet,
    Team,
    Upload,
    UploadState,
    Worker,
)
from tests.conftest import MakeDataset
from tests.pages.runs.steps import with_code
from tests.pages.uploads.steps import CSV, checked, html_of, imported, mapped, sent, url_of
from tests.support.undone import undone

MAX_QUERIES = 12
HTMX = {"HX-Request": "true", "HX-Target": "upload"}


# Mapping


def test_the_page_shows_what_was_detected_and_guessed(browser: Client) -> None:
    html = html_of(browser, sent(browser))
    assert "columns parted by a comma" in html
    assert "UTF-8" in html
    assert "5 columns" in html
    assert "&lt;b&gt;" in html
    chosen = {
        field.label: field.value()
        for field, *_ in browser.get(url_of(Upload.objects.get())).context["form"].rows()
    }
    assert chosen == {
        "id": "id",
        "question": "input",
        "gold": "expected",
        "answer": "output",
        "weird": "",
    }


def test_the_mapping_is_taken_as_it_is_chosen(browser: Client) -> None:
    upload = checked(browser, sent(browser), id="", weird="tags", answer="drop")
    assert upload.mapping["input"] == ["question"]
    assert upload.mapping["tags"] == ["weird"]
    assert upload.mapping["drop"] == ["answer"]
    assert "id" not in upload.mapping
    assert "output" not in upload.mapping


def test_a_field_cannot_be_two_columns(browser: Client) -> None:
    answer = mapped(browser, sent(browser), gold="input")
    assert answer.status_code == 422
    assert "“question” is the input already" in answer.content.decode()


def test_a_file_without_an_input_is_told_so(browser: Client) -> None:
    answer = mapped(browser, sent(browser), question="", id="")
    assert answer.status_code == 422
    assert "missing_column" in answer.content.decode()
    assert Upload.objects.get().state == UploadState.RECEIVED


def test_an_encoding_and_a_delimiter_can_be_chosen(browser: Client) -> None:
    rows = "id;question\n1;Größe, bitte?\n".encode("cp1252")
    upload = sent(browser, rows)
    assert "encoding" in html_of(browser, upload)
    read = browser.get(url_of(upload), {"encoding": "cp1252", "delimiter": ";"})
    assert "Größe, bitte?" in read.content.decode()
    given = {"encoding": "cp1252", "delimiter": ";", "column-0": "id", "column-1": "input"}
    assert browser.post(url_of(upload), given).status_code == 302
    upload.refresh_from_db()
    imports.check_upload(upload)
    assert "<li>Windows-1252</li>" in html_of(browser, upload)
    imported(browser, upload)
    assert DatasetVersion.objects.get().cases.get().input == "Größe, bitte?"


def test_the_choices_say_how_the_file_was_read_before_and_after_the_check(
    browser: Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str, str]] = [
        ("utf-8", "UTF-8", "utf-8"),
        ("utf-16", "UTF-16, little-endian", "utf-16-le"),
        ("utf-32", "UTF-32-LE", ""),  # not on the list, so left to the guess
        ("latin-1", "Latin-1", "iso8859-1"),
    ]
    for encoding, spoken, chosen in cases:
        with subtests.test(encoding=encoding, spoken=spoken, chosen=chosen), undone():
            upload = sent(browser, "id\tquestion\n1\tGröße\n".encode(encoding))
            asked = {"encoding": chosen} if encoding == "latin-1" else {}
            page = browser.get(url_of(upload), asked)
            given = {"encoding": chosen, "delimiter": "tab", "column-0": "id", "column-1": "input"}
            assert browser.post(url_of(upload), given).status_code == 302
            upload.refresh_from_db()
            imports.check_upload(upload)
            for answer in (page, browser.get(url_of(upload))):
                assert f"<li>{spoken}</li>" in answer.text
                reading = answer.context["reading"]
                assert (reading["encoding"].value(), reading["delimiter"].value()) == (
                    chosen,
                    "tab",
                )
                assert "Größe" in answer.text


def test_an_unknown_way_of_reading_is_left_to_the_guess(
    browser: Client, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["?encoding=klingon", "?delimiter=%22x", "?else=1"]
    for query in cases:
        with subtests.test(query=query), undone():
            answer = browser.get(url_of(sent(browser)) + query)
            assert len(answer.context["preview"].detected.columns) == 5


def test_a_file_that_cannot_be_previewed_says_why_and_can_be_read_otherwise(
    browser: Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[bytes, str, str]] = [
        (b"\n \n", "", "no_rows"),
        (b"id,id\n1,2\n", "", "duplicate_column"),
        (b"id,\n1,2\n", "", "empty_column_name"),
        (CSV, "?encoding=utf-16-le", "encoding"),
        (b"id,input\n1,\xff\n", "", "encoding"),
    ]
    for rows, query, code in cases:
        with subtests.test(rows=rows, query=query, code=code), undone():
            upload = sent(browser, rows)
            answer = browser.get(url_of(upload) + query)
            assert answer.status_code == 200
            assert f"<code>{code}</code>" in answer.content.decode()
            assert "Read again" in answer.content.decode()


def test_the_columns_of_an_unreadable_file_cannot_be_mapped(browser: Client) -> None:
    upload = sent(browser, b"id,id\n1,2\n")
    assert browser.post(url_of(upload), {"column-0": "input"}).status_code == 422
    upload.refresh_from_db()
    assert upload.state == UploadState.RECEIVED


def test_a_mapping_sent_twice_is_checked_once(browser: Client) -> None:
    upload = sent(browser)
    given = {"column-0": "id", "column-1": "input"}
    assert browser.post(url_of(upload), given).status_code == 302
    assert browser.post(url_of(upload), given | {"column-1": "drop"}).status_code == 200
    upload.refresh_from_db()
    assert upload.mapping["input"] == ["question"]


def test_a_file_that_vanished_says_so(browser: Client, spool: Path) -> None:
    upload = sent(browser)
    (spool / upload.stored_name).unlink()
    assert "file_gone" in html_of(browser, upload)


# Report


def test_the_report_names_line_column_and_code(browser: Client) -> None:
    rows = "id,question\na,1\na,2\nb\nc,3\n"
    upload = checked(browser, sent(browser, rows))
    html = html_of(browser, upload)
    for text in ("duplicate_case", "row_width", "Leave out the 2 rows with problems"):
        assert text in html
    assert upload.problem_count == 2


def test_an_import_with_problems_needs_a_tick(browser: Client) -> None:
    upload = checked(browser, sent(browser, "id,question\na,1\na,2\n"))
    answer = browser.post(url_of(upload, "load_upload"), follow=True)
    assert "Some rows have problems" in answer.content.decode()
    upload.refresh_from_db()
    assert upload.state == UploadState.CHECKED
    imported(browser, upload, skip_bad_rows="on")
    version = DatasetVersion.objects.get()
    assert (version.case_count, version.skipped_rows) == (1, 1)
    dataset = browser.get(reverse("dataset", args=[version.dataset.uuid])).content.decode()
    assert "1 row of the file skipped" in dataset


def test_a_file_that_breaks_off_cannot_be_imported(browser: Client) -> None:
    upload = checked(browser, sent(browser, 'id,question\na,1\nb,"open\n'))
    html = html_of(browser, upload)
    assert "unclosed_quote" in html
    assert "cannot be read to its end" in html
    assert url_of(upload, "load_upload") not in html
    browser.post(url_of(upload, "load_upload"), {"skip_bad_rows": "on"})
    upload.refresh_from_db()
    assert upload.state == UploadState.CHECKED


def test_the_same_cases_twice_are_recognised(browser: Client, team: Team) -> None:
    rows = "id,question\na,1\n"
    imported(browser, checked(browser, sent(browser, rows)))
    dataset = team.datasets.get()
    again = checked(browser, sent(browser, rows, dataset=str(dataset.uuid)))
    html = html_of(browser, again)
    assert "identical to version 1" in html
    assert url_of(again, "load_upload") not in html


def test_outputs_go_to_the_cases_they_answer(browser: Client, make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "a", "input": "1"}, {"key": "b", "input": "2"}])
    more = {"kind": "outputs", "dataset": str(version.dataset.uuid), "series": "gpt-4o"}
    upload = sent(browser, "id,output\na,x\nzzz,y\n", dated="2016-11-02T08:00", **more)
    html = html_of(browser, checked(browser, upload))
    assert "Rows of no known case" in html
    assert "zzz" in html
    imported(browser, upload)
    made = OutputSet.objects.get()
    assert (made.series, made.output_count, made.version) == ("gpt-4o", 1, version)
    assert made.dated.isoformat() == "2016-11-02T08:00:00+00:00"
    assert Output.objects.get().text == "x"


# Import


@pytest.fixture
def going(browser: Client) -> Upload:
    """An upload of cases alone whose import waits for a worker."""
    upload = checked(browser, sent(browser), answer="")
    browser.post(url_of(upload, "load_upload"))
    upload.refresh_from_db()
    return upload


def test_an_import_that_is_nearly_done_takes_no_0_seconds(browser: Client, going: Upload) -> None:
    Upload.objects.update(row_count=1, rows_a_second=10, seconds_left=0.2)
    assert "about 1 s left" in html_of(browser, going, headers=HTMX)


def test_an_import_shows_its_progress_and_asks_again(browser: Client, going: Upload) -> None:
    Upload.objects.update(row_count=1, rows_a_second=1_234.5, seconds_left=42.3)
    html = html_of(browser, going, headers=HTMX)
    assert html.lstrip().startswith('<div id="upload" hx-get=')
    assert "<html" not in html
    assert 'max="2" value="1"' in html
    assert "1 of 2 rows imported" in html
    assert "1,234 a second, about 42 s left" in html
    assert "Waiting for the worker" in html
    whole = html_of(browser, going)
    assert "Refresh</a>" in whole


def test_an_import_that_nobody_works_on_says_why(browser: Client, going: Upload) -> None:
    assert with_code(NO_WORKER) in html_of(browser, going)
    now = timezone.now()
    Worker.objects.create(name=lease.own_name(), started_at=now, seen_at=now)
    assert with_code(NO_WORKER) not in html_of(browser, going)


def test_a_finished_import_leads_to_the_dataset(browser: Client, going: Upload) -> None:
    imports.import_upload(going)
    going.refresh_from_db()
    onwards = browser.get(url_of(going), headers=HTMX)
    dataset = reverse("dataset", args=[Dataset.objects.get().uuid])
    told = json.loads(onwards["HX-Location"])
    assert (told["path"], told["target"], told["select"]) == (dataset, "#main", "#main")
    assert "sums.csv is imported." in browser.get(dataset).content.decode()
    html = html_of(browser, going)
    assert "All 2 cases are in, as version 1" in html
    assert "hx-trigger" not in html


def test_imported_outputs_are_offered_to_be_scored(
    browser: Client, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"key": "a", "input": "1"}])
    more = {"kind": "outputs", "dataset": str(version.dataset.uuid), "series": "gpt-4o"}
    upload = imported(browser, checked(browser, sent(browser, "id,output\na,x\n", **more)))
    answer = browser.get(url_of(upload), headers=HTMX)
    assert "HX-Location" not in answer
    assert answer.content.lstrip().startswith(b'<div id="upload">')
    run_url = f"{reverse('new_run', args=[version.dataset.uuid])}?outputs="
    found = re.findall(
        rf'href="{re.escape(run_url)}([^"]+)">([^<]+)<', " ".join(answer.text.split())
    )
    assert found == [(str(OutputSet.objects.get().uuid), "Score these outputs")]
    page = browser.get(run_url + found[0][0])
    assert page.context["form"]["outputs"].value() == found[0][0]


@pytest.mark.parametrize("again", [False, True])
def test_each_of_several_output_sets_is_offered(browser: Client, again: bool) -> None:
    """The very sets of the file, also where an earlier upload had brought them already."""
    upload = imported(browser, checked(browser, sent(browser, sample_csv())))
    older = [str(found.uuid) for found in OutputSet.objects.order_by("id")]
    if again:
        dataset = str(Dataset.objects.get().uuid)
        upload = imported(browser, checked(browser, sent(browser, sample_csv(), dataset=dataset)))
        assert OutputSet.objects.count() == len(older)
    html = html_of(browser, upload)
    offered = re.findall(r'outputs=([^"]+)">Score<span class="visually-hidden"> ([^<]+)<', html)
    assert offered == list(zip(older, ["small model", "large model"], strict=True))


@pytest.mark.parametrize("count", [2, 30])
def test_offering_sets_costs_the_same_however_many_there_are(
    browser: Client, django_assert_max_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    columns = ",".join(f"m{number} output" for number in range(count))
    upload = imported(
        browser, checked(browser, sent(browser, f"id,input,{columns}\n1,a{',b' * count}\n"))
    )
    with django_assert_max_num_queries(MAX_QUERIES):
        assert html_of(browser, upload).count(">Score<") == count


def test_a_cancelled_import_leaves_nothing(browser: Client, going: Upload, spool: Path) -> None:
    browser.post(url_of(going, "cancel_upload"))
    imports.import_upload(going)
    assert list(spool.iterdir()) == []
    assert not Dataset.objects.exists()
    html = html_of(browser, going)
    assert "was cancelled" in html
    again = browser.post(url_of(going, "cancel_upload"), follow=True)
    assert "had ended already" in again.content.decode()


def test_a_failed_import_says_what_went_wrong(browser: Client, going: Upload, spool: Path) -> None:
    (spool / going.stored_name).write_bytes(b"id,question\na,1\na,2\n")
    imports.import_upload(going)
    html = html_of(browser, going)
    assert "Nothing of this file was stored" in html
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("count", [1, 50])
def test_a_page_costs_the_same_however_many_there_are(
    browser: Client,
    make_dataset: MakeDataset,
    django_assert_max_num_queries: DjangoAssertNumQueries,
    count: int,
) -> None:
    for number in range(count):
        make_dataset([{"input": "1"}], name=f"dataset {number}")
    columns = ",".join(f"c{number}" for number in range(count))
    upload = checked(browser, sent(browser, f"id,input,{columns}\n" + "x,\n" * count))
    for url in (reverse("new_upload", args=["support"]), url_of(upload)):
        with django_assert_max_num_queries(MAX_QUERIES):
            assert browser.get(url).status_code == 200
