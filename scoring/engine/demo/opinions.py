"""What the people of the demo say of outputs: read from the texts, and never from scores.

They differ as people do: in how they take a hedge, and now and then somebody misses a mistake.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from scoring.engine.demo.people import DemoPerson
from scoring.engine.demo.story import DemoCase, seeded_random
from scoring.models import PreferenceVerdict, ReviewVerdict

HEDGE: Final = "as far as is known"
#: The team's failure tags, and what they are for.
TAGS: Final = {
    "wrong fact": "The output states something that is not so.",
    "hedges": "It doubts what is certain.",
    "incomplete": "A step, a limit or a part of the answer is missing.",
    "wording": "The content is right; tone or form is not.",
}
_AMBIGUOUS: Final = {
    "nearest-star": "The question does not say whether the Sun counts as a star here."
}
_SAYS_AMBIGUOUS: Final = 0.5
_UNSURE: Final = 0.02
_SAME: Final = 0.35  # of the pairs that differ in wording alone
_CONCISE: Final = 0.65  # of the others in which the shorter text wins


class Opinion(NamedTuple):
    """A verdict on an output, with a note and failure tags."""

    verdict: ReviewVerdict
    note: str = ""
    failure_tags: tuple[str, ...] = ()


class Choice(NamedTuple):
    """Which of two outputs is better, seen from the candidate, with a note."""

    verdict: PreferenceVerdict
    note: str = ""


def review_answer(case: DemoCase, output: str, person: DemoPerson) -> Opinion:
    """What the person says of an answer to a short question."""
    draw = seeded_random(case.key, output, person.email)
    if case.key in _AMBIGUOUS and draw.random() < _SAYS_AMBIGUOUS:
        return Opinion(ReviewVerdict.BAD_CASE, _AMBIGUOUS[case.key])
    if not _is_right(case, output):
        if draw.random() < person.misses_mistakes:
            return Opinion(ReviewVerdict.PASS)
        return Opinion(ReviewVerdict.FAIL, f"It is {case.expected}.", ("wrong fact",))
    if HEDGE in output and draw.random() < person.fails_hedges:
        return Opinion(ReviewVerdict.FAIL, "This is certain; no need to hedge.", ("hedges",))
    if draw.random() < _UNSURE:
        return Opinion(ReviewVerdict.UNSURE)
    return Opinion(ReviewVerdict.PASS)


def adjudicate_answer(case: DemoCase, output: str) -> Opinion:
    """The final verdict where two people disagree: a mistake fails, and a hedged number does."""
    if not _is_right(case, output):
        return Opinion(ReviewVerdict.FAIL, f"The answer is {case.expected}; this is a mistake.")
    if HEDGE in output and {"numbers", "history"} & set(case.tags):
        return Opinion(ReviewVerdict.FAIL, "A year or a number is known or it is not.")
    return Opinion(ReviewVerdict.PASS, "The hedge reads oddly, but nobody is misled.")


def compare_answers(case: DemoCase, texts: tuple[str, str], person: DemoPerson) -> Choice:
    """What the person prefers of a candidate's and a baseline's answer to a customer."""
    candidate, baseline = (_is_whole(case, text) for text in texts)
    if candidate != baseline:
        note = "The other one leaves out a step or gets it wrong."
        return Choice(PreferenceVerdict.BETTER if candidate else PreferenceVerdict.WORSE, note)
    draw = seeded_random(case.key, *texts, person.email)
    if draw.random() < _SAME:
        return Choice(PreferenceVerdict.SAME)
    is_shorter = len(texts[0]) < len(texts[1])
    prefers_candidate = is_shorter == (draw.random() < _CONCISE)
    return Choice(PreferenceVerdict.BETTER if prefers_candidate else PreferenceVerdict.WORSE)


def _is_right(case: DemoCase, output: str) -> bool:
    accepted = (str(case.expected), *case.references)
    return any(text.casefold() in output.casefold() for text in accepted)


def _is_whole(case: DemoCase, output: str) -> bool:
    """Whether it has all of the agreed answer, in whichever form its path is written."""
    return output.replace(" > ", ", then ").endswith(str(case.expected))
