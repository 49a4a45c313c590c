"""What a person sees of a storage of uploaded files that cannot be reached."""

from __future__ import annotations

from pathlib import Path

from django.test import Client

from scoring.engine.processes.process_pool import InlineExecutor
from scoring.engine.worker.upload_runner import UploadRunner
from scoring.models import Upload
from tests.pages.uploads.steps import html_of, mapped, send, sent
from tests.support.fixtures.storages import SharedStorage, s3_server, shared

__all__ = ["s3_server", "shared"]


def test_a_file_that_cannot_be_kept_comes_back_with_the_form(
    browser: Client, shared: SharedStorage, spool: Path
) -> None:
    shared.disappear()
    answer = send(browser)
    assert answer.status_code == 422
    assert "cannot be reached. Try again in a few seconds. (storage_unreachable)" in (
        answer.content.decode()
    )
    assert not Upload.objects.exists()


def test_columns_cannot_be_chosen_without_the_file(
    browser: Client, shared: SharedStorage, spool: Path
) -> None:
    upload = sent(browser)
    (spool / upload.stored_name).unlink()  # it was received by another machine
    shared.disappear()
    page = html_of(browser, upload)
    assert "<code>storage_unreachable</code>" in page
    assert "Try again</a>" in page
    assert "Read again" not in page
    assert "Read the file in another way" not in page
    upload.refresh_from_db()
    assert (upload.state, upload.problems) == ("received", [])


def test_the_page_says_what_the_worker_waits_for(
    browser: Client, worker: None, shared: SharedStorage, spool: Path
) -> None:
    upload = sent(browser)
    assert mapped(browser, upload).status_code == 302
    (spool / upload.stored_name).unlink()
    shared.disappear()
    runner = UploadRunner(InlineExecutor(), lambda: None)
    runner.step()
    runner.step()
    assert "waiting for the storage of files" in html_of(browser, upload).lower()
