"""What a judge's reply says, or why it says nothing that can be scored. Never a guess.

A reply is one JSON object with exactly the fields that were asked for, bare or in one fence that
is the whole reply. Anything beside it is no verdict: a judge that quotes the text it judges must
not lend it its voice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from scoring.core.contract import CaseProblem, Json
from scoring.core.json_text import parse
from scoring.core.services import Reply

_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?```", re.DOTALL | re.IGNORECASE)
_DECODER: Final = json.JSONDecoder()
MAX_QUOTED: Final = 80


class Said(NamedTuple):
    """A verdict: the label of a choice or a number, and why."""

    value: str | float
    reasons: str


class Unusable(NamedTuple):
    """A stable code, and what is wrong with the reply."""

    code: str
    text: str


def read(reply: Reply, schema: Mapping[str, Json]) -> Said | Unusable:
    """The verdict of a reply to a question with this schema, made by `scale`. Never raises."""
    if useless := unusable(reply, None):
        return useless
    text = _unfenced(reply.text.strip())
    try:
        value = parse(text)
    except CaseProblem as problem:
        if problem.code == "duplicate_key" or _holds_several(text):
            return _several()
        return Unusable("reply_unparsable", f"the reply is not one JSON object: {problem.text}")
    return _verdict(value, schema["properties"])


def unusable(reply: Reply, schema: Json) -> Unusable | None:
    """Why a reply must not be kept for reuse; with a judge's schema, for its verdict, too."""
    if reply.refusal:
        return Unusable("refused", f"the model refused: {_quoted(reply.refusal)}")
    if reply.finish == "content_filter":
        return Unusable("refused", "the endpoint's content filter stopped the reply")
    if reply.finish == "length":
        return Unusable("reply_truncated", "the reply was cut off at the model's token limit")
    if not reply.text.strip():
        return Unusable("reply_empty", "the reply is empty")
    if not {"choice", "number"} & set((schema or {}).get("properties", ())):
        return None
    said = read(reply, schema)
    return said if isinstance(said, Unusable) else None


def _unfenced(text: str) -> str:
    fenced = _FENCE.fullmatch(text)
    return fenced[1].strip() if fenced and "```" not in fenced[1] else text


def _holds_several(text: str) -> bool:
    """Whether the text is several fences, or several JSON values one after the other."""
    if len(_FENCE.findall(text)) > 1:
        return True
    try:
        _, end = _DECODER.raw_decode(text)
        _DECODER.raw_decode(text[end:].lstrip(" \t\r\n,;"))
    except (ValueError, RecursionError):
        return False
    return True


def _verdict(value: Json, fields: Mapping[str, Json]) -> Said | Unusable:
    if isinstance(value, list) and len(value) > 1:
        return _several()
    if not isinstance(value, dict) or set(value) != set(fields):
        wanted = " and ".join(fields)
        return Unusable("reply_unparsable", f"the reply is not an object of {wanted}")
    if not isinstance(value["reasons"], str):
        return Unusable("reply_unparsable", "the reply's reasons are not a text")
    found = _choice(value, fields) if "choice" in fields else _number(value, fields)
    return found if isinstance(found, Unusable) else Said(found, value["reasons"])


def _choice(value: Mapping[str, Json], fields: Mapping[str, Json]) -> str | Unusable:
    choice, labels = value["choice"], fields["choice"]["enum"]
    if isinstance(choice, list) and len(choice) > 1:
        return _several()
    if isinstance(choice, str) and choice.strip() in labels:
        return choice.strip()
    shown = _quoted(choice) if isinstance(choice, str) else "no text"
    listed = ", ".join(labels)
    return Unusable("choice_unknown", f"the choice is {shown}, which is none of {listed[:200]}")


def _number(value: Mapping[str, Json], fields: Mapping[str, Json]) -> float | Unusable:
    number = value["number"]
    if isinstance(number, list) and len(number) > 1:
        return _several()
    if isinstance(number, bool) or not isinstance(number, int | float):
        return Unusable("reply_unparsable", "the reply's number is not a number")
    low, high = fields["number"]["minimum"], fields["number"]["maximum"]
    if not low <= number <= high:
        what = f"{str(number)[:40]} is not between {low} and {high}"
        return Unusable("out_of_range", what)
    return float(number)


def _several() -> Unusable:
    return Unusable("several_verdicts", "the reply holds more than one verdict")


def _quoted(text: str) -> str:
    cut = text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + "…"
    return json.dumps(cut, ensure_ascii=False)
