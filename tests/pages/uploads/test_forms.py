"""Choosing a file: who may, what is refused, and under which name it is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from evalsite.pages.uploads import forms
from evalsite.pages.uploads.forms import CHOOSABLE
from scoring.models import Dataset, DatasetVersion, Team, Upload, UploadState, User
from tests.conftest import MakeDataset
from tests.pages.uploads.steps import CSV, checked, html_of, imported, send, sent, url_of
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]


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


def test_pasted_rows_are_measured_in_bytes(
    browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MAX_PASTED", 20)
    for text, status in (("é" * 4, 302), ("é" * 5, 422)):  # 19 and 21 bytes
        assert send(browser, file="", pasted=f"id,input\n1,{text}").status_code == status


def test_a_file_of_one_byte_too_many_is_413(browser: Client, settings: Settings) -> None:
    settings.EVALSITE_MAX_UPLOAD_BYTES = len(CSV) - 1
    assert send(browser, CSV).status_code == 413


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


def test_a_dataset_is_named_by_hand_or_by_its_file(
    browser: Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str, str]] = [
        ("sums.csv", "", "sums"),
        ("sums.v2.jsonl", "", "sums.v2"),
        ("sums.csv", "My sums", "My sums"),
        (".csv", "", ".csv"),
    ]
    for file_name, given, expected in cases:
        with subtests.test(file_name=file_name, given=given, expected=expected), undone():
            assert sent(browser, name=file_name, dataset_name=given).dataset_name == expected


def test_pasted_rows_are_as_good_as_a_file(browser: Client) -> None:
    url = reverse("new_upload", args=["support"])
    rows = "id\tquestion\tgold\r\na\t 1 + 1 ?\t2\r\n"
    browser.post(url, {"kind": "dataset", "pasted": rows, "dataset_name": "Pasted"})
    upload = imported(browser, checked(browser, Upload.objects.get()))
    case = DatasetVersion.objects.get().cases.get()
    assert upload.state == UploadState.DONE
    assert (case.key, case.input, case.expected) == ("a", " 1 + 1 ?", "2")


def test_pasted_rows_can_be_read_otherwise_as_files_can(
    browser: Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str, tuple[str, ...]]] = [
        ("id\tinput\n1\ta\n", "columns parted by a tab", CHOOSABLE["csv"]),
        ("1;a b c\n2;d e f\n", "no header", CHOOSABLE["csv"]),
        ('{"id": 1, "input": "a"}\n', "JSONL", CHOOSABLE["jsonl"]),
        ('[{"id": 1, "input": "a"}]', "JSON", CHOOSABLE["json"]),
    ]
    for rows, facts, choices in cases:
        with subtests.test(rows=rows, facts=facts, choices=choices), undone():
            url = reverse("new_upload", args=["support"])
            browser.post(url, {"kind": "dataset", "pasted": rows, "dataset_name": "Pasted"})
            page = browser.get(url_of(Upload.objects.get()))
            assert f"<li>{facts}</li>" in page.text
            assert {field.name for field in page.context["reading"]} == {*choices}


def test_what_cannot_be_used_comes_back_with_its_field(
    browser: Client, make_dataset: MakeDataset, spool: Path, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"file": ""}, "file"),
        ({"pasted": "id,input\n1,x"}, "file"),
        ({"kind": "outputs"}, "dataset"),
        ({"kind": "else"}, "kind"),
        ({"dataset_name": "Answers"}, "dataset_name"),
        ({"dataset_name": "x" * 121}, "dataset_name"),
        ({"dated": "yesterday"}, "dated"),
        ({"dated": "2262-11-20T10:00"}, "dated"),
    ]
    for given, field in cases:
        with subtests.test(given=given, field=field), undone():
            make_dataset([{"input": "1"}], name="Answers")
            answer = send(browser, **given)
            assert answer.status_code == 422
            assert list(answer.context["form"].errors) == [field]
            assert not Upload.objects.exists()
            assert list(spool.iterdir()) == []


def test_a_date_in_the_future_can_be_meant(browser: Client, spool: Path) -> None:
    refused = send(browser, dated="2262-11-20T10:00")
    assert 'name="allow_future_date"' in refused.text
    assert send(browser, dated="2262-11-20T10:00", allow_future_date="on").status_code == 302
    assert Upload.objects.get().dated.year == 2262


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
    assert [path.name for path in spool.iterdir()] == [upload.stored_name]
    assert "<script>.csv" not in html_of(browser, upload)
