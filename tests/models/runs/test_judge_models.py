"""Judges inside combinations are looked at before a run becomes a baseline."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from scoring.core.configured import configure_scorer
from scoring.core.contract import Case
from scoring.core.services import Answer, AvailableServices, Question, Reply, Vectors, use_services
from scoring.models import ModelCall, Run, RunScorer, Score, Scorer
from scoring.models.pairs.comparison import baseline_problem
from scoring.models.runs.judge_models import judge_models
from scoring.models.runs.result_rows import metadata_text
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import finished_run
from tests.support.undone import undone

SIZE = 4


@dataclass
class Models:
    """Answers every question; the model that answers is told by the question's own one."""

    answered: dict[str, list[str]]

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        turns = {model: iter(names) for model, names in self.answered.items()}
        said = json.dumps({"choice": "yes", "reasons": "So it is."})
        return [Reply(said, model=next(turns[each.model])) for each in questions]

    def embed(self, *_: Any) -> Vectors:
        raise AssertionError("nothing is embedded here")

    def available(self) -> AvailableServices:
        return AvailableServices()


def judge(model: str, name: str = "") -> dict[str, Any]:
    config = {"model": model, "rubric": "Right?", "choices": {"yes": 1.0, "no": 0.0}}
    return {"type": "llm_judge", "name": name, "config": config}


def combined(kind: str, *parts: dict[str, Any], name: str = "") -> dict[str, Any]:
    return {"type": kind, "name": name, "config": {"scorers": list(parts)}}


@pytest.fixture
def run(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> Run:
    version = make_dataset([{"expected": "yes", "input": f"Question {n}"} for n in range(SIZE)])
    return finished_run(make_outputs(version, ["yes"] * SIZE), name="w1")


def scored(run: Run, whole: dict[str, Any], answered: dict[str, list[str]]) -> None:
    """The run as if this scorer had scored it, whose models were answered for by others."""
    RunScorer.objects.filter(run=run).delete()
    known = Scorer.objects.filter(name="release").first()
    scorer = known or Scorer.objects.define(run.team, "release", whole["type"], whole["config"])
    held = RunScorer.objects.create(run=run, version=scorer.current, name="release", threshold=0.5)
    cases = [Case(output="yes", expected="yes", input=f"Question {n}") for n in range(SIZE)]
    with use_services(Models(answered)):
        results = configure_scorer(whole["type"], whole["config"]).score(cases)
    outputs = run.output_set.outputs.order_by("pk")
    for output, result in zip(outputs, results, strict=True):
        assert result.status == "scored", result
        kept = metadata_text(result.metadata)
        row = {"score": result.score, "verdict": 0, "metadata_json": kept}
        Score.objects.create(scorer=held, output=output, status=0, **row)


SAME, MIXED = ["mini-1"] * SIZE, ["mini-1"] * (SIZE - 1) + ["mini-2"]
EXACT = {"type": "exact_match", "name": "same"}
BOTH = "was answered by several models (mini-1, mini-2): make a run with one."


def test_a_judge_inside_a_combination_that_several_models_answered_for_is_refused(
    run: Run, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        (combined("all", judge("mini")), f"The judge llm_judge in release {BOTH}"),
        (combined("any", EXACT, judge("mini", "tone")), f"The judge tone in release {BOTH}"),
        (
            combined("weighted", EXACT, combined("all", EXACT, judge("mini", "tone"), name="form")),
            f"The judge tone in form in release {BOTH}",
        ),
    ]
    for whole, said in cases:
        with subtests.test(whole=whole, said=said), undone():
            scored(run, whole, {"mini": SAME})
            assert baseline_problem(run) == ""
            scored(run, whole, {"mini": MIXED})
            assert baseline_problem(run) == said


def test_the_judges_of_a_combination_may_have_a_model_each(run: Run) -> None:
    whole = combined("all", judge("mini", "tone"), judge("large", "truth"))
    scored(run, whole, {"mini": SAME, "large": ["large-1"] * SIZE})
    assert judge_models(run) == {"tone in release": {"mini-1"}, "truth in release": {"large-1"}}
    assert baseline_problem(run) == ""


def test_the_paid_calls_of_an_only_judge_count_where_its_metadata_had_no_room(run: Run) -> None:
    scored(run, combined("all", judge("mini", "tone")), {"mini": SAME})
    Score.objects.update(metadata_json='{"trimmed":true}')
    for name in ("mini-1", "mini-2"):
        call = {"team": run.team, "run": run, "purpose": "judge", "cache_key": name}
        ModelCall.objects.create(**call, model=name)
    assert baseline_problem(run) == f"The judge tone in release {BOTH}"


def test_a_name_that_was_cut_is_no_other_model(run: Run, subtests: pytest.Subtests) -> None:
    cases: list[tuple[list[str], set[str]]] = [
        (["a-long-model-name-1", "a-long-mo…"], {"a-long-model-name-1"}),
        (["a-long-mo…"], {"a-long-mo…"}),
        (["another", "a-long-mo…"], {"another", "a-long-mo…"}),
    ]
    for names, told in cases:
        with subtests.test(names=names, told=told), undone():
            scored(run, judge("mini"), {"mini": SAME})
            for row, name in zip(Score.objects.filter(scorer__run=run), names, strict=False):
                row.metadata_json = json.dumps({"model": name})
                row.save()
            Score.objects.filter(scorer__run=run, metadata_json__contains="mini-1").delete()
            assert judge_models(run) == {"release": told}


def test_older_metadata_may_quote_nul(run: Run) -> None:
    """As it was stored on SQLite once, and moved along."""
    scored(run, judge("mini"), {"mini": SAME})
    quoted = r'{"reasons":"a\u0000b, \\u0000","model":"mini-2"}'
    Score.objects.filter(output=run.output_set.outputs.latest("pk")).update(metadata_json=quoted)
    assert judge_models(run) == {"release": {"mini-1", "mini-2"}}
