"""Scorers that suit a dataset, told from what its cases expect and what outputs look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from scoring.core.contract import Case, CaseProblem, Json
from scoring.core.json_text import parse, to_text
from scoring.core.scorers.extraction import find_json
from scoring.core.scorers.numeric import read_number

MIN_LABELLED: Final = 10  # cases, from which on few different answers are labels
MAX_LABEL: Final = 40  # characters
MAX_SHORT: Final = 60  # characters of a short answer
MIN_SHARE: Final = 0.9  # of values that are alike
MIN_RATIO: Final = 3  # of the outputs to the answers, in length


class SuggestedScorer(NamedTuple):
    """A scorer that suits, and why, in a sentence; one that asks a model has its settings open."""

    name: str
    type: str
    config: Mapping[str, Any]
    why: str
    asks_model: bool = False


class SuggestedScorers(NamedTuple):
    """What suits one kind of cases: the name of a suite of them, and the scorers, best first."""

    suite: str
    scorers: Sequence[SuggestedScorer]

    @property
    def computed(self) -> list[SuggestedScorer]:
        """Those that need no model."""
        return [scorer for scorer in self.scorers if not scorer.asks_model]


_ANY_CASE: Final = {"case_sensitive": False}
_LAST: Final = {"extract": "last_number"}
_BOTH_LAST: Final = {**_LAST, "extract_expected": "last_number"}
_INSIDE: Final = {"extract": "json"}
_FACTS: Final = SuggestedScorer(
    "facts agree",
    "factuality",
    {},
    "A model compares the facts, whatever the words; it costs a call a case.",
    asks_model=True,
)

NO_ANSWERS: Final = SuggestedScorers(
    "starter without answers",
    [
        SuggestedScorer(
            "says something",
            "regex",
            {"pattern": r"\S"},
            "No case says what is right, so that an output says anything is all that can be asked.",
        ),
        SuggestedScorer(
            "judged by a rubric",
            "llm_judge",
            {},
            "A model judges by a rubric that you write; it costs a call a case.",
            asks_model=True,
        ),
    ],
)
LABELS: Final = SuggestedScorers(
    "starter for labels",
    [
        SuggestedScorer(
            "same label",
            "exact_match",
            {**_ANY_CASE, "trim": True},
            "The cases expect the same few short texts: an output has to be one of them.",
        ),
        SuggestedScorer(
            "names the label",
            "includes",
            _ANY_CASE,
            "The label may stand in a sentence; one inside another label is found there, too.",
        ),
    ],
)
SHORT_ANSWERS: Final = SuggestedScorers(
    "starter for short answers",
    [
        SuggestedScorer(
            "has the answer",
            "includes",
            _ANY_CASE,
            "The answers are short: what counts is that an output has one of them.",
        ),
        SuggestedScorer(
            "close enough",
            "levenshtein",
            {},
            "The outputs are about as short as the answers: slips of spelling may count little.",
        ),
    ],
)
ANSWERS_IN_TEXTS: Final = SuggestedScorers(
    "starter for answers in texts",
    [
        SuggestedScorer(
            "has the answer",
            "includes",
            _ANY_CASE,
            "The answers are short, the outputs are sentences: one of them has to be in there.",
        ),
        _FACTS,
    ],
)
PROSE: Final = SuggestedScorers(
    "starter for prose",
    [
        SuggestedScorer(
            "shares the words",
            "token_f1",
            {},
            "The answers are sentences: their words count, and their order does not.",
        ),
        SuggestedScorer(
            "covers it in order",
            "rouge_l",
            {},
            "As much of the answer as the output has in the same order; English words alone count.",
        ),
        _FACTS,
    ],
)
NUMBERS: Final = SuggestedScorers(
    "starter for numbers",
    [
        SuggestedScorer(
            "same number", "numeric", {"tolerance": 0}, "The cases expect numbers: right or wrong."
        ),
        SuggestedScorer("close number", "numeric", {}, "The closer the number, the higher."),
    ],
)
NUMBERS_IN_TEXTS: Final = SuggestedScorers(
    "starter for numbers in texts",
    [
        SuggestedScorer(
            "same last number",
            "numeric",
            {"tolerance": 0, **_LAST},
            "The cases expect numbers and the outputs are texts: the last number in each counts.",
        ),
        SuggestedScorer(
            "close last number", "numeric", _LAST, "The closer the last number, the higher."
        ),
    ],
)
NUMBERS_AT_ENDS: Final = SuggestedScorers(
    "starter for numbers at the end",
    [
        SuggestedScorer(
            "ends with the number",
            "numeric",
            {"tolerance": 0, **_BOTH_LAST},
            "What is expected ends with a number on a line of its own, such as A: 18.",
        ),
        SuggestedScorer(
            "ends close to the number",
            "numeric",
            _BOTH_LAST,
            "The closer the number at the end, the higher.",
        ),
    ],
)
JSON: Final = SuggestedScorers(
    "starter for JSON",
    [
        SuggestedScorer(
            "same JSON", "json_match", {}, "The cases expect JSON: all of it has to be right."
        ),
        SuggestedScorer(
            "fields right", "json_similarity", {}, "The share of the fields that are right."
        ),
    ],
)
JSON_IN_TEXTS: Final = SuggestedScorers(
    "starter for JSON in texts",
    [
        SuggestedScorer(
            "same JSON inside",
            "json_match",
            _INSIDE,
            "The cases expect JSON and outputs wrap it in prose or a fenced block: all of it has to"
            " be right.",
        ),
        SuggestedScorer(
            "fields right inside",
            "json_similarity",
            _INSIDE,
            "The share of the fields that are right, in the JSON inside the output.",
        ),
    ],
)

_LAST_LINE: Final = re.compile(r"(?P<marker>[^\w\s]{2,}|\S{1,20}[:=])\s*\$?-?[\d.,]*\d\.?")


def suggest_scorers(cases: Sequence[Case]) -> SuggestedScorers:
    """What to score such cases with; a mixture counts as texts.

    A case whose output is "" has none.
    """
    answers = [answer for case in cases for answer in _answers(case)]
    outputs = [case.output for case in cases if case.output != ""]
    if not answers:
        return NO_ANSWERS
    if all(map(_is_structure, answers)):
        is_wrapped = bool(outputs) and _share(outputs, _wraps_json) > 1 - MIN_SHARE
        return JSON_IN_TEXTS if is_wrapped else JSON
    if all(map(_is_number, answers)):
        return NUMBERS if _share(outputs, _is_number) >= MIN_SHARE else NUMBERS_IN_TEXTS
    if _share(answers, _ends_with_number) >= MIN_SHARE:
        return NUMBERS_AT_ENDS
    return _suggest_for_texts([to_text(answer) for answer in answers], outputs)


def _suggest_for_texts(answers: Sequence[str], outputs: Sequence[Json]) -> SuggestedScorers:
    length = median(map(len, answers))
    longest = max(map(len, answers))
    labels = {answer.strip().lower() for answer in answers}
    is_labelled = len(answers) >= MIN_LABELLED and len(labels) <= len(answers) / 5
    if is_labelled and longest <= MAX_LABEL:
        return LABELS
    if length > MAX_SHORT:
        return PROSE
    lengths = [len(to_text(output)) for output in outputs]
    is_longer = bool(lengths) and median(lengths) > max(MIN_RATIO * length, MAX_SHORT)
    return ANSWERS_IN_TEXTS if is_longer else SHORT_ANSWERS


def _answers(case: Case) -> Iterator[Json]:
    """The right answers of a case, the texts of a list each."""
    expected = case.expected
    if isinstance(expected, list) and expected and all(isinstance(text, str) for text in expected):
        yield from expected
    elif expected is not None:
        yield expected
    yield from case.references


def _share(values: Sequence[Json], holds: Callable[[Json], bool]) -> float:
    """The share of the values for which it holds; 1.0 of none."""
    return sum(map(holds, values)) / len(values) if values else 1.0


def _is_structure(value: Json) -> bool:
    if not isinstance(value, str):
        return isinstance(value, dict | list)
    try:
        return isinstance(parse(value), dict | list)
    except CaseProblem:
        return False


def _wraps_json(output: Json) -> bool:
    """Whether it is no JSON and holds some."""
    return isinstance(output, str) and not _is_structure(output) and find_json(output) is not None


def _is_number(value: Json) -> bool:
    try:
        read_number(value)
    except CaseProblem:
        return False
    return True


def _ends_with_number(answer: Json) -> bool:
    """Whether a text has several lines and the last one is a marker with a number."""
    lines = answer.strip().splitlines() if isinstance(answer, str) else []
    return len(lines) > 1 and bool(_LAST_LINE.fullmatch(lines[-1].strip()[:MAX_LABEL]))
