"""What the demo's judge says of an answer."""

from __future__ import annotations

import pytest

from scoring.engine.demo.support import SUPPORT
from scoring.engine.demo.support_judge import DEAD_END, judge_reply


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (DEAD_END, '"no help"'),
        ("You can ask for a refund within 30 days of paying.", r"Says \"30 days\" where"),
        ("You can ask for a refund within 14 days.", "does not learn this part"),
        (
            "You can ask for a refund within 14 days of paying. The money is back on your card "
            "within five working days.",
            "word for word",
        ),
    ],
)
def test_a_stored_reply_names_what_is_wrong(output: str, said: str) -> None:
    case = next(case for case in SUPPORT.cases if case.key == "refund-period")
    reply = judge_reply(case, output)
    assert said in reply.text
    assert judge_reply(case, output) == reply
