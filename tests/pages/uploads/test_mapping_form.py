"""How a file is read, and what its columns hold: shown, and changed."""

from __future__ import annotations

import gzip
import html
import json
import re
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from scoring.engine import imports
from scoring.models import Case, Output, OutputSet, Team, Upload
from tests.conftest import MakeDataset
from tests.pages.uploads.steps import checked, html_of, imported, mapped, send, sent, url_of
from tests.support.html import on_one_line
from tests.support.undone import undone
from tests.support.workbooks import FORMATTED_BOOK, packed, parts_of, row_xml, sheet_xml

zipped = partial(gzip.compress, mtime=0)  # the same bytes, and test names, at any time

HTMX = {"HX-Request": "true", "HX-Target": "upload"}
QUESTION = "Which of the two customers was refunded on Monday, and how much was it?"
BOOK = packed(
    parts_of(
        {
            "One": sheet_xml(row_xml("id", "input") + row_xml("1", "a")),
            "Two": sheet_xml(row_xml("key", "question", "note") + row_xml("2", "b", "c")),
        }
    )
)


def choices_of(browser: Client, upload: Upload, **query: str) -> dict[str, Any]:
    reading = browser.get(url_of(upload), query).context["reading"]
    return {field.html_name: field.value() for field in reading}


def test_each_format_offers_what_can_be_chosen_for_it(
    browser: Client, subtests: pytest.Subtests
) -> None:
    of_cells = {"fill_merged": False, "skip_hidden": False, "as_shown": False}
    cases: list[tuple[bytes, str, dict[str, Any]]] = [
        (
            b"id,input\n1,a\n",
            "a.csv",
            {"encoding": "utf-8", "delimiter": ",", "quote": '"', "header": "yes"},
        ),
        (b'{"id": 1, "input": 2}', "a.jsonl", {"encoding": "utf-8", "paths": ""}),
        (zipped(b'[{"id": 1, "input": 2}]'), "a.json.gz", {"encoding": "utf-8", "paths": ""}),
        (BOOK, "a.xlsx", {"sheet": "One", "header": "yes", **of_cells}),
        (zipped(BOOK), "a.xlsx.gz", {"sheet": "One", "header": "yes", **of_cells}),
        (b"id\n", "broken.csv", {"encoding": "", "delimiter": "", "quote": "", "header": ""}),
    ]
    for content, name, expected in cases:
        with subtests.test(content=content, name=name, expected=expected), undone():
            skipped = {} if name == "a.json.gz" else {"skip_lines": ""}
            assert choices_of(browser, sent(browser, content, name)) == expected | skipped


def test_cells_of_a_workbook_are_read_as_is_chosen_and_told(browser: Client) -> None:
    upload = sent(browser, FORMATTED_BOOK, "cells.xlsx")
    page = browser.get(url_of(upload))
    assert "“Fill merged cells” gives it to all." in page.text
    labels = ("Fill merged cells", "Skip hidden rows", "Numbers as shown")
    chosen = checked(browser, upload, **dict.fromkeys(labels, "on"))
    assert [note["code"] for note in chosen.report["notes"]] == [
        "read_as_shown",
        "hidden_skipped",
        "merged_filled",
    ]
    imported(browser, chosen)
    cases = Case.objects.order_by("position")
    assert [(case.expected, case.tags) for case in cases] == [("01234", ["x"]), ("50%", ["x"])]


def test_a_first_row_that_looks_like_values_is_read_as_one_and_said(browser: Client) -> None:
    upload = sent(browser, "1;a\n2;b\n")
    page = browser.get(url_of(upload))
    assert page.context["preview"].detected.columns == ("column 1", "column 2")
    assert "The first row looks like values" in page.text
    names = re.search(r'href="([^"]+)"[^>]*>The first row holds names', page.text)
    assert names
    other = browser.get(html.unescape(names[1]))
    assert other.context["preview"].detected.columns == ("1", "a")
    assert other.context["preview"].detected.delimiter == ";"
    assert "looks like values" not in other.text
    done = imported(browser, checked(browser, upload, **{"column 2": "input"}))
    assert (done.detected["header"], Case.objects.count()) == ("no", 2)


def test_names_that_look_like_values_are_taken_as_chosen(browser: Client) -> None:
    upload = sent(browser, "1,a\n2,b\n")
    given = {"header": "yes", "column-1": "input"}
    assert browser.post(url_of(upload), given).status_code == 302
    upload.refresh_from_db()
    imports.check_upload(upload)
    assert upload.row_count == 1


