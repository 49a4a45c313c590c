"""Judges asked through the real scorers and the real client, in front of the stub, in no time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case, Result
from scoring.core.llm.client_pool import ClientPool
from scoring.core.llm.endpoint import Endpoint, Price
from scoring.core.llm.judge_client import JudgeClient
from scoring.core.llm.rate_limiter import Clock
from scoring.core.services import Answer, CallFailure, Message, Question, Reply, use_services
from tests.stub import Stub

NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
PARIS = Case("Paris", "Paris", "What is the capital of France?")
FACTUALITY = {"model": "stub-1"}
VERDICT = {"reasons": "Same facts.", "choice": "C"}


def question(text: str = "Hello", **settings: Any) -> Question:
    return Question("stub-1", (Message("user", text),), **settings)


def questions(count: int) -> list[Question]:
    return [question(f"Hello {number}") for number in range(count)]


class FakeClock(Clock):
    """A clock that only sleeping moves; `slept` are the pauses in order."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.seconds

    def utc(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)


class Kept:
    """Replies kept in memory, in the order in which they came."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.written: list[tuple[str | None, Reply, str]] = []

    def get_many(self, keys: Sequence[str]) -> dict[str, Reply]:
        return {key: self.replies[key] for key in keys if key in self.replies}

    def keep(self, key: str | None, question: Question, reply: Reply, fault_code: str = "") -> str:
        self.written.append((key, reply, fault_code))
        if key:
            self.replies[key] = reply
        return str(len(self.written))


class Purse:
    """A budget of so many calls; remembers how many were under way at once."""

    def __init__(self, calls: int) -> None:
        self.left, self.under_way, self.most = calls, 0, 0

    def may_spend(self) -> bool:
        if self.left == 0:
            return False
        self.left, self.under_way = self.left - 1, self.under_way + 1
        self.most = max(self.most, self.under_way)
        return True

    def end(self) -> None:
        self.under_way -= 1


class Asking:
    """Services that can only ask."""

    def __init__(self, ask: Callable[[Sequence[Question]], list[Answer]]) -> None:
        self.ask = ask

    def embed(self, texts: Sequence[str], **_: Any) -> Any:
        raise AssertionError("a judge embeds nothing")


class Stated(Asking):
    """Services that answer with stated replies, in order; a text is a reply's whole text."""

    def __init__(self, answers: Iterable[Answer | str]) -> None:
        self.asked: list[Question] = []
        self._answers = iter(answers)
        super().__init__(self._stated)

    def _stated(self, questions: Sequence[Question]) -> list[Answer]:
        self.asked += questions
        given = (next(self._answers) for _ in questions)
        return [Reply(each) if isinstance(each, str) else each for each in given]


@dataclass
class Bench:
    """The stub, a pool on a clock of ours, and what was kept."""

    stub: Stub
    clock: FakeClock = field(default_factory=FakeClock)
    kept: Kept = field(default_factory=Kept)

    def __post_init__(self) -> None:
        random.seed(7)
        self.pool = ClientPool(self.clock)

    def endpoint(self, scenario: str = "ok", **settings: Any) -> Endpoint:
        given = {
            "base_url": self.stub.url(scenario) if "base_url" not in settings else "",
            "api_key": "sk-secret-1234",
            "timeout_seconds": 5,
            "prices": {"stub-1": Price(2.0, 10.0)},
            "allowed_hosts": frozenset({"127.0.0.1"}),
        }
        return Endpoint("main", **{**given, **settings})

    def caller(self, endpoint: Endpoint | CallFailure, budget: Purse | None = None) -> JudgeClient:
        return JudgeClient(lambda _: endpoint, self.kept, budget, pool=self.pool)

    def results(
        self,
        scenario: str,
        cases: Sequence[Case] = (PARIS,),
        type_name: str = "factuality",
        config: dict[str, Any] | None = None,
        **settings: Any,
    ) -> list[Result]:
        """The judged results of cases while the endpoint plays this scenario."""
        caller = self.caller(self.endpoint(scenario, **settings))
        with use_services(Asking(caller.ask)):
            return configure_scorer(type_name, config or FACTUALITY).score(cases)

    def result(self, scenario: str, **settings: Any) -> Result:
        (result,) = self.results(scenario, **settings)
        return result
