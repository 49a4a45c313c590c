"""Files as evaluation tools write them: the rows that are meant, and a mapping that fits.

Shapes after the tools' own documents: OpenAI's batch API and evals, inspect_ai's logs, promptfoo's
results and tests, ragas, LangSmith, MLflow, SQuAD.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from scoring.core.files import (
    DetectedFormat,
    FileProblem,
    MappedCase,
    Mapping,
    Row,
    RowProblem,
    Source,
    detect_format,
    guess_mapping,
    read_rows,
)

CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]
BATCH = {
    "id": "batch_req_1",
    "custom_id": "q1",
    "response": {
        "status_code": 200,
        "body": {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "A"}}],
            "usage": {"prompt_tokens": 10},
        },
    },
    "error": None,
}
SAMPLE = {
    "id": 1,
    "epoch": 1,
    "input": "Q",
    "target": "T",
    "output": {"model": "m", "choices": [{"message": {"content": "A"}}], "completion": "A"},
    "metadata": {"topic": "x"},
}
RESULT = {
    "id": "r1",
    "promptIdx": 0,
    "vars": {"question": "Q"},
    "prompt": {"raw": "Answer: Q", "label": "Answer"},
    "response": {"output": "A", "tokenUsage": {"total": 12}},
}


def lines(*rows: Any) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def document(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


FILES: list[tuple[str, bytes, dict[str, list[str]], dict[str, Any]]] = [
    (
        "batch.jsonl",
        lines(BATCH, BATCH | {"custom_id": "q2"}),
        {
            "id": ["custom_id"],
            "output": ["response.body.choices[0].message.content"],
            "error": ["error"],
        },
        {"key": "q1", "outputs": ["A"]},
    ),
    (
        "evals.jsonl",
        lines({"input": CHAT, "ideal": ["11", "eleven"]}),
        {"input": ["input"], "expected": ["ideal"]},
        {"input": CHAT, "expected": ["11", "eleven"]},
    ),
    (
        "log.json",
        document(
            {
                "version": 2,
                "eval": {"task": "t", "tags": ["a"]},
                "plan": {"steps": [{"solver": "generate"}]},
                "results": {"scores": [{"name": "match"}]},
                "samples": [SAMPLE],
                "reductions": [{"scorer": "match", "samples": []}],
            }
        ),
        {
            "id": ["id"],
            "input": ["input"],
            "expected": ["target"],
            "output": ["output.completion"],
            "metadata": ["metadata"],
        },
        {"key": "1", "outputs": ["A"], "expected": "T"},
    ),
    (
        "results.json",
        document(
            {
                "evalId": "e",
                "results": {"prompts": [{"raw": "x"}], "results": [RESULT], "stats": {}},
                "config": {"tests": [{"vars": {}}]},
            }
        ),
        {"id": ["id"], "input": ["prompt.raw"], "output": ["response.output"]},
        {"key": "r1", "input": "Answer: Q", "outputs": ["A"]},
    ),
    (
        "tests.jsonl",
        lines({"vars": {"question": "Q", "lang": "de"}, "assert": [{"type": "equals"}]}),
        {"input": ["vars.question"]},
        {"input": "Q"},
    ),
    (
        "smith.csv",
        b"inputs,outputs,reference_outputs\nQ,A,T\n",
        {"input": ["inputs"], "expected": ["reference_outputs"], "output": ["outputs"]},
        {"input": "Q", "expected": "T", "outputs": ["A"]},
    ),
    (
        "flow.csv",
        b"inputs.question,expectations.expected_response,outputs\nQ,T,A\n",
        {
            "input": ["inputs.question"],
            "expected": ["expectations.expected_response"],
            "output": ["outputs"],
        },
        {"input": "Q", "expected": "T", "outputs": ["A"]},
    ),
    (
        "squad.json",
        document({"data": [{"id": "1", "question": "Q", "answers": {"text": ["x", "y"]}}]}),
        {"id": ["id"], "input": ["question"], "references": ["answers.text"]},
        {"references": ("x", "y")},
    ),
    (
        "calls.jsonl",
        lines({"id": 1, "input": CHAT, "expected": {"name": "f"}, "output": {"tool_calls": []}}),
        {"id": ["id"], "input": ["input"], "expected": ["expected"], "output": ["output"]},
        {"expected": {"name": "f"}, "outputs": ['{"tool_calls":[]}']},
    ),
    (
        "user.jsonl",
        lines({"user": {"id": 7}, "prompt": "Q", "metadata": {"question": "no", "target": "no"}}),
        {"input": ["prompt"], "metadata": ["metadata"]},
        {"input": "Q"},
    ),
]


def read(content: bytes, name: str) -> tuple[DetectedFormat, Mapping, Iterator[Row | RowProblem]]:
    found = detect_format(Source(io.BytesIO(content), name))
    mapping = guess_mapping(found.columns, found.sample, is_open=found.is_open)
    return found, mapping, read_rows(Source(io.BytesIO(content), name), found)


@pytest.mark.parametrize(("name", "content", "choices", "case"), FILES, ids=[f[0] for f in FILES])
def test_what_tools_write_is_mapped_as_it_is_meant(
    name: str, content: bytes, choices: dict[str, list[str]], case: dict[str, Any]
) -> None:
    _, mapping, rows = read(content, name)
    guessed = {field: columns for field, columns in mapping.choices().items() if columns != [""]}
    assert guessed == choices
    first = next(rows)
    assert isinstance(first, Row)
    mapped = mapping.apply(first)
    assert isinstance(mapped, MappedCase)
    found = mapped._asdict() | {"outputs": [each.text for each in mapped.outputs.values()]}
    assert {name: found[name] for name in case} == case
    assert all(isinstance(row, Row) for row in rows)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"train": [{"a": 1}], "test": [{"a": 2}]}, "two lists, “train” and “test”"),
        ({"data": [{"a": 1}], "rows": [{"a": 2}]}, "two lists, “data” and “rows”"),
        ({"odd": [{"a": 1}], "rows": [{"a": 2}]}, "two lists, “odd” and “rows”"),
        ({"results": {"rows": [{"a": 1}]}, "data": [{}]}, "two lists, “rows” and “data”"),
        ({"config": {"rows": [{"a": 1}]}}, "without a list"),
        ({"results": {"odd": [{"a": 1}]}}, "without a list"),
        ({"results": {"results": {"rows": [{"a": 1}]}}}, "without a list"),
    ],
)
def test_lists_of_which_either_may_be_meant_are_refused(value: Any, said: str) -> None:
    with pytest.raises(FileProblem, match=said) as raised:
        list(read(document(value), "a.json")[2])
    assert raised.value.code == "wrong_shape"


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|", "^"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_first_line_that_tells_excel_what_parts_columns_is_heard(
    delimiter: str, end: str
) -> None:
    """Also where another sign would divide the rows as well; it is no row and no header."""
    rows = [["id", "input"], ["1", "a,b"], ["2", "c;d"]]
    rows = [[cell.replace(delimiter, "-") for cell in row] for row in rows]
    text = f"sep={delimiter}{end}" + "".join(delimiter.join(row) + end for row in rows)
    found, _, read_back = read(text.encode(), "a.csv")
    assert (found.delimiter, found.columns) == (delimiter, ("id", "input"))
    assert [row.line for row in read_back] == [3, 4]


@pytest.mark.parametrize(
    "text",
    ["sep=a\n1\n2\n", "id,sep=;\n1,2\n", "id,input\n1,sep=;\nsep=;,3\n"],
)
def test_what_only_looks_so_stays_a_row(text: str) -> None:
    found, _, rows = read(text.encode(), "a.csv")
    assert "sep" in str(found.columns) + str(list(rows))


@pytest.fixture
def values() -> Callable[..., list[Any]]:
    def of(text: str, header: Any) -> list[Any]:
        found = detect_format(Source(io.BytesIO(text.encode()), "a.csv"), header=header)
        rows = read_rows(Source(io.BytesIO(text.encode()), "a.csv"), found)
        return [[*row.fields.values()] for row in rows if isinstance(row, Row)]

    return of


def test_it_is_heard_without_a_header_too(values: Callable[..., list[Any]]) -> None:
    assert values("sep=;\n1;2\n3;4\n", "no") == [["1", "2"], ["3", "4"]]