def test_a_file_without_a_header_can_be_read_so(browser: Client) -> None:
    upload = sent(browser, "1,a\n2,b\n")
    page = browser.get(url_of(upload), {"header": "no"})
    assert page.context["preview"].detected.columns == ("column 1", "column 2")
    assert "<li>no header</li>" in page.text
    given = {"header": "no", "column-0": "id", "column-1": "input"}
    assert browser.post(url_of(upload), given).status_code == 302
    upload.refresh_from_db()
    imported(browser, _checked_on(upload))
    assert [case.input for case in Case.objects.order_by("position")] == ["a", "b"]


def test_the_quote_can_be_chosen(browser: Client) -> None:
    upload = sent(browser, "id,input\n1,'a,b'\n2,c\n")
    page = browser.get(url_of(upload), {"quote": "'"})
    assert [row.fields["input"] for row in page.context["preview"].rows] == ["a,b", "c"]


def test_another_sheet_has_other_columns_and_guesses(browser: Client) -> None:
    upload = sent(browser, BOOK, "book.xlsx")
    html = html_of(browser, upload)
    assert "sheet One of 2" in html
    assert '<option value="Two">' in html
    page = browser.get(url_of(upload), {"sheet": "Two"})
    chosen = {field.label: field.value() for field, *_ in page.context["form"].rows()}
    assert chosen == {"key": "id", "question": "input", "note": ""}
    given = {"sheet": "Two", "column-0": "id", "column-1": "input"}
    browser.post(url_of(upload), given)
    upload.refresh_from_db()
    imported(browser, _checked_on(upload))
    assert Case.objects.get().metadata == {"note": "c"}


def test_a_mapping_made_for_one_sheet_is_not_kept_for_another(browser: Client) -> None:
    upload = checked(browser, sent(browser, BOOK, "book.xlsx"))
    page = browser.get(url_of(upload), {"sheet": "Two", "header": "yes"})
    chosen = {field.label: field.value() for field, *_ in page.context["form"].rows()}
    assert chosen == {"key": "id", "question": "input", "note": ""}


def test_a_sheet_that_is_not_there_says_which_are(browser: Client) -> None:
    page = browser.get(url_of(sent(browser, BOOK, "book.xlsx")), {"sheet": "Three"})
    assert page.status_code == 200
    assert "missing_sheet" in page.text
    assert "Found: One, Two" in page.text


def test_a_change_swaps_the_preview_in_place(browser: Client) -> None:
    upload = sent(browser)
    assert 'hx-trigger="change, submit"' in html_of(browser, upload)
    part = browser.get(url_of(upload), {"delimiter": ";"}, headers=HTMX).text
    assert part.lstrip().startswith('<div id="upload"')
    assert "1 column" in part


def test_columns_show_what_kind_of_values_they_hold(browser: Client) -> None:
    rows = "id,input,when,ok,tokens\n1,a,2026-11-22,true,5\n2,b,2026-11-23,false,7.5\n"
    form = browser.get(url_of(sent(browser, rows))).context["form"]
    kinds = {row.field.label: row.kind for row in form.rows()}
    wanted = {"id": "number", "input": "text", "when": "date", "ok": "true or false"}
    assert kinds == wanted | {"tokens": "number"}


def test_several_output_columns_are_announced(browser: Client) -> None:
    html = html_of(browser, sent(browser, "id,input,gpt-4o output,small output\n1,a,x,y\n"))
    assert "to be scored as a run: gpt-4o, small." in html
    assert "to be scored as a run" not in html_of(browser, sent(browser, name="other.csv"))


def test_lists_are_split_at_the_chosen_sign(browser: Client, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str]] = [
        (";", ";", "x; y"),
        (",", ",", '"x,y"'),
        ("|", "|", "x|y"),
        ("lines", "lines", '"x\ny"'),
    ]
    for mark, sent_as, cell in cases:
        with subtests.test(mark=mark, sent_as=sent_as, cell=cell), undone():
            upload = sent(browser, f"id,input,others,labels\n1,a,{cell},{cell}\n")
            given = {
                "column-0": "id",
                "column-1": "input",
                "column-2": "references",
                "column-3": "tags",
                "references_separator": sent_as,
                "tags_separator": sent_as,
            }
            browser.post(url_of(upload), given)
            upload.refresh_from_db()
            imported(browser, _checked_on(upload))
            case = Case.objects.get()
            assert (case.references, case.tags) == (["x", "y"], ["x", "y"])


