from __future__ import annotations

import pytest

from scoring.core.llm.token_estimate import estimate_question_tokens, estimate_tokens
from scoring.core.services import Message, Question


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本", 2), ("\ud83d", 1)]
)
def test_four_bytes_are_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_all_messages_of_a_question_count() -> None:
    messages = (Message("system", "abcd"), Message("user", "efgh"))
    assert estimate_question_tokens(Question("m", messages)) == 2
