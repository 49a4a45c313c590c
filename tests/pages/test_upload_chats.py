"""A file of chats through the page and the command: what is expected is the end of each."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from scoring.models import Case, Output, Team
from tests.conftest import MakeDataset
from tests.pages.upload_steps import checked, imported, mapped, sent, url_of

ASKED = {"role": "user", "content": "Capital of France?"}
CHAT = json.dumps({"messages": [ASKED, {"role": "assistant", "content": "Paris"}]})


def held(browser: Client, rows: str) -> dict[str, str]:
    """What each column that the page lists holds."""
    form = browser.get(url_of(sent(browser, rows, "chats.jsonl"))).context["form"]
    return {field.label: field.value() for field, _, _ in form.rows()}


def test_the_page_shows_both_halves_and_takes_them_in(browser: Client) -> None:
    assert held(browser, CHAT) == {
        "messages": "",
        "messages[:-1]": "input",
        "messages[-1].content": "expected",
    }
    upload = sent(browser, CHAT, "chats.jsonl")
    assert "Each chat is split" in browser.get(url_of(upload)).text
    imported(browser, checked(browser, upload))
    case = Case.objects.get()
    assert (case.input, case.expected, case.metadata) == ([ASKED], "Paris", {})


def test_the_whole_chat_is_the_input_where_that_is_chosen(browser: Client) -> None:
    upload = sent(browser, CHAT, "chats.jsonl")
    whole = {"messages": "input", "messages[:-1]": "", "messages[-1].content": ""}
    done = checked(browser, upload, **whole)
    assert "Each chat is split" not in browser.get(url_of(upload)).text
    imported(browser, done)
    case = Case.objects.get()
    assert (case.input, case.has_expected) == (json.loads(CHAT)["messages"], False)


def test_a_chat_that_a_later_row_leaves_open_is_a_problem_of_no_row(browser: Client) -> None:
    later = "\n".join([CHAT] * 200 + [json.dumps({"messages": []}), json.dumps({"messages": None})])
    rows = [{**json.loads(line), "id": place} for place, line in enumerate(later.split("\n"))]
    upload = sent(browser, "\n".join(map(json.dumps, rows)), "chats.jsonl")
    imported(browser, checked(browser, upload))
    empty, missing = Case.objects.filter(key__in=["200", "201"]).order_by("position")
    assert (empty.input, empty.has_expected) == ([], False)
    assert missing.has_expected is False


def test_outputs_need_a_column_of_their_own(browser: Client, make_dataset: MakeDataset) -> None:
    version = make_dataset([{"key": "a", "input": [ASKED]}])
    dataset = str(version.dataset.uuid)
    row = json.dumps({"id": "a", **json.loads(CHAT)})
    upload = sent(browser, row, "c.jsonl", kind="outputs", dataset=dataset)
    refused = mapped(browser, upload, **{"messages[-1].content": ""})
    assert refused.status_code == 422
    assert "Needed column: one for output" in refused.text
    done = imported(browser, checked(browser, upload, **{"messages[-1].content": "output"}))
    assert done.state == "done"
    assert Output.objects.get().text == "Paris"


@pytest.mark.django_db
def test_the_command_says_what_it_took_for_what(team: Team, tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(CHAT)
    said = StringIO()
    call_command("import", str(path), "--dataset", "A", "--team", team.slug, stdout=said)
    assert "messages[-1].content" in said.getvalue()
    case = Case.objects.get()
    assert (case.input, case.expected) == ([ASKED], "Paris")
