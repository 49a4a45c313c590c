"""Comments on the page of a case: who writes, edits and deletes them, and what they may hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from scoring.models import AuditEntry, Comment, Member, Output, Role, Run, User
from tests.support.run_states import EXACT, finished_run
from tests.support.undone import undone

BrowserOf = Callable[[User], Client]

HX = {"HX-Request": "true", "HX-Target": "comments"}


@pytest.fixture
def output(run: Run) -> Output:
    return Output.objects.get(output_set=run.output_set, case__position=1)


@pytest.fixture
def comment(run: Run, output: Output, rita: User) -> Comment:
    return Comment.objects.add(run, output, "Is this right?", by=rita)


def case_url(run: Run, query: str = "") -> str:
    return reverse("run_case", args=[run.uuid, 1]) + query


def post(
    browser: Client, verb: str, run: Run, comment: Comment | None = None, text: str = "", **hx: Any
) -> Any:
    named = [comment.uuid] if comment else []
    address = reverse(f"{verb}_comment", args=[run.uuid, 1, *named])
    return browser.post(f"{address}?verdict=fail", {"text": text}, headers=hx)


def shown(page: str) -> list[str]:
    """The texts of the thread."""
    found = re.findall(r'<p class="kept" hx-disable>(.*?)</p>', page, re.DOTALL)
    return [re.sub("<[^>]+>", "", text) for text in found]


def test_a_comment_is_written_at_the_end_of_the_thread(
    ritas: Client, rita: User, comment: Comment, run: Run
) -> None:
    answer = post(ritas, "add", run, text="  It is.\r\n\r\nSee the manual.")
    assert answer["Location"] == case_url(run, "?verdict=fail#comments")
    page = ritas.get(case_url(run)).text
    assert "The comment is added." in page
    assert shown(page) == ["Is this right?", "  It is.\n\nSee the manual."]
    added = Comment.objects.order_by("pk").last()
    assert added is not None
    assert (added.author, AuditEntry.objects.all()[0].action) == (rita, "comment.added")


def test_a_swap_brings_the_thread_and_an_empty_field(ritas: Client, run: Run) -> None:
    answer = post(ritas, "add", run, text="First", **HX)
    assert "<html" not in answer.text
    assert shown(answer.text) == ["First"]
    assert 'id="comment-form" hx-swap-oob="true"' in answer.text
    assert "The comment is added." in answer.text


def test_what_is_no_comment_is_refused(ritas: Client, run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("", "no text"),
        (" \n\t", "no text"),
        ("x" * 10_001, "10001"),
        ("a\0b", "Null"),
    ]
    for text, why in cases:
        with subtests.test(text=text, why=why), undone():
            answer = post(ritas, "add", run, text=text, **HX)
            assert answer.status_code == 422
            assert "comment-form" not in answer.text  # what was typed stays in its field
            assert why in answer.text
            assert post(ritas, "add", run, text=text).status_code == 302
            assert "The comment is not kept" in ritas.get(case_url(run)).text
            assert not Comment.objects.exists()


def test_line_ends_of_a_browser_count_once(ritas: Client, run: Run) -> None:
    post(ritas, "add", run, text="\r\n".join(["x"] * 5_000))
    assert len(Comment.objects.get().text) == 9_999


def test_the_author_edits_and_the_thread_says_so(ritas: Client, comment: Comment, run: Run) -> None:
    assert "edited" not in ritas.get(case_url(run)).text.partition('id="comments"')[2]
    answer = post(ritas, "edit", run, comment, "Is that right?", **HX)
    assert shown(answer.text) == ["Is that right?"]
    assert "· edited" in answer.text
    assert post(ritas, "edit", run, comment, " ", **HX).status_code == 422
    assert Comment.objects.get().text == "Is that right?"


def test_a_comment_is_found_only_under_its_own_output(
    ritas: Client, comment: Comment, run: Run, browser_of: BrowserOf, charlie: User
) -> None:
    address = reverse("edit_comment", args=[run.uuid, 2, comment.uuid])
    assert ritas.post(address, {"text": "moved"}).status_code == 404
    assert post(browser_of(charlie), "edit", run, comment, "mine").status_code == 404
    assert Comment.objects.get().text == "Is this right?"


def test_a_member_who_only_reads_now_edits_no_old_comment(
    ritas: Client, rita: User, comment: Comment, run: Run
) -> None:
    Member.objects.filter(user=rita).update(role=Role.VIEWER)
    page = ritas.get(case_url(run)).text
    assert shown(page) == ["Is this right?"]
    assert "edit_comment" not in page
    assert "Save the change" not in page
    assert post(ritas, "edit", run, comment, "again").status_code == 403


def test_comments_survive_another_scoring(ritas: Client, comment: Comment, run: Run) -> None:
    again = finished_run(run.output_set, EXACT, name="again")
    assert shown(ritas.get(case_url(again)).text) == ["Is this right?"]


def test_comments_are_text(ritas: Client, rita: User, run: Run) -> None:
    User.objects.filter(pk=rita.pk).update(name="<i>Rita</i>")
    text = "</p></textarea><img src=x onerror=alert(1)>\N{RIGHT-TO-LEFT OVERRIDE}gpj"
    answer = post(ritas, "add", run, text=text, **HX)
    for page in (answer.text, ritas.get(case_url(run)).text):
        assert "<img src=x" not in page
        assert "<i>Rita" not in page
        assert page.count("&lt;img src=x") == 2  # to read, and to edit
        assert "U+202E" in page


def test_the_runs_list_marks_cases_with_comments(
    ritas: Client, rita: User, comment: Comment, run: Run, output: Output
) -> None:
    def listed() -> list[int]:
        answer = ritas.get(reverse("run", args=[run.uuid]))
        rows = [row for row, *_ in answer.context["cases"].rows()]
        said = re.findall(r'class="tag">(\d+) comment(s?)<', answer.text)
        counts = [row.comments for row in rows]
        assert said == [(str(n), "s" * (n > 1)) for n in counts if n]
        return counts

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            ritas.get(reverse("run", args=[run.uuid]))
        return len(captured)

    assert listed() == [1, 0, 0, 0]
    before = queries()
    Comment.objects.add(run, output, "more", by=rita)
    Comment.objects.add(run, Output.objects.get(case__position=3), "there", by=rita)
    assert listed() == [2, 0, 1, 0]
    assert queries() == before
    comment.remove(run, by=rita)
    assert listed() == [1, 0, 1, 0]


def test_a_long_thread_costs_no_query(ritas: Client, rita: User, run: Run, output: Output) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert ritas.get(case_url(run)).status_code == 200
        return len(captured)

    queries()
    before = queries()
    for number in range(50):
        Comment.objects.add(run, output, f"{number}", by=rita)
    assert queries() == before
    assert shown(ritas.get(case_url(run)).text) == [str(number) for number in range(50)]
