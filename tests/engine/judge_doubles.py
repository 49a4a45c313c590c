"""A scorer type that asks a model, and a model that does as told; no network, no client."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock

import pytest

from scoring.core import registry, services
from scoring.core.config import Config
from scoring.core.contract import Case, Result, error, scored
from scoring.core.llm.endpoint import Endpoint, Price
from scoring.core.services import Answer, CallFailure, Message, OnProgress, Question, Reply
from scoring.engine.services import team_services
from scoring.engine.services.reply_store import RunBudget, StoredReplies
from tests.support.waiting import DEADLINE_SECONDS

STUB = Endpoint("stub", "http://stub/v1", prices={"m": Price(1.0, 1.0)})


@dataclass
class Model:
    """Answers a text with itself, or as told. `asked` are all calls that were made, in order."""

    asked: list[str] = field(default_factory=list)
    faults: dict[str, CallFailure] = field(default_factory=dict)
    cost_usd: float = 0.001
    endpoint: Endpoint | CallFailure = STUB
    on_asked: Callable[[str], object] = field(default=lambda _: None)
    stall_reason: str = ""
    may_answer: Event = field(default_factory=Event)
    callers: list[FakeCaller] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.may_answer.set()
        self.lock = Lock()

    def caller(
        self, endpoints: object, kept: StoredReplies, budget: RunBudget | None
    ) -> FakeCaller:
        made = FakeCaller(self, kept, budget)
        self.callers.append(made)
        return made

    def called(self, text: str) -> Reply | CallFailure:
        with self.lock:
            self.asked.append(text)
        self.on_asked(text)
        self.may_answer.wait(DEADLINE_SECONDS)
        tokens = len(text)
        reply = Reply(text, tokens_in=tokens, tokens_out=1, cost_usd=self.cost_usd, latency_ms=2.0)
        return self.faults.get(text, reply)


class FakeCaller:
    """Asks one question after the other, by the contract of the real caller."""

    def __init__(self, model: Model, kept: StoredReplies, budget: RunBudget | None) -> None:
        self._model, self._kept, self._budget = model, kept, budget
        self.is_stopped = False

    @property
    def stall_reason(self) -> str:
        return self._model.stall_reason

    def ask(
        self, questions: Sequence[Question], on_progress: OnProgress | None = None
    ) -> list[Answer]:
        kept = self._kept.get_many([key_of(question) for question in questions])
        return [kept.get(key_of(question)) or self._answer(question) for question in questions]

    def stop(self) -> None:
        self.is_stopped = True

    def _answer(self, question: Question) -> Answer:
        if self.is_stopped:
            return CallFailure("cancelled", "the run was cancelled", attempts=0)
        if self._budget and not self._budget.may_spend():
            return CallFailure("budget_reached", "the budget is spent", attempts=0)
        try:
            answer = self._model.called(question.messages[0].content)
            if isinstance(answer, Reply):
                self._kept.keep(key_of(question), question, answer)
        finally:
            if self._budget:
                self._budget.end()
        return answer


def key_of(question: Question) -> str:
    return hashlib.sha256(repr(question).encode()).hexdigest()


def verdict(cases: Sequence[Case], config: Config) -> list[Result]:
    """The number the model answers with is the score."""
    questions = [Question("m", (Message("user", str(case.output)),)) for case in cases]
    return [_result(answer) for answer in services.current_services().ask(questions)]


def _result(answer: Answer) -> Result:
    if isinstance(answer, CallFailure):
        return error(answer.code, answer.text)
    return scored(float(answer.text), "", {"cost_usd": answer.cost_usd, "refs": [answer.ref]})


VERDICT = registry.ScorerType(
    name="verdict",
    label="Verdict",
    summary="",
    config=Config,
    score=verdict,
    default_threshold=0.5,
    family="llm",
)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """The model behind every connection, and the scorer type `verdict` that asks it."""
    made = Model()
    monkeypatch.setitem(registry.CUSTOM_TYPES, "verdict", VERDICT)
    monkeypatch.setattr("scoring.engine.runs.execution._configured", {})
    monkeypatch.setattr(team_services, "new_client", made.caller)
    monkeypatch.setattr(team_services, "read_endpoint", lambda *_: made.endpoint)
    return made
