"""A file of reviews as rows: who gave which output which verdict, or what is wrong with a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final, NamedTuple

from scoring.core import json_text
from scoring.core.contract import CaseProblem, Json
from scoring.core.files import FileProblem, Notes, Row, RowProblem, Source, detect_format, read_rows
from scoring.core.files.numeric_fields import read_amount, read_count
from scoring.core.files.rows import CellProblem
from scoring.core.questions import Answers
from scoring.models import ReviewVerdict
from scoring.models.data.dataset import KEY_LENGTH
from scoring.models.reviews import failure_tag
from scoring.models.reviews.review import MAX_NOTE, MAX_REVIEWER

MAX_ROWS: Final = 100_000  # of a file
MAX_ANSWERS: Final = 20_000  # characters of a review's answers as JSON
MAX_LABEL: Final = 80  # characters of a label of questions
MAX_TRIAL: Final = 32_767  # what the column of either database holds

#: A field of a review, and the columns that it is read from: the first one that a row has.
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "key": ("key", "case", "id", "case_id", "case_key"),
    "trial": ("trial",),
    "reviewer": ("reviewer", "annotator", "labeler", "email"),
    "verdict": ("verdict", "label"),
    "score": ("score",),
    "note": ("note", "comment"),
    "failure_tags": ("failure_tags", "failures"),
    "answers": ("answers",),
    "date": ("date", "reviewed_at", "changed_at"),
}
_WORDS: Final = {
    **{verdict.code: verdict for verdict in ReviewVerdict},
    **dict.fromkeys(("1", "1.0", "true"), ReviewVerdict.PASS),
    **dict.fromkeys(("0", "0.0", "false"), ReviewVerdict.FAIL),
}


class ReviewRow(NamedTuple):
    """One review of a file. `date` is None where the row has none.

    `answers` are by the label of the questions they answer, "" where the row names none.
    """

    line: int
    key: str
    trial: int
    reviewer: str
    verdict: ReviewVerdict
    score: float | None
    note: str
    failure_tags: list[str]
    answers: dict[str, Answers]
    date: datetime | None


def read_reviews(
    stream: BinaryIO, name: str, notes: Notes, reviewer: str = ""
) -> Iterator[ReviewRow | RowProblem]:
    """The reviews of a CSV, TSV, JSON, JSONL or XLSX file, also packed (.gz).

    `reviewer` is whose reviews they are where a row does not say so. Raises FileProblem.
    """
    source = Source(stream, name)
    detected = detect_format(source, header="yes")
    if not detected.problem:
        _check_columns(detected.columns)
    for count, row in enumerate(read_rows(source, detected, notes), start=1):
        if count > MAX_ROWS:
            text = f"The file has more than {MAX_ROWS:,} rows. Split it into several."
            raise FileProblem("too_many_rows", text)
        yield read_review(row, reviewer) if isinstance(row, Row) else row


def read_review(row: Row, reviewer: str = "") -> ReviewRow | RowProblem:
    """The row as a review; `reviewer` gave it where the row does not say who."""
    names = {name.strip().casefold(): name for name in reversed(row.fields)}
    columns = {
        field: next((names[known] for known in choices if known in names), "")
        for field, choices in COLUMNS.items()
    }
    try:
        values: dict[str, Any] = {
            field: read(row.fields.get(columns[field]), columns[field] or field)
            for field, read in _READERS.items()
        }
        if not (values["reviewer"] or reviewer):
            text = "nobody is named as the reviewer. Fill the cell."
            raise CellProblem("missing_reviewer", columns["reviewer"] or "reviewer", text)
    except CellProblem as fault:
        message = f"Line {row.line:,}, column {fault.column}: {fault.text}"
        return RowProblem(row.line, fault.column, fault.code, message)
    values["reviewer"] = values["reviewer"] or reviewer
    return ReviewRow(row.line, **values)


def _check_columns(columns: tuple[str, ...]) -> None:
    known = {name.strip().casefold() for name in columns}
    for field in ("key", "verdict"):
        if known.isdisjoint(COLUMNS[field]):
            listed = ", ".join(columns[:20]) + (", …" if len(columns) > 20 else "")
            text = f"Needed column: {field}. Found: {listed or 'none'}. Name a column {field}."
            raise FileProblem("missing_column", text, column=field)


def _is_empty(value: Json) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _read_key(value: Json, column: str) -> str:
    key = "" if _is_empty(value) else json_text.to_text(value)
    if not key:
        raise CellProblem("missing_id", column, "the key is empty. Fill it.")
    return _limited(key, column, KEY_LENGTH)


def _read_trial(value: Json, column: str) -> int:
    trial = read_count(value, column) or 0
    if trial > MAX_TRIAL:
        text = f"trial {trial:,} is out of range: 0 to {MAX_TRIAL:,}. Correct it."
        raise CellProblem("out_of_range", column, text)
    return trial


def _read_reviewer(value: Json, column: str) -> str:
    return "" if _is_empty(value) else _limited(_text(value, column).strip(), column, MAX_REVIEWER)


def _read_verdict(value: Json, column: str) -> ReviewVerdict:
    if _is_empty(value):
        raise CellProblem("missing_verdict", column, "there is no verdict. Fill it.")
    word = json_text.to_text(value).strip().casefold().replace(" ", "_").replace("-", "_")
    if word not in _WORDS:
        text = f"“{word[:40]}” is no verdict. Write pass, fail, unsure or bad_case, or 1 or 0."
        raise CellProblem("unknown_verdict", column, text)
    return _WORDS[word]


def _read_score(value: Json, column: str) -> float | None:
    return read_amount(value, column, 1)


def _read_note(value: Json, column: str) -> str:
    return "" if value is None else _limited(_text(value, column), column, MAX_NOTE)


def _read_tags(value: Json, column: str) -> list[str]:
    """A list of texts, as JSON too, or texts divided by commas."""
    if _is_empty(value):
        return []
    if isinstance(value, str):
        is_json = value.lstrip().startswith("[")
        value = _parse_json(value, column, "a list") if is_json else list(value.split(","))
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise CellProblem("type_mismatch", column, "failure tags are a list of texts. Correct it.")
    names = list(dict.fromkeys(stripped for name in value if (stripped := str(name).strip())))
    if len(names) > (most := failure_tag.MAX_TAGS):
        text = f"these are {len(names):,} failure tags; {most} are possible. Leave some out."
        raise CellProblem("too_many_tags", column, text)
    return [_limited(name, column, failure_tag.MAX_NAME) for name in names]


def _read_answers(value: Json, column: str) -> dict[str, Answers]:
    """An object from questions to answers, or from labels of questions to such objects."""
    if _is_empty(value):
        return {}
    if isinstance(value, str):
        value = _parse_json(value, column, "an object")
    if not isinstance(value, dict):
        text = "answers are an object from questions to answers. Correct it."
        raise CellProblem("type_mismatch", column, text)
    labelled = {label: each for label, each in value.items() if isinstance(each, dict)}
    plain = {name: each for name, each in value.items() if name not in labelled}
    answers = {**({"": plain} if plain else {}), **labelled}
    _limited(json_text.to_text(answers), column, MAX_ANSWERS)
    for label, given in answers.items():
        if len(label) > MAX_LABEL or not all(_is_answer(each) for each in given.values()):
            text = "an answer is a text, a number or a list of texts. Correct it."
            raise CellProblem("type_mismatch", column, text)
    return answers


def _is_answer(value: Json) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, str | int | float)


def _parse_json(text: str, column: str, wanted: str) -> Json:
    try:
        return json_text.parse(text, refuse_nul=True)
    except CaseProblem:
        fault = f"this is not {wanted} of JSON. Correct it."
        raise CellProblem("invalid_json", column, fault) from None


def _read_date(value: Json, column: str) -> datetime | None:
    """A day or a moment in ISO 8601, in UTC where it has no offset."""
    if _is_empty(value):
        return None
    text = json_text.to_text(value).strip()
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        example = "2026-11-20 or 2026-11-20T09:30+01:00"
        fault = f"“{text[:40]}” is no date. Write it like {example}."
        raise CellProblem("invalid_date", column, fault) from None


def _text(value: Json, column: str) -> str:
    if isinstance(value, dict | list):
        raise CellProblem("type_mismatch", column, "this is no text. Correct it.")
    return json_text.to_text(value)


def _limited(text: str, column: str, most: int) -> str:
    if len(text) > most:
        fault = f"the text has {len(text):,} characters; {most:,} are possible. Shorten it."
        raise CellProblem("cell_too_long", column, fault)
    return text


_READERS: Final[Mapping[str, Callable[[Json, str], object]]] = {
    "key": _read_key,
    "trial": _read_trial,
    "reviewer": _read_reviewer,
    "verdict": _read_verdict,
    "score": _read_score,
    "note": _read_note,
    "failure_tags": _read_tags,
    "answers": _read_answers,
    "date": _read_date,
}
