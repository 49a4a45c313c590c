"""The demo's short questions."""

from __future__ import annotations

from scoring.engine.demo.questions import QUESTIONS


def test_short_questions_carry_references() -> None:
    assert all(case.references for case in QUESTIONS.cases)
