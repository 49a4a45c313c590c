"""Replies of models as rows: cached, so that none is paid twice, and counted against a budget."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Max, Sum

from scoring.core.services import Question, Reply
from scoring.models import CallPurpose, ModelCall, Run, Team

log = logging.getLogger(__name__)

KEYS_A_QUERY: Final = 500
TRIES: Final = 30  # to write a reply; each waits for the database by itself, too
PAUSE_SECONDS: Final = 2.0
FAULTY_BYTES: Final = 4_096  # of a reply that is no use


class RunBudget:
    """How much of a run's budget is left, with calls under way at the dearest price seen.

    It starts from the run's rows, so what other processes have paid counts, too. A reply without
    usage counts as its estimate.
    """

    def __init__(self, run: Run) -> None:
        calls = ModelCall.objects.paid_by(run).with_spent_usd()
        paid = calls.aggregate(sum=Sum("spent_usd"), max=Max("spent_usd"))
        self.limit_usd = run.budget_usd
        self._spent_usd: float = paid["sum"] or 0.0
        self._dearest_usd: float = paid["max"] or 0.0
        self._under_way = self._paid_under_way = 0
        self._lock = threading.Lock()

    def may_spend(self) -> bool:
        """Whether a call may begin; one that may is under way from now on."""
        with self._lock:
            unpaid = self._under_way - self._paid_under_way
            expected = self._spent_usd + unpaid * self._dearest_usd
            if self.limit_usd is not None and expected >= self.limit_usd:
                return False
            self._under_way += 1
            return True

    def pay(self, cost_usd: float | None) -> None:
        """A reply has come, and this is what it cost; its call is under way until `end`."""
        with self._lock:
            self._paid_under_way += 1
            self._spent_usd += cost_usd or 0.0
            self._dearest_usd = max(self._dearest_usd, cost_usd or 0.0)

    def end(self) -> None:
        """A call that might begin has ended, with a reply or without."""
        with self._lock:
            self._under_way -= 1
            # Whether it was a paid one is unknown; the next ones to end correct a wrong guess.
            self._paid_under_way = max(0, self._paid_under_way - 1)


class StoredReplies:
    """The reply cache of a team, and the ledger of what its calls cost."""

    def __init__(
        self,
        team: Team,
        run: Run | None = None,
        purpose: CallPurpose | None = None,
        budget: RunBudget | None = None,
    ) -> None:
        self._team, self._run, self._purpose, self._budget = team, run, purpose, budget
        self._is_hurried = threading.Event()
        self.names: dict[str | None, str] = {}  # of endpoints, by what questions call them

    def get_many(self, keys: Sequence[str]) -> dict[str, Reply]:
        """The stored replies by key; keys without one are left out."""
        keys_of_team = {self._own(key): key for key in keys}
        own_keys = list(keys_of_team)
        replies: dict[str, Reply] = {}
        for start in range(0, len(own_keys), KEYS_A_QUERY):
            chunk = own_keys[start : start + KEYS_A_QUERY]
            for call in ModelCall.objects.filter(cache_key__in=chunk):
                replies[keys_of_team[call.cache_key or ""]] = stored_reply(call)
        return replies

    def keep(self, key: str | None, question: Question, reply: Reply, fault_code: str = "") -> str:
        """Store a paid reply and return the id of its row.

        A database that is busy or full is waited for, because the reply was paid for.
        Raises OperationalError after TRIES.
        """
        if self._budget:
            is_known = reply.cost_usd is not None
            self._budget.pay(reply.cost_usd if is_known else reply.estimated_cost_usd)
        row = self.row(key, question, reply, fault_code)
        tries = 0
        while True:
            tries += 1
            try:
                _write(row)
                return str(row.pk)
            except (OperationalError, InterfaceError) as fault:
                log.warning("a paid reply of %s is not written yet: %s", question.model, fault)
                connection.close()
                if tries == TRIES or self._is_hurried.wait(PAUSE_SECONDS):
                    raise

    def hurry(self) -> None:
        """The process ends: give up replies that cannot be written."""
        self._is_hurried.set()

    def _own(self, key: str) -> str:
        """Two teams never share a reply: its existence would reveal the other's texts."""
        return hashlib.sha256(f"{self._team.pk}:{key}".encode()).hexdigest()

    def row(self, key: str | None, question: Question, reply: Reply, fault_code: str) -> ModelCall:
        """The row of a reply, not yet written."""
        text = without_nul(reply.text)
        return ModelCall(
            team=self._team,
            run=self._run,
            purpose=self._purpose or question.purpose,
            cache_key=self._own(key) if key else None,
            connection_name=self.names.get(question.connection, question.connection or "")[:100],
            model=without_nul(reply.model or question.model)[:200],
            reply=text if key else _cut(text),
            refusal=_cut(without_nul(reply.refusal)),
            finish=without_nul(reply.finish)[:40],
            fault=fault_code[:40],
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost_usd=reply.cost_usd,
            estimated_cost_usd=reply.estimated_cost_usd,
            latency_ms=reply.latency_ms,
            attempts=reply.attempts,
        )


