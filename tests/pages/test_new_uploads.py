"""Choosing a file: who may, what is refused, and under which name it is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evalsite.pages.forms.uploads import CHOOSABLE
from scoring.models import Dataset, DatasetVersion, Team, Upload, UploadState, User
from tests.conftest import MakeDataset
from tests.pages.upload_steps import CSV, checked, html_of, imported, send, sent, url_of

BrowserOf = Callable[[User], Client]


def test_a_stranger_gets_404_and_a_viewer_403_everywhere(
    browser: Client, browser_of: BrowserOf, bob: User, charlie: User
) -> None:
    upload = sent(browser)
    new = reverse("new_upload", args=["support"])
    for user, status in ((charlie, 404), (bob, 403)):
        other = browser_of(user)
        assert other.get(new).status_code == status
        assert send(other).status_code == status
        assert other.get(url_of(upload)).status_code == status
        for name in ("upload", "load_upload", "cancel_upload"):
            assert other.post(url_of(upload, name)).status_code == status, name
    assert Upload.objects.count() == 1


def test_a_script_that_sent_a_file_is_led_on(browser: Client) -> None:
    url, script = (
        reverse("new_upload", args=["support"]),
        {"HX-Request": "true", "HX-Target": "main"},
    )
    given = {"kind": "dataset", "pasted": "id,input\n1,a\n", "dataset_name": "Pasted"}
    answer = browser.post(url, given, headers=script)
    assert answer["Location"] == url_of(Upload.objects.get())
    refused = browser.post(url, {"kind": "dataset"}, headers=script)
    assert refused.status_code == 422
    assert '<main class="page" id="main"' in refused.text


def test_pasted_rows_keep_the_line_ends_that_the_field_shows(browser: Client) -> None:
    """Browsers send each of them as CR LF, those within a cell, too."""
    pasted = 'id,input\r\n1,"a\r\n\r\nb"\r\n'
    url = reverse("new_upload", args=["support"])
    browser.post(url, {"kind": "dataset", "pasted": pasted, "dataset_name": "Pasted"})
    page = browser.get(url_of(Upload.objects.get()))
    assert page.context["preview"].rows[0][1]["input"] == "a\n\nb"


def test_neither_a_file_nor_rows_says_what_may_be_given(browser: Client) -> None:
    answer = browser.post(reverse("new_upload", args=["support"]), {"kind": "dataset"})
    assert "Choose a file, or paste rows." in answer.text


def test_nobody_anonymous_uploads(client: Client, browser: Client) -> None:
    upload = sent(browser)
    for answer in (send(client), client.get(url_of(upload)), client.post(url_of(upload))):
        assert answer["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("name", ["load_upload", "cancel_upload"])
def test_what_changes_an_upload_is_posted(browser: Client, name: str) -> None:
    assert browser.get(url_of(sent(browser), name)).status_code == 405


def test_another_teams_dataset_cannot_be_chosen(
    browser: Client, charlie: User, make_dataset: MakeDataset
) -> None:
    version = make_dataset([{"input": "1"}])
    Dataset.objects.filter(pk=version.dataset_id).update(team=Team.objects.get(slug="elsewhere"))
    answer = send(browser, dataset=str(version.dataset.uuid))
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == ["dataset"]


def test_the_form_starts_with_what_the_link_said(
    browser: Client, make_dataset: MakeDataset
) -> None:
    dataset = make_dataset([{"input": "1"}]).dataset
    url = reverse("new_upload", args=["support"])
    html = browser.get(url, {"dataset": str(dataset.uuid), "kind": "outputs"}).content.decode()
    assert f'<option value="{dataset.uuid}" selected>' in html
    (chosen,) = re.findall(r'<input type="radio"[^>]*checked[^>]*>', html)
    assert 'value="outputs"' in chosen


@pytest.mark.parametrize(
    ("file_name", "given", "expected"),
    [
        ("sums.csv", "", "sums"),
        ("sums.v2.jsonl", "", "sums.v2"),
        ("sums.csv", "My sums", "My sums"),
        (".csv", "", ".csv"),
    ],
)
def test_a_dataset_is_named_by_hand_or_by_its_file(
    browser: Client, file_name: str, given: str, expected: str
) -> None:
    assert sent(browser, name=file_name, dataset_name=given).dataset_name == expected


def test_pasted_rows_are_as_good_as_a_file(browser: Client) -> None:
    url = reverse("new_upload", args=["support"])
    rows = "id\tquestion\tgold\r\na\t 1 + 1 ?\t2\r\n"
    browser.post(url, {"kind": "dataset", "pasted": rows, "dataset_name": "Pasted"})
    upload = imported(browser, checked(browser, Upload.objects.get()))
    case = DatasetVersion.objects.get().cases.get()
    assert upload.state == UploadState.DONE
    assert (case.key, case.input, case.expected) == ("a", " 1 + 1 ?", "2")


@pytest.mark.parametrize(
    ("rows", "facts", "choices"),
    [
        ("id\tinput\n1\ta\n", "columns parted by a tab", CHOOSABLE["csv"]),
        ("1;a b c\n2;d e f\n", "no header", CHOOSABLE["csv"]),
        ('{"id": 1, "input": "a"}\n', "JSONL", CHOOSABLE["jsonl"]),
        ('[{"id": 1, "input": "a"}]', "JSON", CHOOSABLE["json"]),
    ],
)
def test_pasted_rows_can_be_read_otherwise_as_files_can(
    browser: Client, rows: str, facts: str, choices: tuple[str, ...]
) -> None:
    url = reverse("new_upload", args=["support"])
    browser.post(url, {"kind": "dataset", "pasted": rows, "dataset_name": "Pasted"})
    page = browser.get(url_of(Upload.objects.get()))
    assert f"<li>{facts}</li>" in page.text
    assert {field.name for field in page.context["reading"]} == {*choices}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"file": ""}, "file"),
        ({"pasted": "id,input\n1,x"}, "file"),
        ({"kind": "outputs"}, "dataset"),
        ({"kind": "else"}, "kind"),
        ({"dataset_name": "Answers"}, "dataset_name"),
        ({"dataset_name": "x" * 121}, "dataset_name"),
        ({"dated": "yesterday"}, "dated"),
    ],
)
def test_what_cannot_be_used_comes_back_with_its_field(
    browser: Client, make_dataset: MakeDataset, spool: Path, given: dict[str, str], field: str
) -> None:
    make_dataset([{"input": "1"}], name="Answers")
    answer = send(browser, **given)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not Upload.objects.exists()
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize(
    ("rows", "name", "code"),
    [
        (b"", "nothing.csv", "empty_file"),
        (b"\x89PNG\r\n\x1a\n....", "picture.csv", "type_mismatch"),
    ],
)
def test_a_file_beyond_help_is_refused_with_its_code(
    browser: Client, spool: Path, rows: bytes, name: str, code: str
) -> None:
    answer = send(browser, rows, name)
    assert answer.status_code == 422
    assert f"({code})" in answer.content.decode()
    assert not Upload.objects.exists()
    assert list(spool.iterdir()) == []


def test_a_file_over_the_limit_is_413_and_nothing_is_left_of_it(
    browser: Client, settings: Settings, spool: Path
) -> None:
    settings.EVALSITE_MAX_UPLOAD_BYTES = len(CSV)
    answer = send(browser, CSV + b"c,3+3?,6,6,\r\n" * 20_000)
    assert answer.status_code == 413
    assert "The file is too large" in answer.content.decode()
    assert list(spool.iterdir()) == []
    assert send(browser, CSV).status_code == 302


@pytest.mark.parametrize("name", ["../../etc/passwd.csv", "<script>.csv", "a" * 250 + ".csv"])
def test_a_hostile_file_name_is_only_shown(browser: Client, spool: Path, name: str) -> None:
    upload = sent(browser, name=name, dataset_name="d")
    assert [path.name for path in spool.iterdir()] == [upload.spool_name]
    assert "<script>.csv" not in html_of(browser, upload)
