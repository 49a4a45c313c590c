"""What the stub does under each path: `http://127.0.0.1:PORT/<scenario>/v1`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.stub import wire
from tests.stub.wire import Answer

MODELS = ("stub-1", "stub-2")
RIGHT_KEY = "sk-right"
FOREVER = 3600.0


@dataclass(frozen=True)
class Asked:
    """One request. `number` counts those of its scenario and path from 1."""

    scenario: str
    method: str
    path: str  # below the base URL: /chat/completions
    headers: Mapping[str, str]  # names in lower case
    body: Any  # the JSON value, None without one
    number: int = 1

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self.messages if m["role"] == "system")

    @property
    def user(self) -> str:
        return "\n".join(m["content"] for m in self.messages if m["role"] == "user")


Script = Callable[[Asked], Answer]


def in_turn(*answers: Answer) -> Script:
    """The first answer to the first request and so on; the last one from then on."""
    return lambda asked: answers[min(asked.number, len(answers)) - 1]


def always(answer: Answer) -> Script:
    return lambda _: answer


def chat(script: Script) -> Script:
    """The script for chat completions; models and embeddings answer as they should."""

    def answer(asked: Asked) -> Answer:
        if asked.path == "/chat/completions" and asked.method == "POST":
            return script(asked)
        if asked.path == "/models" and asked.method == "GET":
            return wire.models(MODELS)
        if asked.path == "/embeddings" and asked.method == "POST":
            return wire.embeddings(asked.body)
        return wire.error(404, f"Invalid URL ({asked.method} /v1{asked.path})")

    return answer


def judge(asked: Asked) -> Answer:
    """A willing judge: the first choice the schema offers, its least number, else plain text."""
    fields = _fields(asked.body)
    if "choice" in fields:
        return wire.verdict(fields["choice"]["enum"][0])
    if "number" in fields:
        number = fields["number"].get("minimum", 0)
        return wire.completion(json.dumps({"reasons": "As stated.", "number": number}))
    return wire.completion("Paris is the capital of France.")


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    found: dict[str, Any] = schema.get("properties", {})
    return found


def _keyed(asked: Asked) -> Answer:
    has_key = asked.headers.get("authorization") == f"Bearer {RIGHT_KEY}"
    return chat(judge)(asked) if has_key else wire.key_refused()


def _without(param: str, script: Script) -> Script:
    return lambda asked: wire.unsupported(param) if param in asked.body else script(asked)


def _missing_model(asked: Asked) -> Answer:
    return wire.model_missing(asked.body["model"])


C = wire.verdict("C")
FENCED = "```json\n" + json.dumps({"reasons": "Same facts.", "choice": "C"}) + "\n```"
TWO = (
    json.dumps({"reasons": "x", "choice": "C"}) + "\n" + json.dumps({"reasons": "y", "choice": "D"})
)
UNBOUNDED = b'{"id": "' + b"x" * 65536


def _content(text: str | None, **more: Any) -> Script:
    return always(wire.completion(text, **more))


#: Scripts by scenario; `chat` ones answer /models and /embeddings as usual.
SCENARIOS: dict[str, Script] = {
    "ok": chat(judge),
    "same": chat(always(C)),
    "keyed": _keyed,
    "key-refused": always(wire.key_refused()),
    "hang": always(Answer(latency=FOREVER)),
    "drip": always(wire.verdict("C", drip=0.02)),
    "cut": always(wire.verdict("C", is_cut=True)),
    "rate-limited": always(wire.rate_limited("1")),
    "rate-limited-once": chat(in_turn(wire.rate_limited("7"), C)),
    "rate-limited-bare": chat(in_turn(wire.rate_limited(), wire.rate_limited(), C)),
    "rate-limited-absurd": always(wire.rate_limited("86400")),
    "quota": always(wire.quota()),
    "burst": chat(in_turn(wire.overloaded(500), wire.overloaded(502), wire.overloaded(503), C)),
    "down": always(wire.overloaded(500)),
    "html-error": always(wire.html(502)),
    "model-missing": chat(_missing_model),
    "wrong-path": always(wire.html(404)),
    "too-long": chat(always(wire.too_long())),
    "html": always(wire.html()),
    "redirect": always(Answer(302, headers={"location": "http://169.254.169.254/latest"})),
    "no-json": always(Answer(200, b'{"id": "chatcmpl-1", "choices": [')),
    "no-choices": always(wire.json_answer({"object": "chat.completion", "choices": []})),
    "invalid-json": chat(_content('{"reasons": "Same facts.", "choice": "C"')),
    "prose": chat(_content("The answer agrees, so C.")),
    "fenced": chat(_content(FENCED)),
    "two-verdicts": chat(_content(TWO)),
    "off-menu": chat(_content(json.dumps({"reasons": "Hm.", "choice": "F"}))),
    "other-shape": chat(_content(json.dumps({"verdict": "C", "why": "Same facts."}))),
    "refusal": chat(_content(None, refusal="I'm sorry, I can't assist with that request.")),
    "content-filter": chat(_content(None, finish="content_filter")),
    "prompt-filter": chat(
        always(wire.error(400, "The prompt was filtered.", code="content_filter", param="prompt"))
    ),
    "empty": chat(_content("")),
    "truncated": chat(_content('{"reasons": "The submitted answer', finish="length")),
    "too-large": always(Answer(200, UNBOUNDED, repeat=1600)),  # 100 MB
    "no-schema": chat(_without("response_format", always(C))),
    "no-temperature": chat(_without("temperature", always(C))),
}


def scripted(script: Script | Answer | Sequence[Answer]) -> Script:
    """What a test gives as a scenario, as a script for chat completions."""
    if isinstance(script, Answer):
        return chat(always(script))
    return chat(script) if callable(script) else chat(in_turn(*script))