def test_a_list_that_is_not_split_stays_one(browser: Client) -> None:
    upload = sent(browser, "id,input,others\n1,a,x; y\n")
    given = {"column-0": "id", "column-1": "input", "column-2": "references"}
    browser.post(url_of(upload), given | {"references_separator": ""})
    upload.refresh_from_db()
    imported(browser, _checked_on(upload))
    assert Case.objects.get().references == ["x; y"]


def test_what_is_unmapped_by_hand_is_not_guessed_again(browser: Client) -> None:
    upload = sent(browser, "id,input,tags,gold\nsame,a,x,y\n")
    imported(browser, checked(browser, upload, id="", tags="", gold="drop"))
    case = Case.objects.get()
    assert case.key != "same"
    assert (case.tags, case.has_expected) == ([], False)
    assert case.metadata == {"id": "same", "tags": "x"}


def test_nested_fields_are_mapped_by_their_path(browser: Client) -> None:
    rows = b'{"id": 1, "input": "a", "meta": {"lang": "de", "src": "web"}}\n'
    upload = sent(browser, rows, "cases.jsonl")
    assert mapped(browser, upload, **{"meta.lang": "tags"}).status_code == 302
    upload.refresh_from_db()
    imported(browser, _checked_on(upload))
    case = Case.objects.get()
    assert case.tags == ["de"]
    assert "src" in str(case.metadata)


BATCH = {"custom_id": "q1", "response": {"body": {"choices": [{"message": {"content": "A"}}]}}}


def test_an_answer_found_inside_an_object_is_shown_by_its_path_and_imported(
    browser: Client,
) -> None:
    rows = json.dumps(BATCH | {"messages": [{"role": "user", "content": "Q"}]}).encode()
    upload = sent(browser, rows, "batch.jsonl")
    page = browser.get(url_of(upload)).context["form"]
    held = {field.label: field.value() for field, *_ in page.rows()}
    assert held["response.body.choices[0].message.content"] == "output"
    imported(browser, checked(browser, upload))
    assert (Case.objects.get().key, Output.objects.get().text) == ("q1", "A")


def test_any_value_is_reached_by_a_path_that_is_written(browser: Client) -> None:
    row = {"id": 1, "messages": [{"role": "user", "content": "Q"}], "more": {"a": {"b": ["x"]}}}
    upload = sent(browser, json.dumps(row).encode(), "cases.jsonl")
    asked = {"paths": " messages[0].content , more.a.b,nowhere[3], messages[0].content"}
    answer = browser.get(url_of(upload), asked)
    rows = {
        row.field.label: (row.field, row.kind, row.values) for row in answer.context["form"].rows()
    }
    assert [values for _, _, values in rows.values()][-3:] == [["Q"], [["x"]], []]
    given = {field.html_name: field.value() or "" for field, _, _ in rows.values()}
    given |= {rows["messages[0].content"][0].html_name: "input"}
    given |= {rows["messages"][0].html_name: "drop", rows["more.a.b"][0].html_name: "references"}
    given |= {field.html_name: field.value() or "" for field in answer.context["reading"]}
    assert browser.post(url_of(upload), given).status_code == 302
    upload.refresh_from_db()
    imports.check_upload(upload)
    again = browser.get(url_of(upload)).context["form"]
    held = {field.label: field.value() for field, *_ in again.rows()}
    assert (held["messages[0].content"], held["more.a.b"]) == ("input", "references")
    imported(browser, upload)
    case = Case.objects.get()
    assert (case.input, case.references) == ("Q", ["x"])


def test_a_path_that_leads_nowhere_is_refused_where_it_is_mapped(browser: Client) -> None:
    upload = sent(browser, b'{"id": 1, "input": "a"}\n', "cases.jsonl")
    fields = {"paths": "nowhere[3]", "column-0": "id", "column-1": "input", "column-2": "tags"}
    answer = browser.post(url_of(upload), fields)
    assert answer.status_code == 422
    assert "Needed column: “nowhere[3]” (for tags)" in answer.text


def test_a_table_has_no_paths(browser: Client) -> None:
    upload = sent(browser, b"id,input\n1,a\n")
    page = browser.get(url_of(upload), {"paths": "a.b"})
    assert 'name="paths"' not in page.text
    assert page.context["form"].columns == ["id", "input"]


