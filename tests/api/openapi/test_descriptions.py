"""What is noted at a method leaves the method as it was."""

from __future__ import annotations

from evalsite.api.openapi.descriptions import describe


def test_words_are_noted_at_the_method_itself() -> None:
    def get() -> str:
        return "answer"

    described = describe(responses={200: None}, parameters=[])(get)
    assert described is get
    assert described() == "answer"
    assert described.description == {  # type: ignore[attr-defined]
        "responses": {200: None},
        "parameters": [],
    }
