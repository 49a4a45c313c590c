"""Near duplicates: what counts, what does not, and that most are found."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from scoring.core.files import near_duplicates
from scoring.core.files.near_duplicates import MIN_SIMILARITY, NearDuplicate, NearDuplicates
from tests.support.speed import quick_enough

QUESTION = "Which of the two customers was refunded on Monday, and how much did they get back?"


def found(texts: Iterable[str]) -> list[NearDuplicate]:
    looking = NearDuplicates()
    for text in texts:
        looking.add(text)
    return looking.found


@pytest.mark.parametrize(
    "other",
    [
        QUESTION.replace("Monday", "Sunday"),
        QUESTION.upper(),
        f"  {QUESTION.replace(' ', '   ')}\n",
        QUESTION + " Please.",
        QUESTION.replace("ü", "u"),
    ],
)
def test_a_text_with_small_changes_is_near(other: str) -> None:
    answers = found(["Something else altogether, of no interest here.", QUESTION, other])
    is_repeat = other == QUESTION
    assert [(each.place, each.first) for each in answers] == ([] if is_repeat else [(3, 2)])


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["", "", "a", "b"],
        ["short", "shore"],
        [QUESTION, QUESTION, QUESTION],
        [QUESTION, "Which other question has hardly a word in common with it, and why is that?"],
        [QUESTION, QUESTION[:50]],
    ],
)
def test_repeats_short_texts_and_different_ones_are_not_near(texts: list[str]) -> None:
    assert found(texts) == []


@given(st.lists(st.text(max_size=120), max_size=12))
def test_what_is_found_is_as_alike_as_it_says(texts: list[str]) -> None:
    for place, first, similarity in found(texts):
        assert first < place
        assert MIN_SIMILARITY <= similarity <= 1
        pair = [" ".join(texts[n - 1].lower().split()) for n in (place, first)]
        assert fuzz.ratio(*pair) >= 85  # white space is folded a little otherwise here


def test_nearly_all_pairs_among_thousands_are_found_in_seconds() -> None:
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghij", k=chance.randint(3, 9))) for _ in range(2_000)]
    texts = [" ".join(chance.choices(words, k=30)) for _ in range(3_000)]
    edited = []
    for text in texts[:500]:
        parts = text.split()
        parts[chance.randrange(30)] = chance.choice(words)
        edited.append(" ".join(parts))
    with quick_enough(5):
        pairs = {(each.place, each.first) for each in found(texts + edited)}
    wanted = {(3_001 + n, 1 + n) for n in range(500)}
    assert len(pairs & wanted) >= 490
    assert len(pairs - wanted) <= 5


def test_only_so_many_texts_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "MAX_TEXTS", 3)
    others = ["one thing that differs", "quite another text"]
    assert found([QUESTION, *others, QUESTION + "!"]) == []
    assert len(found([QUESTION, others[0], QUESTION + "!"])) == 1


def test_many_alike_texts_are_compared_with_few_others() -> None:
    with quick_enough(5):
        answers = found(f"What is {n} plus {n + 1}? Answer with a number." for n in range(2_000))
        assert len(answers) > 1_500
