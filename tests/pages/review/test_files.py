"""Reviews are imported from a file and exported on a page of the run."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from scoring.engine.review.feedback import give_review
from scoring.engine.review.review_import import import_reviews
from scoring.models import Output, Review, ReviewQueue, ReviewTask, ReviewVerdict, Run, User
from tests.support.undone import undone

HEAD = "key,reviewer,verdict,note\n"


def address(run: Run) -> str:
    return reverse("run_reviews", args=[run.uuid])


def send(browser: Client, run: Run, rows: str, **more: str) -> Any:
    file = SimpleUploadedFile("w46.csv", (HEAD + rows).encode())
    return browser.post(address(run), {"file": file, **more})


def test_a_file_is_imported_and_what_it_held_is_shown(browser: Client, run: Run) -> None:
    page = send(browser, run, "case-1,Jo,pass,\ncase-99,<b>,fail,\n")
    assert page.status_code == 200
    assert "1 review imported." in page.text
    assert "1 unmatched" in page.text
    assert "case-99" in page.text
    assert "&lt;b&gt;" in page.text
    assert Review.objects.get().reviewer_name == "Jo"
    assert "Nothing changed." in send(browser, run, "case-1,Jo,pass,\n").text


def test_a_review_given_here_is_listed_as_kept(browser: Client, run: Run, alice: User) -> None:
    output = Output.objects.get(output_set=run.output_set, case__position=1)
    give_review(run, output, ReviewVerdict.FAIL, by=alice)
    page = send(browser, run, "case-1,alice@example.org,pass,\n").text
    assert "Kept: the member gave another review on this site" in page
    assert Review.objects.get().verdict == ReviewVerdict.FAIL


def test_a_preview_stores_nothing(browser: Client, run: Run) -> None:
    page = send(browser, run, "case-1,Jo,pass,\n", preview="on").text
    assert "nothing is stored yet" in page
    assert "1 new" in page
    assert not Review.objects.exists()


def test_problems_are_listed_and_nothing_is_stored(browser: Client, run: Run) -> None:
    page = send(browser, run, "case-1,Jo,pass,\ncase-2,Jo,maybe,\n")
    assert page.status_code == 422
    assert "<code>unknown_verdict</code>" in page.text
    assert "“maybe” is no verdict." in page.text
    assert not Review.objects.exists()


def test_the_default_reviewer_is_taken_where_a_row_names_none(browser: Client, run: Run) -> None:
    send(browser, run, "case-1,,pass,\n", reviewer="Jo")
    assert Review.objects.get().reviewer_name == "Jo"


def test_without_a_file_the_form_says_so(browser: Client, run: Run) -> None:
    page = browser.post(address(run), {})
    assert page.status_code == 422
    assert "This field is required." in page.text


def test_editors_alone_import(ritas: Client, run: Run) -> None:
    assert "Import reviews" not in ritas.get(address(run)).text
    assert send(ritas, run, "case-1,Jo,pass,\n").status_code == 403


def test_editors_export_the_reviews_of_everybody(
    browser: Client, run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["csv", "jsonl", "json"]
    for file_format in cases:
        with subtests.test(file_format=file_format), undone():
            send(browser, run, "case-1,Jo,pass,told\n")
            url = reverse("export_run_reviews", args=[run.uuid])
            answer = browser.get(url, {"format": file_format})
            assert answer.headers["X-Row-Count"] == "1"
            assert b"told" in b"".join(answer.streaming_content)


def test_reviewers_export_others_reviews_after_their_own(
    ritas: Client, rita: User, run: Run
) -> None:
    rows = [{"key": f"case-{n}", "reviewer": "Jo", "verdict": "fail"} for n in (1, 2)]
    import_reviews(run, rows, by=None)
    page = ritas.get(address(run)).text
    assert "There are no reviews to export." in page
    assert "2 are left out" in page
    output = Output.objects.get(output_set=run.output_set, case__position=1)
    give_review(run, output, ReviewVerdict.FAIL, by=rita)
    assert "2 reviews to export." in ritas.get(address(run)).text
    lines = b"".join(ritas.get(reverse("export_run_reviews", args=[run.uuid])).streaming_content)
    assert b"case-2" not in lines
    assert lines.count(b'"case-1"') == 2


def test_editors_do_not_export_what_they_are_yet_to_review(
    browser: Client, run: Run, queue: ReviewQueue
) -> None:
    rows = [{"key": f"case-{n}", "reviewer": "Jo", "verdict": "fail"} for n in (1, 2)]
    import_reviews(run, rows, by=None)
    task = queue.tasks.get(output__case__position=1)
    ReviewTask.objects.filter(pk=task.pk).update(
        reviewer=User.objects.get(email="erin@example.org")
    )
    page = browser.get(address(run)).text
    assert "1 review to export." in page
    assert "1 is left out" in page
    lines = b"".join(browser.get(reverse("export_run_reviews", args=[run.uuid])).streaming_content)
    assert b'"case-1"' not in lines


def test_a_file_that_cannot_be_read_is_no_row(browser: Client, run: Run) -> None:
    file = SimpleUploadedFile("w46.csv", b"")
    page = " ".join(browser.post(address(run), {"file": file}).text.split())
    assert "Nothing was imported: the file cannot be read." in page
    assert "The file is empty." in page
    page = " ".join(send(browser, run, "case-1,Jo,maybe,\n").text.split())
    assert "Nothing was imported: 1 row cannot be read." in page
