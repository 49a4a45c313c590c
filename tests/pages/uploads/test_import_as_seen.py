"""What the page shows is what is imported, and an import can be undone."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from evalsite.pages.web.undo import undo_from_message
from scoring.engine import imports
from scoring.models import Case, Dataset, OutputSet, Upload, UploadState
from tests.conftest import MakeDataset
from tests.pages.uploads.steps import checked, html_of, imported, sent, url_of
from tests.support.run_states import finished_run

ROWS = "id,question,good,said\n1,Who?,Me,You\n2,Why?,So,No\n"


def shown(browser: Client, upload: Upload, **changes: str) -> dict[str, Any]:
    """What Import sends: the form of the columns as the page shows it, with changes by column."""
    page = browser.get(url_of(upload)).context
    given = {field.html_name: field.value() or "" for field in (*page["form"], *page["reading"])}
    by_label = {field.label: field.html_name for field in (*page["form"], *page["reading"])}
    return given | {by_label[label]: choice for label, choice in changes.items()}


def load(browser: Client, upload: Upload, given: dict[str, Any]) -> Any:
    answer = browser.post(url_of(upload, "load_upload"), given, follow=True)
    upload.refresh_from_db()
    return answer


def test_what_was_checked_is_imported(browser: Client) -> None:
    upload = checked(browser, sent(browser, ROWS), good="expected")
    assert 'hx-include="#mapping"' in html_of(browser, upload)
    load(browser, upload, shown(browser, upload))
    assert upload.state == UploadState.LOADING


def test_a_column_changed_after_the_check_is_checked_again_and_not_imported(
    browser: Client,
) -> None:
    upload = checked(browser, sent(browser, ROWS))
    answer = load(browser, upload, shown(browser, upload, good="expected"))
    assert "so the file is checked again. Nothing is imported yet." in answer.text
    assert upload.state == UploadState.CHECKING
    imports.check_upload(upload)
    load(browser, upload, shown(browser, upload))
    imports.import_upload(upload)
    assert [case.expected for case in Case.objects.order_by("position")] == ["Me", "So"]


def test_another_way_of_reading_is_checked_again_too(browser: Client) -> None:
    upload = checked(browser, sent(browser, ROWS))
    load(browser, upload, shown(browser, upload, **{"Lines to skip": "1"}))
    assert upload.state in (UploadState.CHECKING, UploadState.CHECKED)
    assert not Case.objects.exists()


def test_while_columns_are_chosen_the_page_says_what_they_give(browser: Client) -> None:
    upload = sent(browser, ROWS)
    given = shown(browser, upload, good="expected", said="output") | {"only-slots": "1"}
    answer = browser.post(url_of(upload), given)
    assert answer.status_code == 200
    for text in ("input ✓ question", "expected ✓ good", "output ✓ said"):
        assert f"<li>{text}</li>" in answer.text
    upload.refresh_from_db()
    assert upload.state == UploadState.RECEIVED


def test_columns_that_cannot_be_meant_are_said_and_nothing_is_imported(browser: Client) -> None:
    upload = checked(browser, sent(browser, ROWS))
    answer = load(browser, upload, shown(browser, upload, good="input"))
    assert answer.status_code == 422
    assert "is the input already. Choose one." in answer.text
    assert upload.state == UploadState.CHECKED


def test_a_column_that_is_needed_and_taken_away_is_said_and_nothing_is_imported(
    browser: Client, make_dataset: MakeDataset
) -> None:
    dataset = make_dataset([{"key": "1"}, {"key": "2"}]).dataset
    more = {"kind": "outputs", "dataset": str(dataset.uuid)}
    upload = checked(browser, sent(browser, "id,output\n1,a\n2,b\n", **more))
    answer = load(browser, upload, shown(browser, upload, output=""))
    assert answer.status_code == 422
    assert "Needed column: one for output." in answer.text
    assert upload.state == UploadState.CHECKED
    assert not OutputSet.objects.exists()


def test_an_import_is_undone_on_the_page_of_the_upload(browser: Client) -> None:
    upload = imported(browser, checked(browser, sent(browser, ROWS), said="output"))
    assert "Undo import" in html_of(browser, upload)
    answer = browser.post(reverse("undo_upload", args=[upload.uuid]), follow=True)
    assert "This import was undone." in answer.text
    assert not Dataset.objects.published().exists()
    assert "Undo import" not in html_of(browser, upload)


def test_an_import_is_undone_by_the_message_that_tells_of_it(browser: Client) -> None:
    upload = checked(browser, sent(browser, "id,question\n1,Who?\n"))
    load(browser, upload, {})
    imports.import_upload(upload)
    polled = browser.get(url_of(upload), headers={"HX-Request": "true", "HX-Target": "upload"})
    assert polled.status_code == 200
    dataset = Dataset.objects.get()
    (message,) = browser.get(reverse("dataset", args=[dataset.uuid])).context["messages"]
    found = undo_from_message(message)
    assert found is not None
    browser.post(found.path, found.fields)
    assert not Dataset.objects.published().exists()


def test_a_dataset_offers_to_undo_its_recent_imports(browser: Client) -> None:
    upload = imported(browser, checked(browser, sent(browser, ROWS), said="output"))
    dataset = Dataset.objects.get()
    for name in ("dataset_versions", "dataset_outputs"):
        page = browser.get(reverse(name, args=[dataset.uuid])).text
        assert reverse("undo_upload", args=[upload.uuid]) in page
    finished_run(OutputSet.objects.get())
    page = browser.get(reverse("dataset_versions", args=[dataset.uuid])).text
    assert "Undo import" not in page
    answer = browser.post(reverse("undo_upload", args=[upload.uuid]), follow=True)
    assert "1 run scores the imported outputs, so they stay." in answer.text
