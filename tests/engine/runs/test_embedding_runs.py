"""Runs whose scorers embed: what is stored, what a re-run computes, what a bare worker says."""

from __future__ import annotations

import sys

import pytest

from scoring.core.embeddings import local as embedding_local
from scoring.core.embeddings.errors import MISSING
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import Embedding, Run, Score
from tests.support.fixtures.runs import MakeRun, MakeScorer

pytestmark = pytest.mark.django_db(transaction=True)
OUTPUTS = ["yes", "It is so.", "yes", "The train leaves at noon."]


def rows_of(run: Run) -> list[Score]:
    return list(Score.objects.filter(scorer__run=run).order_by("output__case__position"))


def test_a_run_keeps_each_vector_once_and_a_re_run_computes_none(
    minilm: str,
    make_run: MakeRun,
    make_scorer: MakeScorer,
    threads: ThreadPool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scorer = make_scorer("reference_match")
    first = make_run(OUTPUTS, scorer)
    run_to_end(first, threads)
    scores = [row.score for row in rows_of(first)]
    assert scores[0] == scores[2] == 1.0
    assert scores[3] is not None
    assert scores[3] < 0.7
    assert Embedding.objects.count() == len({*OUTPUTS, "yes"})

    def nobody(*_: object) -> None:
        raise AssertionError("a kept vector was computed again")

    monkeypatch.setattr(embedding_local.LocalModel, "compute", nobody)
    scorer.revise({"embedding_provider": "local", "aggregation": "mean"}, by=None)
    second = make_run(first.output_set, scorer, name="again")
    run_to_end(second, threads)
    assert [row.score for row in rows_of(second)] == scores


def test_a_worker_without_the_extra_says_how_to_install_it(
    minilm: str,
    make_run: MakeRun,
    make_scorer: MakeScorer,
    threads: ThreadPool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = make_run(OUTPUTS, make_scorer("reference_match"))
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedding_local._load_model.cache_clear()
    run_to_end(run, threads)
    found = {(row.score, row.code, row.reason) for row in rows_of(run)}
    assert found == {(None, "embeddings_missing", MISSING)}
    assert run.error_count == len(OUTPUTS)
