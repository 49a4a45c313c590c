"""How many tokens a text has, at a guess: every model counts in a way of its own."""

from __future__ import annotations

from math import ceil
from typing import Final

from scoring.core.services import Question

BYTES_A_TOKEN: Final = 4  # of UTF-8: a rule of thumb


def estimate_tokens(text: str) -> int:
    return ceil(len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN)


def estimate_question_tokens(question: Question) -> int:
    """Of all its messages together."""
    return estimate_tokens("".join(message.content for message in question.messages))
