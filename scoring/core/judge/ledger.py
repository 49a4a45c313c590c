"""What keeps replies and counts their cost; whoever runs a scorer brings both."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from scoring.core.services import Question, Reply

MAX_KEPT: Final = 10_000  # replies in memory


class ReplyCache(Protocol):
    """Where replies are kept, and what each paid one is written to."""

    def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The kept replies by key, `is_cached` set."""

    def keep(self, key: str | None, question: Question, reply: Reply, fault_code: str = "") -> str:
        """Write a reply that was just paid for, and name it.

        Called on a writing thread as soon as the reply is there, while its call still counts as
        under way; several threads may do so at a time. The key is None for a reply that is no
        use; `fault_code` then says why.
        """


class Budget(Protocol):
    """How much may be spent. Both are called on the event loop and must not wait."""

    def may_spend(self) -> bool:
        """Whether one more call may begin; if so, it is under way from now on."""

    def end(self) -> None:
        """A call that began has ended, with a reply or without."""


class RecentReplies:
    """The newest replies, in memory. Any thread may look and write: each step is a whole one."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._replies: OrderedDict[str, Reply] = OrderedDict()
        self._most = most

    def get_many(self, keys: Sequence[str]) -> dict[str, Reply]:
        found = ((key, self._replies.get(key)) for key in keys)
        return {key: replace(reply, is_cached=True, cost_usd=0.0) for key, reply in found if reply}

    def keep(
        self,
        key: str | None,
        question: Question,  # noqa: ARG002 - others write it down
        reply: Reply,
        fault_code: str = "",  # noqa: ARG002
    ) -> str:
        if key:
            self._replies[key] = reply
            while len(self._replies) > self._most:
                self._replies.popitem(last=False)
        return ""
