"""The reply cache, its keys and the budget: protocols, and a cache in memory."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from scoring.core.services import Question, Reply

MAX_REPLIES: Final = 10_000  # replies in memory


def reply_key(base_url: str, question: Question) -> str:
    """SHA-256 over URL, model, messages, schema, parameters, sample number and scope.

    The connection's name and its key do not affect a reply and are left out.
    """
    parts = [
        base_url.rstrip("/"),
        question.model,
        [list(message) for message in question.messages],
        question.schema,
        sorted(question.parameters),
        question.sample,
        question.scope,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class ReplyCache(Protocol):
    """Stores each paid reply, and returns those that may be used again."""

    def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The kept replies by key, `is_cached` set."""

    def keep(self, key: str | None, question: Question, reply: Reply, fault_code: str = "") -> str:
        """Store a reply that was just paid for, and return a reference to it.

        Called on a writing thread, by several at a time, while the call still counts as under way.
        The key is None for a reply that cannot be used; `fault_code` then says why.
        """


class Budget(Protocol):
    """How much may be spent. Both are called on the event loop and must not wait."""

    def may_spend(self) -> bool:
        """Whether one more call may begin; if so, it is under way from now on."""

    def end(self) -> None:
        """A call that began has ended, with a reply or without."""


class MemoryReplyCache:
    """The newest replies, in memory. Thread-safe: each step is atomic."""

    def __init__(self, most: int = MAX_REPLIES) -> None:
        self._replies: OrderedDict[str, Reply] = OrderedDict()
        self._most = most

    def get_many(self, keys: Sequence[str]) -> dict[str, Reply]:
        return {
            key: replace(reply, is_cached=True, cost_usd=0.0, estimated_cost_usd=None)
            for key in keys
            if (reply := self._replies.get(key))
        }

    def keep(
        self,
        key: str | None,
        question: Question,  # noqa: ARG002 - other caches store it
        reply: Reply,
        fault_code: str = "",  # noqa: ARG002
    ) -> str:
        if key:
            self._replies[key] = reply
            while len(self._replies) > self._most:
                self._replies.popitem(last=False)
        return ""
