"""Texts of any size read for a report: short ones whole, of long ones the start and its length."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scoring.core.textdiff.text_layout import TextLayout
from scoring.engine.reports.case_texts import (
    OUTPUT_BYTES,
    START,
    WHOLE,
    CaseReport,
    PartialText,
    layout_aligned,
    layout_difference,
    read_cases,
)
from scoring.models import Output
from tests.conftest import MakeDataset, MakeOutputs

pytestmark = pytest.mark.django_db


@pytest.fixture
def read_one(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Any:
    """The one case of a dataset with this output, read."""

    def made(output: str | None, *, is_json: bool = False, **case: Any) -> CaseReport:
        outputs = make_outputs(make_dataset([case]), [output])
        outputs.outputs.update(is_json=is_json)
        (found,) = read_cases(outputs.outputs.values_list("pk", flat=True)).values()
        return found

    return made


def said(text: TextLayout | None) -> str:
    """The text with its differences marked."""
    assert text is not None
    marks = {"": "{}", "ins": "+{}+", "del": "-{}-"}
    return "".join(
        marks[block.tag].format("".join(span.text for span in block.spans)) for block in text.blocks
    )


def test_a_case_is_read_with_all_it_holds(read_one: Any) -> None:
    found = read_one(
        "on Tuesday",
        key="q1",
        input={"q": "When?"},
        expected="on Monday",
        references=["Monday"],
        metadata={"a": 1},
        tags=["x"],
    )
    assert (found.key, found.place, found.tags, found.error) == ("q1", (1, 0), ["x"], "")
    assert said(found.input) == '{\n  "q": "When?"\n}'
    assert said(found.expected) == "on Monday"
    assert said(found.answer) == "on -Mon-+Tues+day"
    scored = found.scored
    assert scored is not None
    assert (scored.output, scored.expected, scored.input) == (
        "on Tuesday",
        "on Monday",
        {"q": "When?"},
    )
    assert (scored.references, scored.metadata) == (("Monday",), {"a": 1})


def test_what_is_absent_stays_absent_and_empty_stays_empty(read_one: Any) -> None:
    absent = read_one(None, input="q")
    assert (absent.expected, absent.answer, said(absent.failure)) == (None, None, "failed")
    empty = read_one("", input="", expected="")
    assert empty.answer is not None
    assert empty.answer.is_empty
    assert empty.expected is not None


def test_null_is_a_value_that_is_expected(read_one: Any) -> None:
    found = read_one("null", is_json=True, expected=None)
    assert said(found.expected) == "null"
    assert said(found.answer) == "null"


def test_json_is_compared_as_json(read_one: Any) -> None:
    found = read_one('{"b": 2.0, "a": 1}', expected={"a": 1, "b": 3})
    assert said(found.expected) == '{\n  "a": 1,\n  "b": 3\n}'
    assert said(found.answer) == '{\n  "a": 1,\n  "b": -3-+2+\n}'


@pytest.mark.parametrize("size", [WHOLE, WHOLE + 1, 500_000])
@pytest.mark.parametrize("name", ["output", "input", "expected"])
def test_every_character_of_a_long_text_is_accounted_for(
    read_one: Any, name: str, size: int
) -> None:
    texts = {"output": "a", "input": "a", "expected": "a"} | {name: "x" * size}
    found = read_one(texts["output"], input=texts["input"], expected=texts["expected"])
    part = {
        "output": found.output_text,
        "input": found.input_text,
        "expected": found.expected_text,
    }[name]
    quotes = 0 if name == "output" else 2  # a JSON text has them around it
    is_cut = size + quotes > WHOLE
    assert part.rest == (size + quotes - START if is_cut else 0)
    assert (found.scored is None) == is_cut
    shown = {"output": found.answer, "input": found.input, "expected": found.expected}[name]
    seen = sum(len(p.text) for s in shown.blocks if s.tag != "del" for p in s.spans)
    assert seen + shown.hidden in (size, size + 1)  # the quotation mark at a cut text's end


def test_long_metadata_and_references_leave_the_scorers_view_out(read_one: Any) -> None:
    assert read_one("a", metadata={"m": "x" * WHOLE}).scored is None
    assert read_one("a", references=["x" * WHOLE]).scored is None


def test_a_huge_text_is_not_read_whole(read_one: Any) -> None:
    """SQLite hands over no more than the start; the rest would be 40 MB here."""
    import tracemalloc

    cut = read_one("ä" * 10_000_000)
    outputs = list(Output.objects.values_list("pk", flat=True))
    tracemalloc.start()
    read_cases(outputs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert cut.output_text is not None
    assert len(cut.output_text.value) == START
    assert peak < 2_000_000


@pytest.mark.parametrize("count", [1, 50])
def test_one_query_reads_them_all(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, count: int
) -> None:
    outputs = make_outputs(make_dataset([{"input": n} for n in range(count)]), ["a"] * count)
    ids = list(outputs.outputs.values_list("pk", flat=True))
    with CaptureQueriesContext(connection) as queries:
        assert len(read_cases(ids)) == count
    assert len(queries) == 1


@pytest.mark.parametrize(
    ("first", "second", "marked"),
    [
        (PartialText("a b"), PartialText("a c"), "a -b-+c+"),
        (None, PartialText("a c"), "a c"),
        (PartialText("a b", 9), PartialText("a c"), "a c"),
        (PartialText("a b"), PartialText("a c", 9), "a c"),
        (PartialText({"x": 1}), PartialText({"x": 2}), '{\n  "x": -1-+2+\n}'),
    ],
)
def test_only_whole_texts_are_compared(
    first: PartialText | None, second: PartialText, marked: str
) -> None:
    assert said(layout_difference(first, second)) == marked


def test_without_a_second_text_there_is_no_difference() -> None:
    assert layout_difference(PartialText("a"), None) is None
    assert layout_aligned(None, PartialText("a"), OUTPUT_BYTES) is None


def test_a_text_beside_is_written_like_the_other_one() -> None:
    assert (
        said(layout_aligned(PartialText('{"x":1}'), PartialText({"x": 2}), OUTPUT_BYTES))
        == '{\n  "x": 1\n}'
    )
    assert (
        said(layout_aligned(PartialText('{"x":1}'), PartialText("no"), OUTPUT_BYTES)) == '{"x":1}'
    )
    assert json.loads(said(layout_aligned(PartialText({"x": 1}), None, OUTPUT_BYTES))) == {"x": 1}
