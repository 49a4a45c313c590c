"""Cases out of files: whole, unchanged, numbered, recognised again."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from scoring.core.files import FileProblem, case_key
from scoring.models import (
    AuditEntry,
    Case,
    DatasetVersion,
    UploadKind,
    UploadState,
    User,
    VersionState,
)
from tests.support.fixtures.uploads import Put, cases_of, check, jsonl, load, load_unchecked, table

AWKWARD = [
    "",
    " ",
    "  both ends\t ",
    "two\nlines\r\nand\rmore\n",
    'quotes " and "" and \'',
    "comma, semicolon; tab\t",
    "=1+1",
    "@SUM(A1)",
    "\ufeffa mark inside",
    "zero\u200bwidth \u202e bidi \u2028 line",
    "é e\u0301 \N{GRINNING FACE} \U0010ffff",
    "\x01\x1b[31m\x7f\x85",
    "null",
    "NULL",
    "true",
    "1.0",
    "007",
    "[1, 2]",
    "\\n \\u0041",
    "__proto__",
]


def test_awkward_cells_are_stored_character_for_character(put: Put) -> None:
    """An empty cell is no value but as an input, and one of white space is no expected output."""
    rows = [[f"k{place}", text, text, text] for place, text in enumerate(AWKWARD)]
    content = table([["id", "input", "expected", "note"], *rows])
    upload = load(put(content))
    assert upload.state == UploadState.DONE
    wanted = list(csv.reader(io.StringIO(content.decode(), newline="")))[1:]
    stored = [
        [case.key, case.input, case.expected, case.metadata.get("note")]
        for case in cases_of(upload.version)
    ]
    assert stored == [
        [key, asked, expected if expected.strip() else None, note or None]
        for key, asked, expected, note in wanted
    ]
    positions = [case.position for case in cases_of(upload.version)]
    assert positions == list(range(1, len(AWKWARD) + 1))


def test_json_values_keep_their_kind_and_every_digit(put: Put) -> None:
    values: list[Any] = [
        *("", "x", 0, -1, 10**30, 2**64, 1.5, 1e-9, True, False, [], {}),
        {"b": [1, {"a": None}], "a": 12345678901234567890},
    ]
    rows = [{"id": str(place), "input": value} for place, value in enumerate(values)]
    upload = load(put(jsonl(*rows), "cases.jsonl"))
    stored = [case.input for case in cases_of(upload.version)]
    assert stored == values
    assert [type(value) for value in stored] == [type(value) for value in values]
    assert list(stored[-1]) == ["b", "a"]


def test_an_absent_a_null_and_an_empty_expected_stay_apart(put: Put) -> None:
    rows = [
        {"id": "absent", "input": 1},
        {"id": "null", "input": 1, "expected": None},
        {"id": "empty", "input": 1, "expected": ""},
    ]
    upload = load(put(jsonl(*rows), "cases.jsonl"))
    stored = {case.key: case.expected_json for case in cases_of(upload.version)}
    assert stored == {"absent": None, "null": "null", "empty": '""'}


def test_publishing_gives_a_number_a_hash_and_an_audit_entry(put: Put, alice: User) -> None:
    upload = load(put(b"id,input\n1,a\n2,b\n", "my cases.csv"))
    version = upload.version
    assert version is not None
    assert (version.number, version.case_count, version.state) == (1, 2, VersionState.READY)
    assert len(version.content_hash) == 64
    assert version.source_name == "my cases.csv"
    assert version.mapping == {"id": ["id"], "input": ["input"]}
    assert version.dataset.latest == version
    assert version.created_by == alice
    entry = AuditEntry.objects.get(action="dataset.created")
    assert (entry.actor, entry.target_name) == (alice, "Answers")
    assert entry.new == {"version": 1, "cases": 2, "file": "my cases.csv"}


def test_cases_without_an_id_are_keyed_by_their_input(put: Put) -> None:
    upload = load(put(b"question,expected\na,1\nb,2\na,3\na,4\n"))
    keys = [case.key for case in cases_of(upload.version)]
    assert keys == [case_key("a"), case_key("b"), f"{case_key('a')}#2", f"{case_key('a')}#3"]
    assert upload.report["duplicate_inputs"] == 2


def test_a_second_file_makes_a_second_version_with_the_same_keys(put: Put) -> None:
    first = load(put(b"id,input\n1,a\n2,b\n"))
    second = load(put(b"id,input\n2,b\n1,changed\n3,c\n"))
    assert first.version
    assert second.version
    assert second.version.dataset == first.version.dataset
    assert (first.version.number, second.version.number) == (1, 2)
    assert [case.key for case in cases_of(second.version)] == ["2", "1", "3"]
    assert [case.input for case in cases_of(first.version)] == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"id,input,note\n1,a,x\n2,b,y\n", "cases.csv"),
        (b"note,id,input\r\nx,1,a\r\ny,2,b\r\n", "other.csv"),
        (jsonl({"input": "a", "note": "x", "id": "1"}, {"id": 2, "input": "b", "note": "y"}), "c"),
    ],
)
def test_the_same_cases_again_are_recognised(put: Put, content: bytes, name: str) -> None:
    first = load(put(b"id,input,note\n1,a,x\n2,b,y\n")).version
    assert first
    upload = check(put(content, name, dataset=first.dataset))
    assert upload.report["identical_to"] == 1
    load_unchecked(upload)
    assert (upload.state, upload.version) == (UploadState.DONE, first)
    assert list(DatasetVersion.with_loading.all()) == [first]
    assert Case.objects.count() == 2


@pytest.mark.parametrize(
    "content",
    [
        b"id,input,note\n1,a,x\n2,b,z\n",
        b"id,input,note\n2,b,y\n1,a,x\n",
        b"id,input,note\n1,a,x\n",
        b"id,expected,note\n1,a,x\n2,b,y\n",
        b"id,input,tags\n1,a,x\n2,b,y\n",
    ],
)
def test_any_difference_makes_a_new_version(put: Put, content: bytes) -> None:
    load(put(b"id,input,note\n1,a,x\n2,b,y\n"))
    assert load(put(content)).version.number == 2  # type: ignore[union-attr]


BLANK = [["id", "input", "expected", "output", "tags", "note"], ["1", "", "", "", "", ""]]


def test_an_empty_cell_of_a_table_is_no_value_but_for_input_and_output(put: Put) -> None:
    upload = load(put(table([*BLANK, ["2", "q", "Paris", "It is.", "geo", "n"]])))
    blank, filled = cases_of(upload.version)
    assert (blank.input, blank.expected_json, blank.tags, blank.metadata) == ("", None, [], {})
    assert (filled.expected, filled.tags, filled.metadata) == ("Paris", ["geo"], {"note": "n"})
    assert blank.outputs.get().text == ""
    assert upload.report["right_answers"] == ["1 of 2 cases has no expected output"]
    assert upload.report["blank_cells"] == (
        "Empty cells: 1 of expected, 1 of tags and 1 of note are no value; "
        "1 of input and 1 of output are empty texts."
    )


def test_a_mapping_says_which_empty_cells_are_texts(put: Put) -> None:
    choices = {name: [name] for name in ("id", "input", "expected", "output")}
    upload = put(table(BLANK))
    choices |= {"blank_text": ["expected"], "blank_missing": ["output"]}
    case = cases_of(load(upload, choices).version)[0]
    assert (case.expected, case.outputs.count()) == ("", 0)
    said = "expected: an empty text, which every output includes, in 1 of 1 case"
    assert upload.report["right_answers"] == [said]
    assert upload.version is not None
    assert upload.version.mapping["blank_text"] == ["expected"]


def test_an_empty_text_of_json_stays_one(put: Put) -> None:
    upload = load(put(jsonl({"id": 1, "input": "q", "expected": ""}), "cases.jsonl"))
    assert cases_of(upload.version)[0].expected == ""
    assert upload.report["blank_cells"] == ""


def test_only_a_table_has_empty_cells(put: Put) -> None:
    upload = put(jsonl({"id": 1, "input": "q", "expected": ""}), "cases.jsonl")
    choices = {"id": ["id"], "input": ["input"], "blank_text": ["expected"]}
    with pytest.raises(FileProblem, match="Only tables have empty cells"):
        check(upload, choices)


def test_python_s_lists_and_objects_become_what_they_say(put: Put) -> None:
    rows = [
        ["id", "input", "expected", "references", "tags", "metadata"],
        [
            "1",
            "q",
            "{'ok': True}",
            "['Paris', 'Paris, France']",
            "['geo' 'easy']",
            "{'lang': 'en'}",
        ],
    ]
    upload = load(put(table(rows)))
    (case,) = cases_of(upload.version)
    assert (case.tags, case.references) == (["geo", "easy"], ["Paris", "Paris, France"])
    assert (case.expected, case.metadata) == ('{"ok":true}', {"lang": "en"})
    assert upload.report["python_cells"].startswith("Written as Python writes them, and read: ")


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        (["x", "y"], "one a case, in 2 of 2 cases"),
        (["x;y", "x;z;y"], "up to 3 a case, in 2 of 2 cases"),
        (["x", ""], "one a case, in 1 of 2 cases"),
        (["", ""], ""),
    ],
)
def test_a_report_says_how_many_tags_it_reads(put: Put, tags: list[str], said: str) -> None:
    rows = [["id", "input", "tags"], *([str(n), f"q{n}", text] for n, text in enumerate(tags))]
    choices = {"id": ["id"], "input": ["input"], "tags": ["tags"], "tags_separator": [";"]}
    upload = check(put(table(rows)), choices)
    assert upload.report["tags"] == said


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([["id", "input"], ["1", "q"]], True),
        ([["id", "input", "expected"], ["1", "q", ""]], True),
        ([["id", "input", "expected"], ["1", "q", ""], ["2", "q", "a"]], False),
        ([["id", "input", "references"], ["1", "q", "a"]], False),
    ],
)
def test_cases_without_any_expected_output_say_what_follows(
    put: Put, rows: list[list[str]], says: bool
) -> None:
    report = check(put(table(rows))).report
    follows = [
        "No case has an expected output: Exact match, Includes and 9 more types cannot score."
    ]
    assert report["consequences"] == (follows if says else [])


def test_columns_that_come_after_the_sample_are_told_as_well(put: Put) -> None:
    first = load(put(jsonl(*({"id": n, "input": f"q{n}"} for n in range(2_000))), "cases.jsonl"))
    rows = [{"id": n, "output": "a", "extra": 1} for n in range(2_000)]
    rows[1_900] |= {"late": 1, "later": 2}
    rows[1_950] |= {"late": 3}
    content = jsonl(*rows)
    upload = put(content, "outputs.jsonl", kind=UploadKind.OUTPUTS, dataset=first.version.dataset)
    assert check(upload).report["unused_columns"] == ["extra", "late", "later"]


def test_a_list_that_cannot_be_read_is_a_problem_of_its_row(put: Put) -> None:
    upload = check(put(table([["id", "input", "tags"], ["1", "q", "['geo', nan]"]])))
    assert [each["code"] for each in upload.problems] == ["unreadable_list"]
