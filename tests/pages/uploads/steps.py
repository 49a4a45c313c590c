"""The steps of an upload as a person takes them, and the worker's between them."""

from __future__ import annotations

from typing import Any, Final

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from scoring.engine import imports
from scoring.models import Upload, UploadState

CSV: Final = b"id,question,gold,answer,weird\r\na,1+1?,2,2,<b>\r\nb,2+2?,4,five,\r\n"


def send(browser: Client, rows: bytes | str = CSV, name: str = "sums.csv", **more: Any) -> Any:
    content = rows.encode() if isinstance(rows, str) else rows
    given = {"kind": "dataset", "file": SimpleUploadedFile(name, content)} | more
    return browser.post(reverse("new_upload", args=["support"]), given)


def sent(browser: Client, *args: Any, **more: Any) -> Upload:
    """The upload that a file became."""
    answer = send(browser, *args, **more)
    assert answer.status_code == 302, answer.context["form"].errors
    return Upload.objects.latest("pk")


def url_of(upload: Upload, name: str = "upload") -> str:
    return reverse(name, args=[upload.uuid])


def mapped(browser: Client, upload: Upload, **changes: str) -> Any:
    """Submits the mapping as the page shows it, with some columns, or how it is read, changed."""
    page = browser.get(url_of(upload)).context
    form = page["form"]
    given = {field.html_name: field.value() or "" for field in form}
    given |= {field.html_name: field.value() or "" for field in page["reading"]}
    by_label = {field.label: field.html_name for field in (*form, *page["reading"])}
    given |= {by_label[label]: choice for label, choice in changes.items()}
    return browser.post(url_of(upload), given)


def checked(browser: Client, upload: Upload, **changes: str) -> Upload:
    assert mapped(browser, upload, **changes).status_code == 302
    upload.refresh_from_db()
    assert upload.state == UploadState.CHECKING
    imports.check_upload(upload)
    assert upload.state == UploadState.CHECKED
    return upload


def imported(browser: Client, upload: Upload, **given: str) -> Upload:
    browser.post(url_of(upload, "load_upload"), given)
    upload.refresh_from_db()
    assert upload.state == UploadState.LOADING
    imports.import_upload(upload)
    upload.refresh_from_db()
    return upload


def html_of(browser: Client, upload: Upload, **options: Any) -> str:
    """The page, with runs of white space as one space."""
    return " ".join(browser.get(url_of(upload), **options).text.split())
