"""What the people of the demo say follows from the texts, and from who they are."""

from __future__ import annotations

import pytest

from scoring.engine.demo.opinions import (
    HEDGE,
    adjudicate_answer,
    compare_answers,
    review_answer,
)
from scoring.engine.demo.people import MARA, TOMAS, DemoPerson
from scoring.engine.demo.questions import QUESTIONS
from scoring.engine.demo.story import DemoCase
from scoring.engine.demo.support import SUPPORT
from scoring.models import PreferenceVerdict, ReviewVerdict

PASS, FAIL = ReviewVerdict.PASS, ReviewVerdict.FAIL
CAREFUL = DemoPerson("Careful", MARA.role)
STRICT = DemoPerson("Strict", MARA.role, fails_hedges=1)
CARELESS = DemoPerson("Careless", MARA.role, misses_mistakes=1)


def case_of(key: str) -> DemoCase:
    cases = {case.key: case for case in (*QUESTIONS.cases, *SUPPORT.cases)}
    return cases[key]


@pytest.mark.parametrize(
    ("person", "output", "verdict"),
    [
        (CAREFUL, "The Nile.", PASS),
        (CAREFUL, "It is Congo.", FAIL),
        (CARELESS, "It is Congo.", PASS),
        (CAREFUL, f"Nile, {HEDGE}.", PASS),
        (STRICT, f"Nile, {HEDGE}.", FAIL),
        (STRICT, "The river Nile.", PASS),
    ],
)
def test_a_review_tells_mistakes_and_hedges(
    person: DemoPerson, output: str, verdict: ReviewVerdict
) -> None:
    assert review_answer(case_of("longest-river-africa"), output, person).verdict == verdict


def test_what_fails_has_a_note_and_a_tag() -> None:
    case = case_of("longest-river-africa")
    wrong = review_answer(case, "Congo.", CAREFUL)
    hedged = review_answer(case, f"Nile, {HEDGE}.", STRICT)
    assert (wrong.note, wrong.failure_tags) == ("It is Nile.", ("wrong fact",))
    assert hedged.failure_tags == ("hedges",)


def test_a_person_says_the_same_of_the_same_text() -> None:
    for case in QUESTIONS.cases:
        output = f"{case.expected}, {HEDGE}."
        assert review_answer(case, output, MARA) == review_answer(case, output, MARA)


def test_people_differ_about_hedges() -> None:
    texts = [(case, f"{case.expected}, {HEDGE}.") for case in QUESTIONS.cases]
    failed = {
        person: sum(review_answer(*text, person).verdict == FAIL for text in texts)
        for person in (MARA, TOMAS)
    }
    assert failed[MARA] > 2 * failed[TOMAS] > 0


@pytest.mark.parametrize(
    ("key", "output", "verdict"),
    [
        ("longest-river-africa", "Congo.", FAIL),
        ("longest-river-africa", f"Nile, {HEDGE}.", PASS),
        ("moon-landing", f"1969, {HEDGE}.", FAIL),
        ("moon-landing", "1969.", PASS),
    ],
)
def test_the_final_verdict_lets_no_hedged_number_pass(
    key: str, output: str, verdict: ReviewVerdict
) -> None:
    assert adjudicate_answer(case_of(key), output).verdict == verdict


def test_a_whole_answer_is_better_than_one_that_lacks_its_end() -> None:
    case = case_of("cancel-plan")
    whole = str(case.expected).replace(", then ", " > ")
    part = "Open Billing."
    assert compare_answers(case, (whole, part), MARA).verdict == PreferenceVerdict.BETTER
    assert compare_answers(case, (part, whole), MARA).verdict == PreferenceVerdict.WORSE


def test_between_two_wordings_people_choose_in_all_three_ways() -> None:
    chosen = {
        compare_answers(case, (str(case.expected), f"Sure. {case.expected}"), TOMAS).verdict
        for case in SUPPORT.cases
    }
    assert chosen == set(PreferenceVerdict)
