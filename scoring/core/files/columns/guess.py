"""A first guess of the mapping, from the names columns have in the wild."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final
from unicodedata import combining, normalize

from scoring.core.files.columns.column_types import BOOLEAN, NUMBER, column_type
from scoring.core.files.columns.exported_scores import exported_scores
from scoring.core.files.columns.guess_by_contents import add_by_contents
from scoring.core.files.columns.mapping import BLANKS, OUTPUT_WORDS, Mapping
from scoring.core.files.columns.separators import guess_separator
from scoring.core.files.columns.translated_names import (
    OTHER_LISTED_TAGS,
    OTHER_NAMES,
    OTHER_OUTPUT_NAMES,
    OTHER_TRUE_ANSWERS,
)
from scoring.core.files.json.chat_messages import split_chat
from scoring.core.files.rows import FileProblem, Row

_CHATS: Final = ("messages", "conversations", "conversation")  # lists of messages
# In order of preference; compared in lower case without accents, other characters as "_".
_ENGLISH: Final[dict[str, tuple[str, ...]]] = {
    "id": (
        *("custom_id", "id", "key", "case_id", "case_key", "example_id", "question_id", "qid"),
        *("uid", "uuid", "task_id", "sample_id", "test_id", "row_id"),
    ),
    "trial": ("trial", "trial_index", "attempt", "repetition"),
    "latency_ms": ("latency_ms", "duration_ms", "elapsed_ms", "response_time_ms"),
    "latency_s": (
        *("latency_s", "latency_seconds", "latency_sec", "duration_s", "duration_seconds"),
        *("elapsed_s", "elapsed_seconds", "response_time_s"),
    ),
    "tokens_in": ("tokens_in", "input_tokens", "prompt_tokens"),
    "tokens_out": ("tokens_out", "output_tokens", "completion_tokens"),
    "cost_usd": ("cost_usd", "total_cost_usd", "usd"),
    "error": ("error", "error_message", "exception"),
    "references": (
        *("references", "reference_answers", "correct_answers", "acceptable_answers"),
        *("golden_answers", "ground_truths", "answers", "aliases"),
    ),
    "expected": (
        *("expected", "expected_output", "expected_answer", "expected_response"),
        *("ground_truth", "groundtruth", "gold", "golden", "target", "ideal", "best_answer"),
        *("correct_answer", "golden_answer", "gold_answer", "reference_answer"),
        *("reference_output", "reference_outputs", "reference", "answer", "label"),
    ),
    "input": (
        *("input", "question", "prompt", "query", "instruction", "user_input", "problem"),
        *("inputs", *_CHATS, "text"),
    ),
    "metadata": ("metadata", "meta"),
    "tags": ("tags", "tag", "keywords", "category", "categories", "topic", "subset"),
}
_NAMES: Final = {field: names + OTHER_NAMES.get(field, ()) for field, names in _ENGLISH.items()}
_OUTPUT_NAMES: Final = (
    *("output", "model_output", "actual_output", "completion", "response", "prediction"),
    *("model_response", "model_answer", "generated_answer", "generated_text", "generation"),
    *("generated", "actual", "outputs", "answer"),
    *OTHER_OUTPUT_NAMES,
)
#: Where objects under such names hold the value: replies of models, lists of answers.
_INNER: Final = {
    "output": (
        *(".completion", ".output_text", ".output", ".content", ".text", ".message.content"),
        *(".choices[0].message.content", ".body.choices[0].message.content"),
    ),
    "references": (".text", ".aliases"),
    "input": (".raw",),
}
_VAGUE: Final = ("label", "text")  # which objects of all kinds have
_BY_LEAF: Final = ("expected", "input")  # found inside objects, too: `vars.question`
#: Before a word for outputs: what is right, or known to be wrong, is not what a model said.
_TRUE_ANSWERS: Final = (
    *("accepted", "best", "correct", "desired", "expected", "gold", "golden", "good", "human"),
    *("ideal", "incorrect", "reference", "right", "target", "true", "wrong"),
)
_FALSE_ANSWERS: Final = ("incorrect", "wrong")
#: Who speaks, before what is said: “bot said”, “model's reply”.
_SPEAKERS: Final = ("ai", "assistant", "bot", "chatbot", "agent", "llm", "model", "our", "system")
_SAID: Final = ("said", "says", "reply", "replied", "answered", "text", "result", *OUTPUT_WORDS)
_ANSWERS: Final = ("text", "value", "result", "reply", *OUTPUT_WORDS)
_MODEL: Final = re.compile(
    r"(?:(?:chat)?gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|phi_?\d|o[134])"
    r"[0-9a-z._]*"
)
_LETTERED: Final = re.compile(
    r"(?:model|run|system|candidate|variant|prompt|version|v)_?(?:[a-z]|\d+)"
)
_NAME_WORDS: Final = 4  # more are a text
_LISTED_TAGS: Final = ("tags", "tag", "keywords", "categories", *OTHER_LISTED_TAGS)


def guess_mapping(
    columns: Sequence[str],
    sample: Iterable[Row] = (),
    choices: dict[str, Sequence[str]] | None = None,
    *,
    is_open: bool = False,
) -> Mapping:
    """The mapping that the names suggest; fields in `choices` are taken as they are.

    `sample` helps to tell outputs from other columns and to find separators. An empty choice
    leaves a field unmapped. `is_open`: rows after the sample may have further columns, so an
    `error` is mapped in any case. Nothing is checked: see `Mapping.check`.
    """
    rows = list(sample)
    chosen: dict[str, Sequence[str]] = dict(choices or {})
    if "drop" not in chosen and (scores := exported_scores(columns)):
        mapped_columns = {column for taken in chosen.values() for column in taken}
        chosen["drop"] = [column for column in scores if column not in mapped_columns]
    claimed = {name for field, mapped in chosen.items() if field not in BLANKS for name in mapped}
    free = {_plain(column): column for column in reversed(columns) if column not in claimed}
    _add_by_names(chosen, columns, free, rows)
    add_by_contents(chosen, _outside(free.values(), chosen), rows)
    _split_chat(chosen, choices or {}, rows)
    if is_open and "error" not in chosen:
        chosen["error"] = ["error"]
    for field, marks in (("references", ";|\n"), ("tags", ",;|")):
        mapped = chosen.get(field, ())
        is_list = field == "references" or any(_plain(name) in _LISTED_TAGS for name in mapped)
        if is_list and f"{field}_separator" not in chosen:
            chosen[f"{field}_separator"] = [_separator(mapped, marks, rows)]
    return Mapping.of(chosen)


def _add_by_names(
    chosen: dict[str, Sequence[str]],
    columns: Sequence[str],
    free: dict[str, str],
    rows: Sequence[Row],
) -> None:
    """Map the fields that are not chosen, and take their columns out of the `free` ones."""
    for field, names in _NAMES.items():
        name = next((name for name in names if name in free), None)
        if field not in chosen and name is not None:
            chosen[field] = _inner(field, [free.pop(name)], rows)
    if "expected" not in chosen and (right := _right_answer(free, rows)):
        chosen["expected"] = [free.pop(_plain(right))]
    if "output" not in chosen:
        chosen["output"] = _inner("output", _outputs(_outside(columns, chosen), free, rows), rows)
    for field in _BY_LEAF:
        if field not in chosen and (leaf := _leaf(field, _outside(columns, chosen))):
            chosen[field] = [leaf]


def _right_answer(free: dict[str, str], rows: Sequence[Row]) -> str:
    """The column that is named as right, such as “good answer” or “human reply”; "" for none."""
    named = (column for name, column in free.items() if _is_right_answer(name))
    return next((column for column in named if _holds_text(column, rows)), "")


def _is_right_answer(name: str) -> bool:
    words = name.split("_")
    is_right = words[0] in _TRUE_ANSWERS and words[0] not in _FALSE_ANSWERS
    return is_right and 1 < len(words) < _NAME_WORDS and words[-1] in _ANSWERS


def _split_chat(
    chosen: dict[str, Sequence[str]], choices: dict[str, Sequence[str]], rows: Sequence[Row]
) -> None:
    """Map the end of a chat as expected, where there are no other answers or outputs."""
    is_taken = any(chosen.get(field) for field in ("expected", "output", "references"))
    column = next(iter(chosen.get("input", ())), "")
    if is_taken or choices.keys() & {"input", "expected"} or _plain(column) not in _CHATS:
        return
    if parts := split_chat(column, rows):
        chosen["input"], chosen["expected"] = [parts[0]], [parts[1]]


def _outside(columns: Iterable[str], chosen: dict[str, Sequence[str]]) -> list[str]:
    """The columns that are not inside a chosen one."""
    inside = tuple(
        f"{column}." for field, mapped in chosen.items() if field not in BLANKS for column in mapped
    )
    return [column for column in columns if not column.startswith(inside)]


def _leaf(field: str, columns: Sequence[str]) -> str:
    """The column whose last part is the best name of the field; "" for none."""
    leaves = {_plain(column).rpartition(".")[2]: column for column in columns if "." in column}
    names = (name for name in _NAMES[field] if name not in _VAGUE)
    return next((leaves[name] for name in names if name in leaves), "")


def _inner(field: str, columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """The columns; of one that holds objects, the path inside where most have a value."""

    def path_inside(column: str) -> str:
        paths = (f"{column}{steps}" for steps in _INNER.get(field, ()))
        return next((path for path in paths if _is_usual(path, rows)), column)

    return [
        path_inside(column)
        if any(isinstance(row.fields.get(column), dict) for row in rows)
        else column
        for column in columns
    ]


def _is_usual(path: str, rows: Sequence[Row]) -> bool:
    """Whether most rows have a text or a list there."""
    reader = Mapping(input=path)
    values = [reader.value(row.fields, path) for row in rows]
    return sum(isinstance(value, str | list) for value in values) * 2 > len(values)


def displaced_fields(
    columns: Iterable[str], choices: dict[str, Sequence[str]], mapping: Mapping
) -> list[tuple[str, str, str]]:
    """Fields that lost their column to a choice, as (field, column, chosen field).

    A field that the choices name, if only to unmap it, is not among them.
    """
    chosen = {
        column: field
        for field, mapped in choices.items()
        if field not in BLANKS
        for column in mapped
    }
    fields = {**_NAMES, "output": _OUTPUT_NAMES}
    return [
        (field, column, chosen[column])
        for field, names in fields.items()
        if field not in choices and not getattr(mapping, field)
        for column in columns
        if column in chosen and _plain(column) in names
    ]


def map_options(pairs: Iterable[str]) -> dict[str, Sequence[str]]:
    """Options such as `expected=ground_truth` as choices; a field may come several times."""
    choices: dict[str, Sequence[str]] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals:
            text = f"“{pair}” is no mapping. Write it as field=column."
            raise FileProblem("unknown_field", text)
        name = field.strip()
        choices[name] = [*choices.get(name, ()), column]
    return choices


def is_known(name: str) -> bool:
    """Whether a column of this name is understood: as a field, or as a model's outputs."""
    plain = _plain(name)
    is_field = any(plain in names for names in _NAMES.values()) or plain in _OUTPUT_NAMES
    is_short = plain.count("_") < _NAME_WORDS
    is_said = _output_group(plain) or _MODEL.fullmatch(plain) or _is_right_answer(plain)
    return is_field or bool(is_short and is_said)