def test_an_error_that_only_late_rows_have_is_not_lost(
    browser: Client, make_dataset: MakeDataset
) -> None:
    """The first rows show no such column, so nobody can choose it."""
    count = 1_100
    version = make_dataset([{"key": str(n), "input": "a"} for n in range(count)])
    rows: list[dict[str, object]] = [{"id": n, "output": "x"} for n in range(count - 1)]
    text = "\n".join(map(json.dumps, [*rows, {"id": count - 1, "error": "timed out"}]))
    dataset = str(version.dataset.uuid)
    upload = sent(browser, text.encode(), "answers.jsonl", kind="outputs", dataset=dataset)
    imported(browser, checked(browser, upload))
    assert Output.objects.get(text=None).error == "timed out"


# The report


def test_the_report_lists_cases_that_repeat_others(browser: Client) -> None:
    rows = f"id,input\n1,{QUESTION!r}\n2,{QUESTION!r}\n3,{QUESTION.lower()!r}\n".replace("'", '"')
    html = html_of(browser, checked(browser, sent(browser, rows)))
    for text in ("Repeated inputs", "Near duplicates", "at least 90 % like", "the same"):
        assert text in html


def test_the_report_says_what_it_takes_for_right_answers(browser: Client) -> None:
    rows = '{"id": 1, "input": "a", "references": ["x", "y"]}\n{"id": 2, "input": "b"}\n'
    html = html_of(browser, checked(browser, sent(browser, rows.encode(), "cases.jsonl")))
    assert "Right answers" in html
    assert "<dt>Tags</dt>" not in html
    assert "references: up to 2 a case, in 1 of 2 cases" in html
    single = checked(browser, sent(browser, "id,input,expected\n1,a,b\n"))
    assert "Right answers" not in html_of(browser, single)


def test_what_each_slot_gets_is_said_and_what_follows(browser: Client) -> None:
    upload = sent(browser, "question,verdict,bot said\nWho?,x,Me\nWhy?,x,So\n")
    html = html_of(browser, upload)
    for text in ("<li>input ✓ question</li>", "<li>expected ✗</li>", "<li>output ✓ bot said</li>"):
        assert text in html
    follows = "Exact match, Includes and 9 more types cannot score."
    assert f"No column holds an expected output: {follows}" in html
    html = html_of(browser, checked(browser, upload))
    assert "input ✓ question · expected ✗ · output ✓ bot said" in html
    assert f"No case has an expected output: {follows}" in html
    chosen = checked(browser, upload, verdict="expected")
    assert "cannot score" not in html_of(browser, chosen)


def test_the_report_says_how_many_tags_it_reads(browser: Client) -> None:
    html = html_of(
        browser, checked(browser, sent(browser, "id,input,tags\n1,a,x;y\n2,b,x\n3,c,\n"))
    )
    assert "<dt>Tags</dt><dd>up to 2 a case, in 2 of 3 cases</dd>" in html


def test_empty_cells_of_each_column_are_what_is_chosen(browser: Client) -> None:
    upload = sent(browser, "id,input,expected,output\n1,a,,\n2,b,c,d\n")
    assert "Empty cells are" in html_of(browser, upload)
    chosen = checked(
        browser,
        upload,
        **{"Empty cells of expected": "blank_text", "Empty cells of output": "blank_missing"},
    )
    html = html_of(browser, chosen)
    assert "1 of output is no value; 1 of expected is an empty text" in html
    assert '<option value="blank_text" selected>' in html
    imported(browser, chosen)
    assert Case.objects.get(key="1").expected == ""
    assert Output.objects.count() == 1


def test_tags_with_a_comma_and_a_space_stay_whole_where_others_have_none(
    browser: Client,
) -> None:
    rows = 'id,input,tags\n1,a,"geo,easy"\n2,b,"Paris, France"\n3,c,"art,hard"\n'
    upload = sent(browser, rows)
    assert "split at commas that no space follows" in html_of(browser, upload)
    imported(browser, checked(browser, upload))
    assert [case.tags for case in Case.objects.order_by("position")] == [
        ["geo", "easy"],
        ["Paris, France"],
        ["art", "hard"],
    ]


def test_rows_of_objects_have_no_empty_cells(browser: Client) -> None:
    upload = sent(browser, b'{"id": 1, "input": "a"}\n', "cases.jsonl")
    assert "Empty cells are" not in html_of(browser, upload)


@pytest.mark.parametrize(
    ("rows", "is_said"), [("id,output\n1,x\n2,x\n", True), ("id,input\n1,x\n2,y\n", False)]
)
def test_cases_without_an_input_are_pointed_out_and_are_no_repeats(
    browser: Client, rows: str, is_said: bool
) -> None:
    upload = checked(browser, sent(browser, rows))
    page = html_of(browser, upload)
    assert ("No column holds the input, so the cases have none." in page) is is_said
    assert ("?kind=outputs" in page) is is_said
    assert "Repeated inputs" not in page


