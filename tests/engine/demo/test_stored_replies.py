"""The demo's scorers that ask services: a judge with stored replies, and local embeddings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoring.core import services
from scoring.core.config import config_mapping
from scoring.core.configured import configure_scorer, resolve_defaults
from scoring.core.contract import ConfigError
from scoring.core.llm.client import Client
from scoring.engine.demo.load import create_demo, score_demo_runs
from scoring.engine.demo.questions import QUESTIONS, TRIALS
from scoring.engine.demo.story import REGRESSION, WEEKS
from scoring.engine.demo.support import SUPPORT
from scoring.engine.demo.support_judge import CONNECTION, MODEL, URL
from scoring.models import (
    AuditEntry,
    Connection,
    ModelCall,
    Run,
    RunScorer,
    RunState,
    Score,
    Status,
    Team,
)
from tests.engine.demo.conftest import NOW
from tests.support.module_rows import kept


@kept
def demo_to_embed() -> None:
    create_demo(NOW)


@pytest.fixture(autouse=True)
def _nobody_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of a model fails the test."""

    async def call(*_: object) -> None:
        pytest.fail("the demo called a model")

    monkeypatch.setattr(Client, "call", call)


@pytest.fixture
def embedding(db: None, minilm: str) -> Team:
    """The demo where local embeddings are installed: the runs that embed wait."""
    demo_to_embed()
    return Team.objects.get()


def of_type(kind: str) -> list[RunScorer]:
    """The runs' scorers of this type, oldest run first."""
    found = RunScorer.objects.filter(version__type=kind).select_related("summary", "run")
    return list(found.order_by("run__output_set__dated"))


def test_the_judge_is_scored_from_stored_replies_alone(loaded: Team) -> None:
    judges = of_type("llm_judge")
    assert len(judges) == WEEKS
    assert {judge.run.state for judge in judges} == {RunState.FINISHED}
    assert all(judge.summary.scored >= 43 for judge in judges)
    facts = Score.objects.filter(scorer__in=judges, status=Status.SCORED)
    assert {(row.metadata["model"], row.metadata["cached"]) for row in facts} == {(MODEL, True)}


def test_some_replies_say_nothing_usable_so_that_n_of_n_is_seen(loaded: Team) -> None:
    judges = of_type("llm_judge")
    causes = {code for judge in judges for code in judge.summary.causes}
    assert causes == {"refused", "reply_truncated", "reply_unparsable"}
    assert judges[-1].summary.scored < judges[-1].summary.n == 46


def test_the_judge_falls_in_the_bad_weeks(loaded: Team) -> None:
    means = [judge.summary.mean for judge in of_type("llm_judge")]
    bad = [means[week] for week in REGRESSION]
    good = [mean for week, mean in enumerate(means) if week not in REGRESSION]
    assert max(bad) < min(good) - 0.15
    assert min(good) > 0.9


def test_the_judge_sees_what_the_distance_of_texts_does_not(loaded: Team) -> None:
    """A wrong figure in an answer that is else the agreed one."""
    (judge,) = [judge for judge in of_type("llm_judge") if judge.run.name == "2026-w36"]
    wrong = Score.objects.filter(scorer=judge, reason__startswith='wrong: Says "')
    close = Score.objects.filter(scorer__run=judge.run, scorer__name="close enough", verdict=0)
    assert {row.output_id for row in wrong} & {row.output_id for row in close}


def test_the_stored_replies_say_what_they_are_and_cost_nothing(loaded: Team) -> None:
    connection = Connection.objects.get(team=loaded)
    assert (connection.name, connection.base_url) == (CONNECTION, URL)
    assert "stored replies" in CONNECTION.lower()
    assert ".invalid/" in URL
    assert not connection.is_default
    assert AuditEntry.objects.of(loaded).filter(action="connection.created").count() == 1
    calls = ModelCall.objects.filter(team=loaded)
    assert {(call.model, call.cost_usd, call.tokens_in, call.run) for call in calls} == {
        (MODEL, 0.0, None, None)
    }
    assert {run.judge_calls for run in Run.objects.filter(suite_name=SUPPORT.suite)} == {0}
    assert all("(stored replies)" in judge.name for judge in of_type("llm_judge"))


def test_new_scorers_never_choose_the_demos_connection(loaded: Team) -> None:
    available = replace(Connection.objects.available_to(loaded), has_local_embeddings=True)
    assert (list(available.connections), available.default_endpoint) == ([CONNECTION], None)
    matched = resolve_defaults(configure_scorer("reference_match"), available)
    assert config_mapping(matched.config)["embedding_provider"] == "local"
    with pytest.raises(ConfigError, match="choose a connection"):
        resolve_defaults(configure_scorer("factuality", {"model": MODEL}), available)


def test_one_reply_is_kept_for_each_distinct_output(loaded: Team) -> None:
    distinct = {(c.key, SUPPORT.answer(c, week)) for c in SUPPORT.cases for week in range(WEEKS)}
    assert ModelCall.objects.exclude(cache_key=None).count() == len(distinct)


def test_runs_that_embed_wait_and_those_that_ask_do_not(embedding: Team) -> None:
    waiting = Run.objects.filter(state=RunState.QUEUED)
    assert {run.suite_name for run in waiting} == {QUESTIONS.suite}
    assert waiting.count() == WEEKS


@pytest.mark.slow
def test_meanings_are_compared_and_the_last_week_has_unsteady_cases(
    embedding: Team,
) -> None:
    score_demo_runs(embedding)
    assert not Run.objects.unfinished().exists()
    scorers = of_type("reference_match")
    means = [scorer.summary.mean for scorer in scorers]
    assert max(means[week] for week in REGRESSION) < min(means[:7]) - 0.08
    assert all(scorer.summary.scored == scorer.summary.n for scorer in scorers)
    trials = scorers[-1].summary.trials
    assert (trials["trials"], scorers[-1].summary.n) == (TRIALS, TRIALS * len(QUESTIONS.cases))
    assert 2 <= trials["unsteady"] <= 12


def test_loading_leaves_no_services_behind(loaded: Team) -> None:
    assert services._services.get() is None
