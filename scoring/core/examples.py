"""Worked examples of every type: the help page shows them and the tests check them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from scoring.core.contract import Case, Json


class Example(NamedTuple):
    """A config, a case and the score they give; None is an error or a skip, named by `code`.

    `replies` are those of the model, stated here because it cannot be asked on a help page.
    """

    config: Mapping[str, Json]
    case: Case
    score: float | None
    note: str
    code: str = ""
    replies: tuple[str, ...] = ()


_BOOKING: Final = {"city": "Paris", "nights": 3, "guests": [{"name": "Ana"}, {"name": "Bo"}]}

EXAMPLES: Final[Mapping[str, tuple[Example, ...]]] = {
    "exact_match": (
        Example({}, Case("Paris", "Paris"), 1.0, "The texts are the same."),
        Example({}, Case("paris", "Paris"), 0.0, "Case matters unless you turn that off."),
        Example({"trim": True}, Case("Paris\n", "Paris"), 1.0, "White space at the ends is cut."),
        Example({}, Case("4", 4), 1.0, "A number is compared by its text."),
    ),
    "includes": (
        Example({}, Case("It is Paris.", "Paris"), 1.0, "The expected text is inside."),
        Example(
            {"values": ["refund", "30 days"]},
            Case("A refund is possible."),
            0.0,
            "All values must be there.",
        ),
        Example(
            {"values": ["refund", "30 days"], "mode": "any"},
            Case("A refund is possible."),
            1.0,
            "One of them is enough.",
        ),
    ),
    "regex": (
        Example({"pattern": r"^\d{4}-\d\d-\d\d$"}, Case("2026-01-31"), 1.0, "A date."),
        Example({"pattern": "/yes|no/i"}, Case("Yes!"), 1.0, "Flags after the slash."),
        Example(
            {"pattern": "sorry", "negate": True}, Case("I am sorry."), 0.0, "The word is unwanted."
        ),
    ),
    "levenshtein": (
        Example(
            {"case_sensitive": True},
            Case("hello world", "Hello World"),
            0.82,
            "Two of eleven characters differ.",
        ),
        Example(
            {}, Case("customer service", "customer support"), 0.63, "0.625 is rounded half up."
        ),
        Example({}, Case("helo", "hello"), 0.8, "One of five characters is missing."),
    ),
    "json_match": (
        Example({}, Case('{"b": 2, "a": 1.0}', {"a": 1, "b": 2}), 1.0, "Key order is free."),
        Example({}, Case("[1, 2]", [2, 1]), 0.0, "The order of items is not."),
        Example({}, Case("{'a': 1}", {"a": 1}), 0.0, "Not valid JSON.", "invalid_json"),
    ),
    "json_similarity": (
        Example({}, Case(_BOOKING, _BOOKING), 1.0, "All four leaves are there."),
        Example(
            {},
            Case({"temperature": 19.8, "wet": True}, {"temperature": 20, "wet": True}),
            0.995,
            "A number 1 % off earns 0.99 of its leaf.",
        ),
        Example(
            {"array_mode": "unordered"}, Case(["b", "a"], ["a", "b"]), 1.0, "Items are paired."
        ),
        Example({}, Case({"a": 1}, {}), None, "Nothing is expected.", "no_leaves"),
    ),
    "json_schema": (
        Example(
            {"schema": {"type": "object", "required": ["city"]}},
            Case('{"city": "Paris"}'),
            1.0,
            "The key is there.",
        ),
        Example(
            {"schema": {"type": "object", "required": ["city"]}}, Case("{}"), 0.0, "It is missing."
        ),
        Example({}, Case("Paris"), 0.0, "Not valid JSON.", "invalid_json"),
    ),
    "numeric": (
        Example({}, Case("42", 42), 1.0, "The same number."),
        Example({}, Case("3", 5), 0.75, "1 - 2 / 8."),
        Example(
            {"tolerance": 0.01, "relative": True}, Case("99.5", 100), 1.0, "Within 1 % of 100."
        ),
    ),
    "expression": (
        Example(
            {"expression": "size(output) > 10 ? 1.0 : 0.5"},
            Case("0123456789"),
            0.5,
            "The length of the output.",
        ),
        Example(
            {
                "expression": 'size(["paris", "france", "capital"].filter(word,'
                " lower(output).contains(word))) / 3"
            },
            Case("Paris is the capital."),
            0.666666667,
            "The share of keywords found.",
        ),
        Example({"expression": "2"}, Case(""), None, "Not a score.", "score_out_of_range"),
    ),
    "reference_match": (
        Example(
            {"embedding_provider": "local"}, Case("Paris", "Paris"), 1.0, "The texts are the same."
        ),
        Example(
            {"embedding_provider": "local"},
            Case("The bakery is closed.", ["Our bakery does not open today.", "It rains."]),
            0.744555,
            "The closer of two references counts; they share a meaning, not words.",
        ),
        Example(
            {
                "embedding_provider": "local",
                "aggregation": "mean",
                "references": ["Returns are possible for a month.", "Refunds take five days."],
            },
            Case("You can return it within 30 days."),
            0.569199,
            "The mean of both similarities.",
        ),
        Example(
            {"embedding_provider": "local"},
            Case("You can return it.", "You cannot return it."),
            0.888214,
            "Vectors hardly see a negation: use a judge or an exact type where one matters.",
        ),
    ),
    "factuality": (
        Example(
            {"model": "gpt-4o-mini"},
            Case("It is Paris.", "Paris", "What is the capital of France?"),
            1.0,
            "The judge answers C: the same facts.",
            replies=('{"reasons": "Both name Paris.", "choice": "C"}',),
        ),
        Example(
            {"model": "gpt-4o-mini"},
            Case("Red.", "Red and blue", "Which colours are on the flag?"),
            0.4,
            "A: some of the facts, none of them wrong.",
            replies=('{"reasons": "Blue is not named.", "choice": "A"}',),
        ),
        Example(
            {"model": "gpt-4o-mini", "choices": {"B": 1}},
            Case("Paris, on the Seine.", "Paris"),
            1.0,
            "B scores 0.6 unless you say otherwise.",
            replies=('{"reasons": "It adds the river.", "choice": "B"}',),
        ),
        Example(
            {"model": "gpt-4o-mini"},
            Case("Paris", "Paris"),
            None,
            "Text around the verdict: an error, never a score.",
            "reply_unparsable",
            replies=("I would say C.",),
        ),
    ),
    "llm_judge": (
        Example(
            {
                "model": "gpt-4o-mini",
                "rubric": "Is the answer polite? yes: it is. no: it is rude or curt.",
                "choices": {"yes": 1, "no": 0},
            },
            Case("Thank you for asking; the refund takes five days."),
            1.0,
            "The score of the label yes.",
            replies=('{"reasons": "It thanks and explains.", "choice": "yes"}',),
        ),
        Example(
            {"model": "gpt-4o-mini", "rubric": "How clear is it? 1: not at all.", "range": [1, 5]},
            Case("The refund takes five days."),
            0.75,
            "(4 - 1) / (5 - 1).",
            replies=('{"reasons": "Short and exact.", "number": 4}',),
        ),
        Example(
            {
                "model": "gpt-4o-mini",
                "rubric": "How clear is it? 1: not at all.",
                "range": [1, 5],
                "samples": 3,
            },
            Case("The refund takes five days, or so."),
            0.5,
            "The median of 4, 2 and 3, mapped to 0..1.",
            replies=(
                '{"reasons": "Clear.", "number": 4}',
                '{"reasons": "Vague at the end.", "number": 2}',
                '{"reasons": "Nearly clear.", "number": 3}',
            ),
        ),
        Example(
            {"model": "gpt-4o-mini", "rubric": "How clear is it?", "range": [1, 5]},
            Case("The refund takes five days."),
            None,
            "A number outside the range: an error, never a score.",
            "out_of_range",
            replies=('{"reasons": "Very.", "number": 6}',),
        ),
    ),
    "all": (
        Example(
            {
                "scorers": [
                    {"type": "includes", "config": {"values": ["Paris"]}},
                    {"type": "levenshtein"},
                ]
            },
            Case("Paris!", "Paris"),
            0.83,
            "The lower of 1.0 and 0.83.",
        ),
    ),
    "any": (
        Example(
            {"scorers": [{"type": "exact_match"}, {"type": "levenshtein"}]},
            Case("Paris!", "Paris"),
            0.83,
            "The higher of 0.0 and 0.83.",
        ),
    ),
    "weighted": (
        Example(
            {
                "scorers": [
                    {"name": "accuracy", "type": "exact_match", "weight": 2},
                    {"name": "grounding", "type": "includes", "weight": 1},
                ]
            },
            Case("It is Paris.", "Paris"),
            0.333333333,
            "Accuracy 0 twice, grounding 1 once.",
        ),
    ),
}