def test_a_new_version_that_lacks_what_the_latest_had_says_so(
    browser: Client, team: Team, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, str]] = [
        ("id,input,tags\n1,a,x\n", ""),
        ("Case ID,Prompt,Labels\n1,a,x\n", "holds here: tags. Say below which columns hold it"),
        ("No.,Prompt,tags\n1,a,x\n", "holds here: id. Without the id no case is known again"),
        ("No.,Prompt,Labels\n1,a,x\n", "holds here: id, tags. Without the id"),
    ]
    for rows, said in cases:
        with subtests.test(rows=rows, said=said), undone():
            imported(browser, checked(browser, sent(browser, "id,input,tags\n1,a,x\n2,b,y\n")))
            dataset = str(team.datasets.get().uuid)
            page = html_of(browser, checked(browser, sent(browser, rows, dataset=dataset)))
            assert ("Version 1 took from its file what no column" in page) is bool(said)
            assert said in page


def test_the_cases_that_were_probably_meant_are_named(
    browser: Client, make_dataset: MakeDataset
) -> None:
    dataset = make_dataset([{"key": "001"}, {"key": "q2"}]).dataset
    upload = sent(browser, "id,output\n1,x\nq2,y\n", kind="outputs", dataset=str(dataset.uuid))
    checked(browser, upload)
    said = on_one_line(html_of(browser, upload))
    asked = '<span class="id">1</span> – did you mean <span class="id">001</span>?'  # noqa: RUF001
    assert asked in said


def test_unmatched_ids_can_be_downloaded(browser: Client, make_dataset: MakeDataset) -> None:
    dataset = make_dataset([{"key": "a", "input": "1"}]).dataset
    rows = "id,output\na,x\n" + "".join(f"<b>{n},y\n" for n in range(120))
    upload = sent(browser, rows, "week 3.csv", kind="outputs", dataset=str(dataset.uuid))
    checked(browser, upload)
    html = html_of(browser, upload)
    assert "Download the first 100" in html
    answer = browser.get(url_of(upload) + "?unmatched")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="week 3 unmatched.txt"'
    assert answer.text.splitlines() == [f"<b>{n}" for n in range(100)]


def test_outputs_that_are_there_already_are_named(
    browser: Client, make_dataset: MakeDataset
) -> None:
    dataset = make_dataset([{"key": "a", "input": "1"}]).dataset
    more = {"kind": "outputs", "dataset": str(dataset.uuid)}
    imported(browser, checked(browser, sent(browser, "id,output\na,x\n", "monday.csv", **more)))
    html = html_of(
        browser, checked(browser, sent(browser, "id,output\na,x\n", "again.csv", **more))
    )
    assert "identical to the output set monday," in html
    assert OutputSet.objects.count() == 1


# Pasting


def test_rows_may_be_pasted_in_any_text_format(browser: Client, subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        "id\tinput\n1\tGröße, bitte\n",
        'id,input\n1,"Größe, bitte"\n',
        '{"id": 1, "input": "Größe, bitte"}',
        '[{"id": 1, "input": "Größe, bitte"}]',
    ]
    for pasted in cases:
        with subtests.test(pasted=pasted), undone():
            upload = sent(browser, file="", pasted=pasted, dataset_name="Pasted")
            imported(browser, checked(browser, upload))
            assert Case.objects.get().input == "Größe, bitte"


def test_more_than_a_mebibyte_is_not_pasted(browser: Client) -> None:
    answer = send(browser, file="", pasted="id,input\n1," + "ü" * 600_000, dataset_name="P")
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == ["pasted"]
    assert not Upload.objects.exists()


def _checked_on(upload: Upload) -> Upload:
    """The dry run of an upload whose mapping has been sent."""
    from scoring.engine import imports

    assert upload.state == "checking"
    imports.check_upload(upload)
    return upload


# Files of chats: what is expected is the end of each


ASKED = {"role": "user", "content": "Capital of France?"}
CHAT = json.dumps({"messages": [ASKED, {"role": "assistant", "content": "Paris"}]})


def held(browser: Client, rows: str) -> dict[str, str]:
    """What each column that the page lists holds."""
    form = browser.get(url_of(sent(browser, rows, "chats.jsonl"))).context["form"]
    return {field.label: field.value() for field, *_ in form.rows()}


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
