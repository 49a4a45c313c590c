from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, transaction

from scoring.core.services import Message, Question, Reply
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.services import reply_store
from scoring.engine.services.reply_store import RunBudget, StoredReplies, _write_all, without_nul
from scoring.models import CallPurpose, ModelCall, Run, Team
from tests.support.fixtures.runs import RunOfYes
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db

QUESTION = Question("gpt", (Message("user", "Is it so?"),), connection="main")
REPLY = Reply(
    "yes",
    finish="stop",
    model="gpt-2026",
    tokens_in=12,
    tokens_out=3,
    cost_usd=0.25,
    latency_ms=412.0,
    attempts=2,
)


@pytest.fixture
def run(run_of_yes: RunOfYes) -> Run:
    return run_of_yes(1)


class TestKeeping:
    def test_a_kept_reply_comes_back_as_it_was_at_no_cost(self, team: Team) -> None:
        kept = StoredReplies(team)
        ref = kept.keep("k", QUESTION, REPLY)
        found = kept.get_many(["other", "k"])
        assert found == {"k": replace(REPLY, cost_usd=0.0, is_cached=True, ref=ref)}

    def test_every_paid_reply_is_a_row(self, team: Team, run: Run) -> None:
        kept = StoredReplies(team, run)
        kept.names["main"] = "main connection"
        kept.keep("k", QUESTION, REPLY)
        kept.keep(None, QUESTION, REPLY, "reply_empty")
        rows = ModelCall.objects.order_by("pk").values_list(
            "run", "purpose", "connection_name", "model", "fault", "cost_usd", "tokens_in"
        )
        told = (run.pk, "judge", "main connection", "gpt-2026")
        assert list(rows) == [(*told, "", 0.25, 12), (*told, "reply_empty", 0.25, 12)]

    def test_a_reply_that_is_no_use_is_cut_and_never_found(self, team: Team) -> None:
        StoredReplies(team).keep(None, QUESTION, Reply("ü" * 5_000), "reply_unparsable")
        row = ModelCall.objects.get()
        assert (row.cache_key, row.reply, row.fault) == (None, "ü" * 2_048, "reply_unparsable")

    def test_a_useful_reply_is_kept_whole(self, team: Team) -> None:
        kept = StoredReplies(team)
        kept.keep("k", QUESTION, Reply("ü" * 5_000))
        assert kept.get_many(["k"])["k"].text == "ü" * 5_000

    def test_teams_share_no_replies(self, team: Team) -> None:
        StoredReplies(team).keep("k", QUESTION, REPLY)
        other = StoredReplies(Team.objects.create(name="Other", slug="other"))
        assert other.get_many(["k"]) == {}
        other.keep("k", QUESTION, Reply("no"))
        assert other.get_many(["k"])["k"].text == "no"

    def test_two_who_asked_the_same_at_once_both_tell_of_it(self, team: Team) -> None:
        kept = StoredReplies(team)
        assert kept.keep("k", QUESTION, REPLY) != kept.keep("k", QUESTION, Reply("no"))
        assert kept.get_many(["k"])["k"].text == "yes"
        assert ModelCall.objects.filter(cache_key=None).count() == 1

    @pytest.mark.django_db(transaction=True)  # the run is missed only when all is written
    def test_what_was_paid_outlives_its_run(self, team: Team, run: Run) -> None:
        kept = StoredReplies(team, run)
        Run.objects.filter(pk=run.pk).delete()
        kept.keep("k", QUESTION, REPLY)
        assert ModelCall.objects.get().run is None
        assert kept.get_many(["k"])["k"].text == "yes"

    def test_many_keys_are_looked_up_in_few_queries(
        self, team: Team, django_assert_num_queries: Any
    ) -> None:
        with django_assert_num_queries(3):
            assert StoredReplies(team).get_many([str(n) for n in range(1_001)]) == {}

    @pytest.mark.parametrize(("given", "purpose"), [(None, "judge"), (CallPurpose.TRY, "try")])
    def test_a_purpose_may_be_set_for_all(
        self, team: Team, given: CallPurpose | None, purpose: str
    ) -> None:
        StoredReplies(team, purpose=given).keep("k", QUESTION, REPLY)
        assert ModelCall.objects.get().purpose == purpose


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", ["k", None])
def test_a_reply_whose_commit_was_lost_is_in_the_ledger_once(
    team: Team, monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    """Nobody knows then whether it was stored."""
    tries: list[bool] = []

    @contextmanager
    def commit_and_lose() -> Iterator[None]:
        with transaction.atomic():
            yield
        tries.append(bool(tries))
        if not tries[-1]:
            raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(reply_store, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(reply_store, "transaction", SimpleNamespace(atomic=commit_and_lose))
    ref = StoredReplies(team).keep(key, QUESTION, REPLY)
    assert ref == str(ModelCall.objects.get().pk)


def test_replies_are_written_in_the_order_of_their_keys(team: Team) -> None:
    """Two processes that store the same ones would wait for each other else."""
    keys = [None, "b", None, "a", "c"]
    rows = [ModelCall(team=team, cache_key=key) for key in keys]
    _write_all(rows, rows[0])
    written = ModelCall.objects.order_by("pk").values_list("cache_key", flat=True)
    assert list(written) == [None, None, "a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "stored"), [("a\0b", "a\ufffdb"), ("a\ud800b", "a?b"), ("naïve ☃", "naïve ☃")]
)
def test_a_reply_is_stored_as_every_database_keeps_it(text: str, stored: str) -> None:
    assert without_nul(text) == stored


@pytest.mark.django_db(transaction=True)
class TestTogether:
    """Replies that come while another is being written share the next transaction."""

    @pytest.fixture
    def groups(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """How many rows were written together each time; the first waits for the rest to come."""
        found: list[int] = []
        write_all = reply_store._write_all

        def write(rows: list[ModelCall], own: ModelCall) -> None:
            if not found:
                wait_until(lambda: len(reply_store._waiting) == 5)
            found.append(len(rows))
            write_all(rows, own)

        monkeypatch.setattr(reply_store, "_write_all", write)
        return found

    @staticmethod
    def keep_five(*kept: StoredReplies) -> list[str | BaseException]:
        with ThreadPool(5) as threads:
            asked = [
                threads.submit(kept[n % len(kept)].keep, f"k{n}", QUESTION, REPLY) for n in range(5)
            ]
            wait(asked, 10)
        return [future.exception() or future.result() for future in asked]

    def test_five_are_written_in_two_goes(self, team: Team, groups: list[int]) -> None:
        refs = self.keep_five(StoredReplies(team))
        assert groups == [1, 4]
        assert len(set(refs)) == ModelCall.objects.count() == 5
        assert not reply_store._waiting

    def test_one_that_cannot_be_written_harms_no_other(self, team: Team, groups: list[int]) -> None:
        gone = Team.objects.create(name="Gone", slug="gone")
        lost = StoredReplies(gone)
        Team.objects.filter(pk=gone.pk).delete()
        refs = self.keep_five(StoredReplies(team), lost)
        assert [isinstance(ref, IntegrityError) for ref in refs] == [False, True] * 2 + [False]
        assert ModelCall.objects.count() == 3
        assert not reply_store._waiting

    def test_a_lost_run_costs_no_reply(self, team: Team, run: Run, groups: list[int]) -> None:
        kept, lost = StoredReplies(team), StoredReplies(team, run)
        Run.objects.filter(pk=run.pk).delete()
        self.keep_five(kept, lost)
        assert ModelCall.objects.filter(run=None).count() == 5


class TestBusyDatabase:
    @pytest.fixture
    def locked(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The database is locked; the number in the list says for how many writes yet."""
        left = [0]
        write_all = reply_store._write_all

        def write(*given: Any) -> None:
            if left[0]:
                left[0] -= 1
                raise OperationalError("database is locked")
            write_all(*given)

        monkeypatch.setattr(reply_store, "_write_all", write)
        monkeypatch.setattr(reply_store, "PAUSE_SECONDS", 0.001)
        monkeypatch.setattr(reply_store.connection, "close", lambda: None)
        return left

    def test_it_is_waited_for(self, team: Team, locked: list[int]) -> None:
        locked[0] = reply_store.TRIES - 1
        assert StoredReplies(team).keep("k", QUESTION, REPLY)
        assert ModelCall.objects.get().reply == "yes"

    def test_but_not_forever(self, team: Team, locked: list[int]) -> None:
        locked[0] = reply_store.TRIES
        with pytest.raises(OperationalError):
            StoredReplies(team).keep("k", QUESTION, REPLY)
        assert locked == [0]

    def test_and_hardly_when_the_process_ends(self, team: Team, locked: list[int]) -> None:
        locked[0] = reply_store.TRIES
        kept = StoredReplies(team)
        kept.hurry()
        with pytest.raises(OperationalError):
            kept.keep("k", QUESTION, REPLY)
        assert locked == [reply_store.TRIES - 1]


class TestBudget:
    def test_a_reply_that_is_being_written_down_counts_once(self, run: Run) -> None:
        run.budget_usd = 1.0
        budget = RunBudget(run)
        assert [budget.may_spend() for _ in range(2)] == [True, True]
        budget.pay(0.4)  # 0.4 spent, 0.4 expected of the other
        assert [budget.may_spend() for _ in range(2)] == [True, False]

    def test_without_one_everything_may_be_spent(self, run: Run) -> None:
        budget = RunBudget(run)
        budget.pay(1e9)
        assert budget.may_spend()

    def test_nothing_may_be_spent_of_nothing(self, run: Run) -> None:
        run.budget_usd = 0.0
        assert not RunBudget(run).may_spend()

    def test_calls_under_way_count_at_the_dearest_price_seen(self, run: Run) -> None:
        run.budget_usd = 1.0
        budget = RunBudget(run)
        assert budget.may_spend()
        budget.pay(0.3)
        budget.end()
        assert [budget.may_spend() for _ in range(4)] == [True, True, True, False]
        budget.end()  # one ended without a reply and cost nothing
        assert [budget.may_spend() for _ in range(2)] == [True, False]

    def test_what_was_paid_before_counts(self, team: Team, run: Run) -> None:
        run.budget_usd = 1.0
        for cost in (0.5, 0.25, None):
            StoredReplies(team, run).keep(None, QUESTION, Reply("x", cost_usd=cost))
        budget = RunBudget(run)
        assert [budget.may_spend() for _ in range(2)] == [True, False]

    def test_what_another_run_paid_does_not(self, team: Team, run: Run) -> None:
        run.budget_usd = 1.0
        StoredReplies(team).keep(None, QUESTION, Reply("x", cost_usd=5.0))
        assert RunBudget(run).may_spend()
