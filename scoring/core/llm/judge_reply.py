"""The verdict in a judge's reply, or why there is none.

A reply is one JSON object with exactly the requested fields, bare or in one fence, after thoughts
or without. Anything else is no verdict: a judge may quote the text it judges, and a verdict in that
text must not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_text import compact, parse
from scoring.core.llm.reply_text import count_objects, cut, describe_unparsable, quote, unwrap
from scoring.core.services import Reply


class JudgeVerdict(NamedTuple):
    """A verdict: the label of a choice or a number, and why."""

    value: str | float
    reasons: str


class UnusableReply(NamedTuple):
    """A stable code, and what is wrong with the reply."""

    code: str
    text: str


def read_verdict(reply: Reply, schema: Mapping[str, Json]) -> JudgeVerdict | UnusableReply:
    """The verdict of a reply to a question with this schema, made by `scale`. Never raises."""
    if unusable := reply_problem(reply, None):
        return unusable
    fields = schema["properties"]
    text = unwrap(reply.text)
    try:
        value = parse(text)
    except CaseProblem as problem:
        if problem.code == "duplicate_key" or count_objects(text, fields) > 1:
            return _several()
        what = describe_unparsable(text, fields, problem.text)
        return UnusableReply("reply_unparsable", what)
    return _verdict(value, fields)


def reply_problem(reply: Reply, schema: Json) -> UnusableReply | None:  # noqa: PLR0911 - a table
    """Why a reply must not be kept for reuse; with a judge's schema, for its verdict, too."""
    if reply.choice_count > 1:
        return several_replies(reply.choice_count)
    if reply.refusal:
        return UnusableReply("refused", f"the model refused: {quote(reply.refusal)}")
    if reply.finish == "content_filter":
        return UnusableReply("refused", "the endpoint's content filter stopped the reply")
    if reply.finish == "length":
        return UnusableReply("reply_truncated", "the reply was cut off at the model's token limit")
    if not reply.text.strip():
        return UnusableReply("reply_empty", "the reply is empty")
    if not {"choice", "number"} & set((schema or {}).get("properties", ())):
        return None
    verdict = read_verdict(reply, schema)
    return verdict if isinstance(verdict, UnusableReply) else None


def several_replies(count: int) -> UnusableReply:
    """One was asked for, and nothing says which of them counts."""
    return UnusableReply("several_verdicts", f"the endpoint sent {count} replies instead of one")


def _verdict(value: Json, fields: Mapping[str, Json]) -> JudgeVerdict | UnusableReply:
    if isinstance(value, list) and len(value) > 1:
        return _several()
    if not isinstance(value, dict) or set(value) != set(fields):
        return _other_value(value, fields)
    if not isinstance(value["reasons"], str):
        return UnusableReply("reply_unparsable", "the reply's reasons are not a text")
    key = "choice" if "choice" in fields else "number"
    if isinstance(value[key], list) and len(value[key]) > 1:
        return _several()
    read = _choice if key == "choice" else _number
    answer = read(value[key], fields[key])
    return answer if isinstance(answer, UnusableReply) else JudgeVerdict(answer, value["reasons"])


def _other_value(value: Json, fields: Mapping[str, Json]) -> UnusableReply:
    wanted = " and ".join(fields)
    if not isinstance(value, dict):
        what = f"the reply is not an object of {wanted}, but {cut(compact(value))}"
    elif missing := ", ".join(name for name in fields if name not in value):
        what = f"the reply's object lacks {missing}; {wanted} are asked for"
    else:
        other = ", ".join(quote(name) for name in value if name not in fields)
        what = f"the reply's object holds {other[:200]} beside {wanted}, which alone are asked for"
    return UnusableReply("reply_unparsable", f"{what}; retry, or choose another model")


def _choice(choice: Json, schema: Mapping[str, Json]) -> str | UnusableReply:
    labels = schema["enum"]
    if isinstance(choice, str) and choice.strip() in labels:
        return choice.strip()
    quoted = quote(choice) if isinstance(choice, str) else "no text"
    listed = ", ".join(labels)
    return UnusableReply(
        "choice_unknown", f"the choice is {quoted}, which is none of {listed[:200]}"
    )


def _number(number: Json, schema: Mapping[str, Json]) -> float | UnusableReply:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return UnusableReply("reply_unparsable", "the reply's number is not a number")
    low, high = schema["minimum"], schema["maximum"]
    if not low <= number <= high:
        what = f"{str(number)[:40]} is not between {low} and {high}"
        return UnusableReply("out_of_range", what)
    return float(number)


def _several() -> UnusableReply:
    return UnusableReply("several_verdicts", "the reply holds more than one verdict")
