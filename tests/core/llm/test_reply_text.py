"""What models write around a verdict is taken off, however long it is."""

from __future__ import annotations

import pytest

from scoring.core.llm.reply_text import count_objects, describe_unparsable, unwrap
from tests.support.speed import quick_enough

OBJECT = '{"choice": "A"}'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (OBJECT, OBJECT),
        (f"```\n{OBJECT}\n```", OBJECT),
        (f"```{OBJECT}```", OBJECT),
        (f"``{OBJECT}``", f"``{OBJECT}``"),
        ("```", "```"),
        ("``````", "``````"),
        (f"```\n{OBJECT}\n~~~", f"```\n{OBJECT}\n~~~"),
        (f"Hm.\n</think>{OBJECT}", OBJECT),
        (f"{OBJECT}</think>", f"{OBJECT}</think>"),
        (f"<think>Hm. {OBJECT}", f"<think>Hm. {OBJECT}"),
        (f"I think </thinker>{OBJECT}", f"I think </thinker>{OBJECT}"),
        ("<think>Hm.</think>", ""),
    ],
)
def test_one_block_of_thoughts_and_one_fence_are_taken_off(text: str, left: str) -> None:
    assert unwrap(text) == left


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("{ {x} }", 0),
        ('{"other": "A"}', 0),
        (OBJECT, 1),
        (f"So: {OBJECT}.", 1),
        (f"{OBJECT} or {OBJECT}", 2),
        ('{"choice": {"choice": "A"}}', 1),
    ],
)
def test_objects_with_one_of_the_fields_are_counted(text: str, count: int) -> None:
    assert count_objects(text, ["choice", "reasons"]) == count


@pytest.mark.parametrize("text", ["{", '{"a":', "`", "```\n", "<think>", "</think>", " ", "a{}"])
def test_a_megabyte_of_the_same_is_read_at_once(text: str) -> None:
    hostile = text * (1_000_000 // len(text))
    with quick_enough(2.0):
        describe_unparsable(unwrap(hostile), ["choice"], "no JSON")
