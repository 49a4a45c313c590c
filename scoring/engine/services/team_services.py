"""The services of a team's scorers: its connections, stored replies and vectors, a run's budget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from scoring.core.contract import ServiceError
from scoring.core.embeddings.cache import Embedder, embed_texts
from scoring.core.embeddings.errors import EmbeddingError
from scoring.core.llm.endpoint import Endpoint, Price
from scoring.core.services import (
    ENVIRONMENT,
    Answer,
    CallFailure,
    OnProgress,
    Provider,
    Question,
    Vectors,
    use_services,
)
from scoring.engine.services.reply_store import RunBudget, StoredReplies
from scoring.engine.services.vector_store import StoredVectors
from scoring.models import CallPurpose, Connection, Run, Team

if TYPE_CHECKING:
    from scoring.core.embeddings.remote import RemoteModel
    from scoring.core.llm.judge_client import JudgeClient

Endpoints = Callable[[str | None], Endpoint | CallFailure]


class RunStoppedError(Exception):
    """A shard was left open because its run was cancelled or the worker stops."""


class TeamServices:
    """Answers the scorers of one team; for a run, all its shards share one of these.

    What is paid is the run's where there is one, and kept within its budget. Without a purpose
    each question says what it is paid for.
    """

    def __init__(
        self, team: Team, run: Run | None = None, purpose: CallPurpose | None = None
    ) -> None:
        self._team = team
        self._budget = RunBudget(run) if run else None
        self._kept = StoredReplies(team, run, purpose, self._budget)
        self._endpoints: dict[str | None, Endpoint | CallFailure] = {}
        self._caller: JudgeClient | None = None
        self._remote_models: dict[tuple[str, str | None], RemoteModel] = {}
        self._lock = threading.Lock()
        self.is_stopped = False

    @property
    def stall_reason(self) -> str:
        """Why no call is made at present; empty while calls are made or none is needed."""
        return self._caller.stall_reason if self._caller else ""

    def embed(
        self,
        texts: Sequence[str],
        *,
        provider: Provider,
        model: str,
        connection: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Vectors:
        return embed_texts(
            texts, StoredVectors(), self._embedder(provider, model, connection), on_progress
        )

    def ask(
        self, questions: Sequence[Question], on_progress: OnProgress | None = None
    ) -> list[Answer]:
        refused = [self._refused(question) for question in questions]
        live = [q for q, fault in zip(questions, refused, strict=True) if fault is None]
        answers = iter(self._ready_caller().ask(live, on_progress) if live else [])
        return [fault or next(answers) for fault in refused]

    def endpoint(self, connection: str | None) -> Endpoint | CallFailure:
        """Where a connection leads, looked up once, or why it leads nowhere."""
        if connection not in self._endpoints:
            endpoint = read_endpoint(self._team, connection)
            if isinstance(endpoint, Endpoint):
                self._kept.names[connection] = endpoint.name
            self._endpoints[connection] = endpoint
        return self._endpoints[connection]

    def stop(self) -> None:
        """Begin no further call; questions from now on are answered with faults."""
        with self._lock:
            self.is_stopped = True
            if self._caller:
                self._caller.stop()
            for remote in self._remote_models.values():
                remote.stop()

    def hurry(self) -> None:
        """The process ends: give up replies that cannot be written."""
        self._kept.hurry()

    def _refused(self, question: Question) -> CallFailure | None:
        """Why the question cannot be asked: no endpoint, or no price to count in a budget."""
        endpoint = self.endpoint(question.connection)
        if isinstance(endpoint, CallFailure):
            return endpoint
        if self._budget and self._budget.limit_usd is not None:
            price = endpoint.prices.get(question.model, Price())
            if None in price:
                text = (
                    f"the price of {question.model} is not known, so the run's budget cannot be"
                    f" kept; enter its price in the connection {endpoint.name}, 0 if it is free, or"
                    " run without a budget"
                )
                return CallFailure("price_missing", text, 0, can_retry=False)
        return None

    def _ready_caller(self) -> JudgeClient:
        """Created when first needed: vectors alone need no client of models."""
        with self._lock:
            if self._caller is None:
                self._caller = new_client(self.endpoint, self._kept, self._budget)
                if self.is_stopped:
                    self._caller.stop()
            return self._caller

    def _embedder(self, provider: Provider, model: str, connection: str | None) -> Embedder:
        if provider == "local":
            from scoring.core.embeddings.child_process import get_local_model

            return get_local_model(model)
        from scoring.core.embeddings.remote import RemoteModel

        endpoint = self.endpoint(connection)
        if isinstance(endpoint, CallFailure):
            raise EmbeddingError(endpoint.code, endpoint.text)
        with self._lock:
            remote = self._remote_models.setdefault(
                (model, connection), RemoteModel(endpoint, model)
            )
            if self.is_stopped:
                remote.stop()
        return remote


def new_client(endpoints: Endpoints, kept: StoredReplies, budget: RunBudget | None) -> JudgeClient:
    from scoring.core.llm.judge_client import JudgeClient

    return JudgeClient(endpoints, kept, budget)


def read_endpoint(team: Team, connection: str | None) -> Endpoint | CallFailure:
    """The endpoint behind a connection's name; without a name the default one's."""
    try:
        endpoint = Connection.objects.endpoint_for(team, connection)
    except ServiceError as fault:
        return CallFailure("no_key", fault.text, attempts=0, can_retry=False)
    if endpoint:
        return endpoint
    if connection is None:
        text = "there is no default connection; set one, or set OPENAI_API_KEY"
    elif connection == ENVIRONMENT:
        text = "no endpoint is set; set OPENAI_API_KEY, and restart the worker"
    else:
        text = f"the team has no connection called {connection!r} any more; add one of that name"
    code = "no_key" if connection == ENVIRONMENT else "connection_missing"
    return CallFailure(code, text, attempts=0, can_retry=False)


_of_runs: WeakValueDictionary[int, TeamServices] = WeakValueDictionary()
_lock = threading.Lock()


def open_run_services(run: Run) -> TeamServices:
    """New services for a run; shards begun in this process from now on share them."""
    services = TeamServices(run.team, run)
    with _lock:
        _of_runs[run.pk] = services
    return services


@contextmanager
def services_for(run: Run) -> Iterator[None]:
    """Let the run's services answer inside the block.

    Raises RunStoppedError at its end when they were stopped: some answers are missing then.
    """
    with _lock:
        services = _of_runs.get(run.pk)
    services = services or open_run_services(run)
    with use_services(services):
        yield
    if services.is_stopped:
        raise RunStoppedError(f"the run {run.uuid} is not asked any more")