def _plain(name: str) -> str:
    letters = "".join(char for char in normalize("NFKD", name.casefold()) if not combining(char))
    return re.sub(r"[^0-9a-z.]+", "_", letters).strip("_")


def _outputs(columns: Sequence[str], free: dict[str, str], rows: Sequence[Row]) -> list[str]:
    if exact := next((name for name in _OUTPUT_NAMES if name in free), ""):
        return [free[exact]]
    groups: dict[tuple[str, int], list[str]] = {}
    for column in columns:
        group = _output_group(_plain(column))
        if group and column in free.values() and _holds_text(column, rows):
            groups.setdefault(group, []).append(column)
    return max(groups.values(), key=len, default=[]) or _models(columns, free, rows)


def _models(columns: Sequence[str], free: dict[str, str], rows: Sequence[Row]) -> list[str]:
    """Columns named after models (`gpt-4o`), or that differ by a letter (`model-a`, `model-b`)."""
    texts = [
        column
        for column in columns
        if column in free.values()
        and column.rpartition(".")[0] not in columns  # no field of an object
        and _holds_text(column, rows)
        and not _holds_scores(column, rows)
    ]
    named = [column for column in texts if _MODEL.fullmatch(_plain(column))]
    lettered = [column for column in texts if _LETTERED.fullmatch(_plain(column))]
    return named or (lettered if len(lettered) > 1 else [])


