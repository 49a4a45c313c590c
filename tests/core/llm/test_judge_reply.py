"""A verdict is exactly what was asked for; everything else has a code and never a score."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.llm.judge_reply import JudgeVerdict, UnusableReply, read_verdict, reply_problem
from scoring.core.llm.judge_scale import Choices, Range, Scale
from scoring.core.services import Reply

MENU = Choices({"good": 1.0, "fair": 0.5, "bad": 0.0})
SPAN = Range(1, 5)


def said(value: Any, key: str = "choice", reasons: Any = "So it is.", **more: Any) -> str:
    return json.dumps({"reasons": reasons, key: value, **more})


GOOD = said("good")

READABLE = [
    (MENU, GOOD, "good", 1.0),
    (MENU, f"\n {GOOD} \n", "good", 1.0),
    (MENU, said(" fair "), "fair", 0.5),
    (MENU, f"```json\n{GOOD}\n```", "good", 1.0),
    (MENU, f"```\n{GOOD}\n```", "good", 1.0),
    (MENU, f"```JSON \n{GOOD}```\n", "good", 1.0),
    (MENU, f"```json\r\n{GOOD}\r\n```", "good", 1.0),
    (MENU, f"```json {GOOD} ```", "good", 1.0),
    (MENU, f"````json\n{GOOD}\n````", "good", 1.0),
    (MENU, f"~~~\n{GOOD}\n~~~", "good", 1.0),
    (MENU, f"```javascript\n{GOOD}\n```", "good", 1.0),
    (MENU, f"```json\n{said('bad', reasons='It says ```x``` and `y`.')}\n```", "bad", 0.0),
    (MENU, f"<think>\nGood or bad?\n</think>\n\n{GOOD}", "good", 1.0),
    (MENU, f"Good or bad?\n</think>\n{GOOD}", "good", 1.0),
    (MENU, f"<think></think>\r\n```json\r\n{GOOD}\r\n```", "good", 1.0),
    (MENU, f"<THINKING>{said('bad')}, or not?</THINKING>{GOOD}", "good", 1.0),
    (MENU, f"[THINK]Hm.[/THINK]{GOOD}", "good", 1.0),
    (MENU, said("good", reasons=f"It ends with </think>{said('bad')}"), "good", 1.0),
    (MENU, said("bad", reasons=""), "bad", 0.0),
    (MENU, '{"choice": "good", "reasons": "Order is free."}', "good", 1.0),
    (SPAN, said(1, "number"), 1.0, 0.0),
    (SPAN, said(5, "number"), 5.0, 1.0),
    (SPAN, said(3.5, "number"), 3.5, 0.625),
    (Range(-1, 1), said(-0.5, "number"), -0.5, 0.25),
]


@pytest.mark.parametrize(("scale", "text", "value", "score"), READABLE)
def test_a_verdict_is_read(scale: Scale, text: str, value: Any, score: float) -> None:
    found = read_verdict(Reply(text), scale.schema())
    assert isinstance(found, JudgeVerdict)
    assert (found.value, scale.score(found.value)) == (value, score)
    assert reply_problem(Reply(text), scale.schema()) is None


UNREADABLE = [
    (MENU, "", "reply_empty"),
    (MENU, " \n", "reply_empty"),
    (MENU, "good", "reply_unparsable"),
    (MENU, GOOD[:-1], "reply_unparsable"),
    (MENU, f"Here it is: {GOOD}", "reply_unparsable"),
    (MENU, f"{GOOD} as I said", "reply_unparsable"),
    (MENU, f"The output holds\n```json\n{GOOD}\n```\nbut is bad.", "reply_unparsable"),
    (MENU, f"```json\n{GOOD}\n``", "reply_unparsable"),
    (MENU, f"````json\n{GOOD}\n```", "reply_unparsable"),
    (MENU, f"```json\n{GOOD}", "reply_unparsable"),
    (MENU, f"<think>Good. {GOOD}", "reply_unparsable"),
    (MENU, f"<think>Good.</think><think>Bad?</think>{GOOD}", "reply_unparsable"),
    (MENU, f"{GOOD}</think>", "reply_unparsable"),
    (MENU, f"<think>It says </think>{GOOD} but is bad.", "reply_unparsable"),
    (MENU, GOOD.replace('"', "'"), "reply_unparsable"),
    (MENU, '"good"', "reply_unparsable"),
    (MENU, "null", "reply_unparsable"),
    (MENU, "[]", "reply_unparsable"),
    (MENU, f"[{GOOD}]", "reply_unparsable"),
    (MENU, '{"choice": "good"}', "reply_unparsable"),
    (MENU, said("good", reasons=None), "reply_unparsable"),
    (MENU, said("good", final="bad"), "reply_unparsable"),
    (MENU, said(3, "number"), "reply_unparsable"),
    (MENU, "{" * 100, "reply_unparsable"),
    (MENU, "[" * 100_000, "reply_unparsable"),
    (MENU, said("Good"), "choice_unknown"),
    (MENU, said("good."), "choice_unknown"),
    (MENU, said(""), "choice_unknown"),
    (MENU, said(None), "choice_unknown"),
    (MENU, said(1), "choice_unknown"),
    (MENU, said(["good"]), "choice_unknown"),
    (MENU, said(["good", "bad"]), "several_verdicts"),
    (MENU, f"{GOOD}\n{said('bad')}", "several_verdicts"),
    (MENU, f"{GOOD},{GOOD}", "several_verdicts"),
    (MENU, f"[{GOOD}, {GOOD}]", "several_verdicts"),
    (MENU, f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "several_verdicts"),
    (MENU, f"One says\n```json\n{GOOD}\n```\nand the other {said('bad')}.", "several_verdicts"),
    (MENU, f"<think>It says </think>{GOOD}. No.</think>{said('bad')}", "several_verdicts"),
    (MENU, '{"reasons": "", "choice": "good", "choice": "bad"}', "several_verdicts"),
    (SPAN, said(0.999, "number"), "out_of_range"),
    (SPAN, said(5.001, "number"), "out_of_range"),
    (SPAN, said(-3, "number"), "out_of_range"),
    (SPAN, said(10**400, "number"), "out_of_range"),
    (SPAN, said("3", "number"), "reply_unparsable"),
    (SPAN, said(True, "number"), "reply_unparsable"),
    (SPAN, said(None, "number"), "reply_unparsable"),
    (SPAN, said([1, 5], "number"), "several_verdicts"),
    (SPAN, '{"reasons": "", "number": NaN}', "reply_unparsable"),
    (SPAN, '{"reasons": "", "number": 1e999}', "reply_unparsable"),
]


@pytest.mark.parametrize(("scale", "text", "code"), UNREADABLE)
def test_anything_else_is_a_code(scale: Scale, text: str, code: str) -> None:
    found = read_verdict(Reply(text), scale.schema())
    assert isinstance(found, UnusableReply)
    assert found.code == code
    assert found.text
    assert reply_problem(Reply(text), scale.schema()) == found


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("I would say good.", 'no JSON object, but "I would say good."; retry, or choose'),
        (f"Sure!\n{GOOD}", 'around the JSON object: "Sure!"; a verdict counts only alone'),
        (f"{GOOD}\nThat is all.", 'around the JSON object: "That is all."'),
        ("<think>Well, the", "thoughts without an end; allow more tokens, or turn thinking off"),
        (GOOD[:-1], "not one JSON object: Expecting"),
        ('{"verdict": "good"}', "lacks reasons, choice; reasons and choice are asked for"),
        (said("good", grade=1), 'holds "grade" beside reasons and choice'),
        ('["good"]', 'not an object of reasons and choice, but ["good"]; retry'),
    ],
)
def test_the_message_quotes_what_stood_there_and_says_what_helps(text: str, what: str) -> None:
    found = read_verdict(Reply(text), MENU.schema())
    assert isinstance(found, UnusableReply)
    assert what in found.text


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(GOOD, finish="length"), "reply_truncated"),
        (Reply(GOOD, finish="content_filter"), "refused"),
        (Reply(GOOD, refusal="I will not."), "refused"),
        (Reply("", refusal="I will not.", finish="length"), "refused"),
    ],
)
def test_even_a_verdict_counts_for_nothing_in_a_refused_or_cut_reply(
    reply: Reply, code: str
) -> None:
    found = read_verdict(reply, MENU.schema())
    assert isinstance(found, UnusableReply)
    assert found.code == code


def test_free_text_is_useless_only_when_refused_cut_or_empty() -> None:
    assert reply_problem(Reply("Once upon a time"), None) is None
    assert reply_problem(Reply("Once"), {"type": "object"}) is None
    assert reply_problem(Reply("Once", finish="length"), None) is not None


TEXTS = st.text() | st.text('{}[]":,`\n json1-.e').map(lambda text: text * 3)
FIELDS = st.dictionaries(
    st.sampled_from(["reasons", "choice", "number", "x"]),
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5)
    | st.sampled_from(["good", "bad", 3, 1e308]) | st.lists(st.integers(), max_size=2),
)  # fmt: skip
PIECES = st.sampled_from(
    ["<think>", "</think>", "```json\n", "~~~~", "```", "\r\n", "Hm. ", GOOD, said("bad"), "{"]
)
REPLIES = st.builds(
    Reply,
    text=TEXTS
    | FIELDS.map(json.dumps)
    | FIELDS.map(lambda made: f"```json\n{json.dumps(made)}\n```")
    | st.lists(PIECES, max_size=6).map("".join),
    refusal=st.sampled_from(["", "", "", "No."]),
    finish=st.sampled_from(["stop", "stop", "", "length", "content_filter", "tool_calls"]),
)
LIMITS = st.floats(-1e9, 1e9)
SCALES = st.just(MENU) | st.builds(
    lambda one, other: Range(min(one, other), max(one, other) + 1), LIMITS, LIMITS
)


@given(reply=REPLIES, scale=SCALES)
def test_reading_never_raises_and_never_gives_a_score_outside_0_to_1(
    reply: Reply, scale: Scale
) -> None:
    found = read_verdict(reply, scale.schema())
    if isinstance(found, JudgeVerdict):
        assert 0 <= scale.score(found.value) <= 1
        assert reply.finish not in {"length", "content_filter"}
        assert not reply.refusal
    else:
        assert found.code
        assert len(found.text) < 1_000
