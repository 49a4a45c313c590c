"""What keeps replies and counts their cost; whoever runs a scorer brings both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from scoring.core.services import Question, Reply


class ReplyCache(Protocol):
    """Where replies are kept, and what each paid one is written to."""

    def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The kept replies by key, `is_cached` set."""

    def keep(self, key: str | None, question: Question, reply: Reply, fault_code: str = "") -> str:
        """Write a reply that was just paid for, and name it.

        Called on the writing thread as soon as the reply is there, while its call still counts as
        under way. The key is None for a reply that is no use; `fault_code` then says why.
        """


class Budget(Protocol):
    """How much may be spent. Both are called on the event loop and must not wait."""

    def may_spend(self) -> bool:
        """Whether one more call may begin; if so, it is under way from now on."""

    def end(self) -> None:
        """A call that began has ended, with a reply or without."""
