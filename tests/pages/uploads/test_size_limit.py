"""A form of which a part is missing is refused, and nothing of it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import Upload
from tests.support.undone import undone
from tests.test_server import HEAD, START, Send, answer_to, form

__all__ = ["answer_to"]


def test_a_length_that_announces_less_than_comes_leaves_no_half_file(
    browser: Client, spool: Path, subtests: pytest.Subtests
) -> None:
    """Of what comes, no more is read than was announced: a part of the file."""
    cases: list[int] = [20, 60, 100, 130, 300, 90_000, 400_140]
    for told in cases:
        with subtests.test(told=told), undone():
            fields = START % b"kind" + b"\r\n\r\ndataset\r\n"
            file = START % b"file" + b'; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'
            body = fields + file + b"id,input\n" + b"3,c\n" * 100_000 + b"\r\n--x--\r\n"
            answer = browser.generic(
                *("POST", reverse("new_upload", args=["support"]), body),
                content_type="multipart/form-data; boundary=x",
                CONTENT_LENGTH=str(told),
            )
            assert answer.status_code == 400
            assert "This request ended too early" in answer.text
            assert "<code>broken_multipart</code>" in answer.text
            assert list(spool.iterdir()) == []
            assert not Upload.objects.exists()


def test_a_form_whose_sender_goes_away_within_it_changes_nothing(
    browser: Client, spool: Path, answer_to: Send, subtests: pytest.Subtests
) -> None:
    """Wherever it ends: within the last boundary, the file, a field or the head of a part."""
    cases: list[int] = [1, 2, 5, 30, 60, 80, 100]
    for cut in cases:
        with subtests.test(cut=cut), undone():
            whole = form(browser, rows=b"1,a", extra=b"\r\n--x--")
            assert answer_to(whole[:-cut], leaves=True) == ""
            assert list(spool.iterdir()) == []
            assert not Upload.objects.exists()


def test_a_plain_form_of_which_a_part_is_missing_changes_nothing(
    browser: Client, answer_to: Send
) -> None:
    """Cut within a field, it would pass for a whole form with a shorter text."""
    form(browser)
    token = browser.cookies["csrftoken"].value
    cookies = "; ".join(f"{name}={each.value}" for name, each in browser.cookies.items())
    body = f"csrfmiddlewaretoken={token}&kind=dataset&dataset_name=A&pasted=id,input%0A1,a".encode()
    length = f"Content-Length: {len(body) + 9}\r\n\r\n"
    url = reverse("new_upload", args=["support"])
    head = HEAD.format(url, cookies, "application/x-www-form-urlencoded", length)
    assert answer_to(head.encode() + body, leaves=True) == ""
    assert not Upload.objects.exists()


def test_a_form_without_any_field_is_no_question_for_one(browser: Client) -> None:
    answer = browser.post(reverse("new_upload", args=["support"]))
    assert answer.status_code == 422
    assert "Choose a file, or paste rows." in answer.text


def test_what_follows_the_last_boundary_is_no_matter(browser: Client) -> None:
    fields = (
        START % b"kind" + b"\r\n\r\ndataset\r\n" + START % b"pasted" + b"\r\n\r\nid,input\r\n1,a"
    )
    answer = browser.post(
        reverse("new_upload", args=["support"]),
        fields + b"\r\n--x--\r\nan epilogue\r\n",
        content_type="multipart/form-data; boundary=x",
    )
    assert answer.status_code == 302
