"""The judge of the support answers: no model, but replies written beforehand by this code."""

from __future__ import annotations

import json
from typing import Final

from scoring.core.services import Reply
from scoring.engine.demo.story import DemoCase, seeded_random

CONNECTION: Final = "Stored replies of the demo"
URL: Final = "https://stored-replies.invalid/v1"  # by definition of .invalid nobody is there
MODEL: Final = "stored-replies"
CHOICES: Final = {"solves": 1.0, "partly": 0.5, "wrong": 0.0, "no help": 0.0}
RUBRIC: Final = """\
The expected value is the answer the support team agreed on. Does the output get the customer on?
solves: the same steps and figures; other wording and politeness do not matter.
partly: what it says is right, but a step or a limit the customer needs is missing.
wrong: a figure, a place or a step differs from the agreed answer.
no help: the customer is sent elsewhere or told nothing."""

DEAD_END: Final = (
    "I am sorry to hear that. I cannot help with this here. Contact our support team by e-mail."
)
#: What a slip makes of a figure.
NUMBERS: Final = {"14 days": "30 days", "30 days": "60 days", "five": "ten", "24 hours": "72 hours"}
_REFUSED_OF_SECURITY = 0.12  # of the replies to a question about somebody's access
_CUT_OFF = 0.01
_CHATTY = 0.015


def judge_reply(case: DemoCase, output: str) -> Reply:
    """The reply to one output; now and then one that no score can be read from, as models do."""
    draw = seeded_random(case.key, output, "reply").random()
    if "security" in case.tags and draw < _REFUSED_OF_SECURITY:
        return _reply("", refusal="I can't judge advice on getting into somebody's account.")
    choice, reasons = _verdict(case, output)
    text = json.dumps({"reasons": reasons, "choice": choice}, ensure_ascii=False)
    if 1 - draw < _CUT_OFF:
        return _reply(text[: len(text) // 2], finish="length")
    if 1 - draw < _CUT_OFF + _CHATTY:
        return _reply(f"I compared the two answers step by step.\n\n{text}")
    return _reply(text)


def _reply(text: str, *, refusal: str = "", finish: str = "stop") -> Reply:
    """Nobody was asked, so nothing was paid, and there are no tokens and no time to tell."""
    return Reply(text, refusal, finish, model=MODEL, cost_usd=0.0)


def _verdict(case: DemoCase, output: str) -> tuple[str, str]:
    agreed = str(case.expected)
    if output == DEAD_END:
        return "no help", f'Sends the customer away, although there is an answer: "{agreed}"'
    if output.replace(" > ", ", then ").endswith(agreed):
        return "solves", _praise(output, agreed)
    for right, wrong in NUMBERS.items():
        if right in agreed and right not in output and wrong in output:
            return "wrong", f'Says "{wrong}" where the agreed answer says "{right}".'
    missing = agreed[len(output.rstrip(".")) :].strip(" .")
    missing = missing if missing[:1].isupper() else f"… {missing}"
    return "partly", f'Stops too early. The customer does not learn this part: "{missing}".'


def _praise(output: str, agreed: str) -> str:
    if " > " in output:
        return "The same steps, written as a path, and the same figures."
    if output != agreed:
        return "The same steps and figures; the opening words change nothing."
    return "The agreed answer, word for word."
