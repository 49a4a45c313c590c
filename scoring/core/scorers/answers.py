"""Several right answers to one case: which there are, and which of them scores best.

A case's right answers are its expected value and its references, in this order; the first of equal
scores wins. What a scorer type does with one answer knows nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated, ClassVar, Final, NamedTuple

from scoring.core.config import About
from scoring.core.contract import Case, CaseProblem, Json, Result, forced_fail, scored
from scoring.core.json_text import JsonText, parse, to_text
from scoring.core.scorers.selection import (
    ReferenceConfig,
    TargetConfig,
    extract_expected,
    note_extracted,
    problem_result,
    quote_excerpt,
    score_each,
    score_target,
    select_expected,
    select_output,
    select_target,
)

EXPECTED: Final = "expected"
#: What a result says of its answers, beside the arithmetic.
ANSWER_FACTS: Final = frozenset({"answer", "answer_text", "answers", "left_out"})
MAX_TEXT: Final = 80  # characters of an answer that is named in a result
MAX_NOTES: Final = 3  # answers that could not be used, named in a result
MAX_NOTE: Final = 120  # characters of each note

# Sentences of a help page that several types share.
BEST_ANSWER: Final = (
    "The expected value and each reference of a case are right answers. The best score counts, "
    "that of the first where several tie; the metadata say which answer it was. With "
    "`use_references` off the expected value alone is compared, as a whole."
)
LISTS_ANSWERS: Final = (
    "A list of texts as expected value is a list of right answers too, unless the output is a "
    "list itself: then the two are compared as a whole."
)
LEAVES_OUT: Final = (
    "Where there are several answers, one that cannot be used, such as one without the key that "
    "is compared, is left out with a note in the metadata. Where none can be used, the result is "
    "an error."
)
NEEDS_ANSWER: Final = (
    "A case with neither expected value nor references takes `default_expected`; without that "
    "too it fails whatever the threshold, with the code `expected_missing`. An empty text is a "
    "value, not a missing one."
)

#: The position of the first of these answers that the output meets, None where it meets none; for
#: types whose score of one answer is 1 or 0, which then score that one alone.
FirstMet = Callable[[str, Sequence[str]], int | None]


@dataclass(frozen=True, kw_only=True)
class AnswersConfig(ReferenceConfig):
    """A config of a scorer for which the best of several right answers counts."""

    use_references: Annotated[
        bool,
        About(
            "Use references",
            "The expected value and every reference of a case are right answers, and the best score"
            " counts. Off: the expected value alone, as a whole.",
        ),
    ] = True

    splits_lists: ClassVar[bool] = True  # a list of texts is a list of answers
    is_joint: ClassVar[bool] = False  # one score for all answers together, none of which wins

    def takes_answers(self) -> bool:
        """Whether references and lists count as further answers."""
        return self.use_references and self.needs_expected()


class Answer(NamedTuple):
    """A right answer. `label` is `expected`, `expected 2` for the second text of a list, or
    `reference 3`; `value` is the part to compare, and `fault` says why it cannot be used.
    """

    label: str
    value: Json
    fault: Result | None = None


class Answers(NamedTuple):
    """The right answers to a case, with the part of its output to compare them with."""

    output: Json
    answers: Sequence[Answer]

    @property
    def usable(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.fault is None]

    @property
    def fault(self) -> Result:
        """Why no answer can be used, where none can."""
        return _first_failure([(answer, answer.fault) for answer in self.answers if answer.fault])

    @property
    def is_plain(self) -> bool:
        """Whether there is the expected value alone, as a whole."""
        return len(self.answers) == 1 and self.answers[0].label == EXPECTED

    @property
    def compared(self) -> Case:
        """The output with what is expected of it, where that is one value alone."""
        return Case(self.output, self.answers[0].value if self.is_plain else None)


def score_best(
    score: Callable[[Case], Result],
    cases: Sequence[Case],
    config: AnswersConfig,
    none_met: str = "",
    first_met: FirstMet | None = None,
) -> list[Result]:
    """As `score_each`, and where a case has several right answers, the result of the best one.

    All answers of all cases are scored in one batch. `none_met` is the reason where every answer
    scores 0; `{}` in it is their number.
    """
    if not config.takes_answers() or _have_one_each(cases, config):
        return score_each(score, cases, config)
    is_whole = config.is_whole
    results: list[Result] = []
    several: dict[int, Answers] = {}
    for case in cases:
        if first_met and is_whole and (texts := _texts_of(case)):
            results.append(_score_texts(score, case, texts, first_met, none_met))
        elif is_whole and not _has_several(case, config):
            results.append(score_target(score, select_target(case, config), config))
        else:
            found = find_answers(case, config)
            if isinstance(found, Answers):
                several[len(results)] = found
            results.append(found if isinstance(found, Result) else _PENDING)
    for index, best in _score_several(score, cases, several, none_met):
        results[index] = note_extracted(best, several[index].compared, config)
    return results


def find_answers(case: Case, config: AnswersConfig) -> Answers | Result:
    """The right answers to a case, those that cannot be used with their fault.

    The Result of a case without any, or whose output lacks what is compared.
    """
    answers = _select_answers(case, config)
    if not answers:
        return forced_fail("expected_missing", "no expected output")
    try:
        output = select_output(case.output, config)
    except CaseProblem as problem:
        faults = [answer.fault for answer in answers if answer.fault]
        return faults[0] if len(faults) == len(answers) else problem_result(problem)
    return Answers(output, [_extract(answer, config) for answer in answers])


def winning_case(case: Case, config: AnswersConfig, result: Result) -> Case | None:
    """The case with the answer that scored best as its only one, for whoever explains the result.

    None where the result does not say which of several it was.
    """
    if config.is_joint or not config.takes_answers():
        return case
    if result.score is None or (result.code and "answer" not in result.metadata):
        return case  # no answer decided it
    label = str(result.metadata.get("answer", ""))
    given = dict(_given(case, config))
    if label in given:
        return case._replace(expected=given[label], references=())
    answers = _select_answers(case, config)
    if len(answers) == 1 and answers[0].label == EXPECTED:
        return case
    texts = [JsonText(answer.value) for answer in answers if answer.label == label]
    return case._replace(expected=texts[0], references=()) if texts else None


def explain_answer(result: Result, *, is_negated: bool = False) -> Iterator[str]:
    """What a result says of the answers it chose from, in sentences."""
    facts = result.metadata
    count = facts.get("answers")
    if not isinstance(count, int):
        return
    if "answer" in facts:
        which = str(facts["answer"])
        if "answer_text" in facts:
            which = f"{which}, {_quote(str(facts['answer_text']))}"
        if count == 1:
            yield f"the only right answer: {which}"
        elif result.score == (1.0 if is_negated else 0.0):
            yield f"none of {count:,} right answers scores above 0, the first is {which}"
        else:
            yield f"best of {count:,} right answers: {which}"
    else:
        yield f"{count:,} right answers"
    for note in facts.get("left_out", ()):
        yield f"left out: {note}"


def describe_answers(answers: Answers) -> dict[str, Json]:
    """The metadata of a result for which all answers count together; empty for a single one."""
    unusable = [(answer.label, answer.fault) for answer in answers.answers if answer.fault]
    return {"answers": len(answers.answers), **_notes(unusable)} if len(answers.answers) > 1 else {}


_SELECTED: Final = TargetConfig()  # of cases whose values are selected already
_references_of: Final = itemgetter(Case._fields.index("references"))
_expected_of: Final = itemgetter(Case._fields.index("expected"))
_PENDING: Final = scored(0.0)  # holds the place of a result


def _have_one_each(cases: Sequence[Case], config: AnswersConfig) -> bool:
    """Whether no case has references or a list; so quick that the usual batch costs no more."""
    if not config.is_whole or isinstance(config.default_expected, list):
        return False
    return not any(map(_references_of, cases)) and list not in map(type, map(_expected_of, cases))


def _has_several(case: Case, config: AnswersConfig) -> bool:
    expected = config.default_expected if case.expected is None else case.expected
    return bool(case.references) or (config.splits_lists and isinstance(expected, list))


def _texts_of(case: Case) -> Sequence[str]:
    """The right answers where they are the references and at most a text; empty otherwise."""
    if not (case.references and isinstance(case.output, str)):
        return ()
    if case.expected is None:
        return case.references
    return (case.expected, *case.references) if isinstance(case.expected, str) else ()


def _score_texts(
    score: Callable[[Case], Result],
    case: Case,
    texts: Sequence[str],
    first_met: FirstMet,
    none_met: str,
) -> Result:
    """As `_score_several` with `_best`, which these answers are too simple and too many for."""
    index = first_met(case.output, texts)
    chosen = index or 0
    result = score(case._replace(expected=texts[chosen]))
    number = chosen + (case.expected is None)
    metadata = {
        **result.metadata,
        "answer": f"reference {number}" if number else EXPECTED,
        **_short_text(texts[chosen]),
        "answers": len(texts),
    }
    is_none_met = index is None and none_met and len(texts) > 1
    reason = none_met.format(len(texts)) if is_none_met else result.reason
    return result._replace(reason=reason, metadata=metadata)


def _score_several(
    score: Callable[[Case], Result],
    cases: Sequence[Case],
    several: Mapping[int, Answers],
    none_met: str,
) -> Iterator[tuple[int, Result]]:
    """The best result for each of these cases, by index; all their answers are one batch."""
    singles = [
        cases[index]._replace(output=found.output, expected=answer.value, references=())
        for index, found in several.items()
        for answer in found.usable
    ]
    single = iter(score_each(score, singles, _SELECTED))
    for index, found in several.items():
        results = [answer.fault or next(single) for answer in found.answers]
        yield index, _best(found, results, none_met)


def _given(case: Case, config: AnswersConfig) -> Iterator[tuple[str, Json]]:
    """Label and value of what the case gives as right answers, before anything is selected."""
    references = case.references if config.takes_answers() else ()
    expected = case.expected
    if expected is None and not references:
        expected = config.default_expected
    if expected is not None:
        yield EXPECTED, expected
    for number, reference in enumerate(references, start=1):
        yield f"reference {number}", reference


def _select_answers(case: Case, config: AnswersConfig) -> list[Answer]:
    """The answers from which the compared texts are extracted, those of a list each on its own."""
    answers = [
        answer
        for label, value in _given(case, config)
        if (answer := _select(label, value, config)) is not None
    ]
    if not (config.takes_answers() and config.splits_lists):
        return answers
    return [part for answer in answers for part in _split(answer, case, config)]


def _select(label: str, value: Json, config: AnswersConfig) -> Answer | None:
    """The part of the answer that a target key names; None where it is null."""
    try:
        value = select_expected(value, config)
    except CaseProblem as problem:
        return Answer(label, None, problem_result(problem))
    return None if value is None else Answer(label, value)


def _extract(answer: Answer, config: AnswersConfig) -> Answer:
    if answer.fault is not None:
        return answer
    try:
        return answer._replace(value=extract_expected(answer.value, config))
    except CaseProblem as problem:
        return Answer(answer.label, None, problem_result(problem))


def _split(answer: Answer, case: Case, config: AnswersConfig) -> list[Answer]:
    """The texts of a list as answers of their own, unless the output is a list itself."""
    texts = answer.value
    if answer.label != EXPECTED or not isinstance(texts, list) or not texts:
        return [answer]
    if not all(isinstance(text, str) for text in texts) or _is_list(case, config):
        return [answer]
    return [Answer(f"{EXPECTED} {n}", text) for n, text in enumerate(texts, start=1)]


def _is_list(case: Case, config: AnswersConfig) -> bool:
    """Whether what is compared of the output is a list."""
    try:
        output = select_output(case.output, config)
    except CaseProblem:
        return False
    if not isinstance(output, str) or isinstance(output, JsonText):
        return isinstance(output, list)
    if not output.lstrip().startswith("["):
        return False
    try:
        return isinstance(parse(output), list)
    except CaseProblem:
        return False


def _best(answers: Answers, results: Sequence[Result], none_met: str) -> Result:
    """The best result, with the answer it belongs to; an error where none is usable."""
    if answers.is_plain:
        return results[0]
    named = list(zip(answers.answers, results, strict=True))
    usable = [(answer, result) for answer, result in named if result.score is not None]
    if not usable:
        return _first_failure(named)
    answer, best = max(usable, key=lambda pair: (pair[1].score, not pair[1].code))
    if best.code and len(best.metadata) == 1:  # a fault of the output, whatever the answer
        return best
    unusable = [(other.label, result) for other, result in named if result.score is None]
    metadata = {
        **best.metadata,
        "answer": answer.label,
        **_short_text(answer.value),
        "answers": len(named),
        **_notes(unusable),
    }
    is_none_met = none_met and not best.score and not best.code and len(usable) > 1
    reason = none_met.format(len(usable)) if is_none_met else best.reason
    return best._replace(reason=reason, metadata=metadata)


def _first_failure(named: Sequence[tuple[Answer, Result]]) -> Result:
    """The first error, else the first skip."""
    failed = [_rename(result, answer.label) for answer, result in named]
    return next((result for result in failed if result.status == "error"), failed[0])


def _notes(unusable: Sequence[tuple[str, Result]]) -> dict[str, Json]:
    notes = [_rename(result, label).reason[:MAX_NOTE] for label, result in unusable]
    more = [f"{len(notes) - MAX_NOTES:,} more"] if len(notes) > MAX_NOTES else []
    return {"left_out": [*notes[:MAX_NOTES], *more]} if notes else {}


def _rename(result: Result, label: str) -> Result:
    """The result of an answer, its reason naming this answer instead of `expected`."""
    for start in (EXPECTED, "the expected value"):
        if label != EXPECTED and result.reason.startswith(start):
            return result._replace(reason=label + result.reason.removeprefix(start))
    return result


def _quote(text: str) -> str:
    """In quotes, but for JSON, whose own quotes would be escaped."""
    return text if text[:1] in {"{", "["} and text.isprintable() else quote_excerpt(text)


def _short_text(value: Json) -> dict[str, Json]:
    """The text of an answer as metadata, where it is short."""
    text = to_text(value)
    return {"answer_text": str(text)} if len(text) <= MAX_TEXT else {}