def stored_reply(call: ModelCall) -> Reply:
    """A stored reply as if it had come just now, at no cost."""
    return Reply(
        text=call.reply,
        refusal=call.refusal,
        finish=call.finish,
        model=call.model,
        tokens_in=call.tokens_in,
        tokens_out=call.tokens_out,
        cost_usd=0.0,
        latency_ms=call.latency_ms,
        attempts=call.attempts,
        is_cached=True,
        ref=str(call.pk),
    )


_waiting: dict[int, ModelCall] = {}  # by identity
_waiting_lock = threading.Lock()
_turn = threading.Lock()


def _write(row: ModelCall) -> None:
    """Write the row; rows of other threads that wait share its transaction.

    A commit waits for the disk, milliseconds in which several replies come. Raises
    OperationalError, and then the row is not written.
    """
    with _waiting_lock:
        _waiting[id(row)] = row
    with _turn:
        if row.pk is None:
            with _waiting_lock:
                rows = list(_waiting.values())
            try:
                _write_all(rows, row)
            finally:
                with _waiting_lock:
                    _waiting.pop(id(row), None)
                    for other in rows:
                        if other.pk is not None:
                            _waiting.pop(id(other), None)


def _write_all(rows: Sequence[ModelCall], own: ModelCall) -> None:
    """Raises for what is wrong with the database or with `own`; others raise for themselves."""
    rows = [row for row in rows if not _is_written(row)]
    ordered = sorted(rows, key=lambda row: row.cache_key or "")  # no deadlock between two of them
    try:
        with transaction.atomic():
            ModelCall.objects.bulk_create(ordered)
    except BaseException as fault:
        for row in rows:
            row.pk = None
        if not isinstance(fault, IntegrityError):
            raise
        for row in rows:
            if row is own:
                _write_alone(row)
            else:
                with suppress(IntegrityError):
                    _write_alone(row)


def _is_written(row: ModelCall) -> bool:
    """Whether an earlier try has written it, though the connection was lost at its COMMIT."""
    if row.created_at is None:  # it was never tried
        return False
    same = ModelCall.objects.filter(team=row.team, created_at=row.created_at, model=row.model)
    row.pk = same.values_list("pk", flat=True).first()
    return row.pk is not None


def _write_alone(row: ModelCall) -> None:
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        row.pk = None
        if row.run_id and not Run.objects.filter(pk=row.run_id).exists():
            row.run = None  # deleted meanwhile; the money is spent all the same
        elif row.cache_key:
            row.cache_key = None  # somebody else has asked the same at the same time
        else:
            raise
        _write_alone(row)


def without_nul(text: str) -> str:
    """The text without NUL and lone surrogates, which not every database stores."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _cut(text: str) -> str:
    return text.encode()[:FAULTY_BYTES].decode(errors="ignore")
