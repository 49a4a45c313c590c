"""What a reply depends on, and which replies stay in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.core.llm.reply_cache import MemoryReplyCache, reply_key
from scoring.core.services import Message, Question, Reply
from tests.support.judges import question

BASE = question(schema={"a": 1}, parameters=(("seed", 1), ("temperature", 0)))


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, model="stub-2"),
        replace(BASE, messages=(Message("user", "hello"),)),
        replace(BASE, messages=(Message("system", "Hello"),)),
        replace(BASE, schema={"a": 2}),
        replace(BASE, parameters=(("seed", 2), ("temperature", 0))),
        replace(BASE, sample=1),
        replace(BASE, scope="other"),
    ],
)
def test_everything_that_decides_a_reply_is_in_its_key(other: Question) -> None:
    assert reply_key("https://a.example/v1", BASE) != reply_key("https://a.example/v1", other)


def test_nothing_else_is_in_the_key() -> None:
    same = replace(BASE, connection="other", parameters=(("temperature", 0), ("seed", 1)))
    assert reply_key("https://a.example/v1", BASE) == reply_key("https://a.example/v1/", same)
    assert reply_key("https://a.example/v1", BASE) != reply_key("https://b.example/v1", BASE)


def test_only_the_newest_replies_stay_in_memory() -> None:
    kept = MemoryReplyCache(most=2)
    for key in ("a", "b", "c", None):
        kept.keep(key, Question("m", ()), Reply(key or "useless", cost_usd=1.0))
    found = kept.get_many(["a", "b", "c"])
    assert {key: reply.text for key, reply in found.items()} == {"b": "b", "c": "c"}
    assert all(reply.is_cached and reply.cost_usd == 0.0 for reply in found.values())