def _holds_scores(column: str, rows: Sequence[Row]) -> bool:
    """Whether all values are numbers or booleans, as in columns with the scores of models."""
    return column_type(row.fields.get(column) for row in rows) in (NUMBER, BOOLEAN)


def _output_group(name: str) -> tuple[str, int] | None:
    """The output word of a name and its position: inside an object, first or last."""
    head, dot, leaf = name.rpartition(".")
    if dot:
        return (leaf, 0) if leaf in OUTPUT_WORDS and head else None
    words = name.split("_")
    if len(words) < 2 or words[0] in _TRUE_ANSWERS:
        return None
    if any(word in OTHER_TRUE_ANSWERS for word in words):
        return None
    if words[0] in OUTPUT_WORDS:
        return words[0], 1
    if words[0] in _SPEAKERS and words[-1] in _SAID:
        return "said", 2
    return (words[-1], 2) if words[-1] in OUTPUT_WORDS else None


def _holds_text(column: str, rows: Sequence[Row]) -> bool:
    """Whether most of the sample's values are texts (true without a sample)."""
    reader = Mapping(input=column)
    values = [reader.value(row.fields, column) for row in rows]
    return sum(isinstance(value, str) for value in values) * 2 >= len(values)


def _separator(columns: Iterable[str], marks: str, rows: Sequence[Row]) -> str:
    cells = (row.fields.get(column) for row in rows for column in columns)
    texts = [text for text in cells if isinstance(text, str) and text]
    return guess_separator([text for text in texts if not text.startswith(("[", "("))], marks)
