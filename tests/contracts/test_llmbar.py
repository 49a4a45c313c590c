"""Recorded judges of LLMBar replayed through the stub: what the product says is what was counted.

The file holds an instruction, two outputs and a person's label a line, and of five judges which
output they preferred in either order, with their reply where it was recorded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from sklearn import metrics

from scoring.engine.judges.quality import judge_quality, label_paths, other_runs
from scoring.engine.processes.thread_pool import ThreadPool
from scoring.engine.runs.planning import create_run
from scoring.engine.worker.run_dispatcher import run_to_end
from scoring.models import (
    Connection,
    DatasetVersion,
    Output,
    OutputSet,
    OutputSetState,
    Run,
    RunScorer,
    Scorer,
    Team,
    User,
)
from tests.conftest import MakeDataset
from tests.stub import Asked, Stub, wire
from tests.stub.wire import Answer
from tests.support.real_data import Row, jsonl_rows
from tests.support.thoroughness import IS_THOROUGH

pytestmark = pytest.mark.django_db(transaction=True)

JUDGES = ("GPT-4/Vanilla", "GPT-4/CoT", "GPT-4/Rating", "ChatGPT/Vanilla", "LLaMA2/Vanilla")
AS_IS, SWAPPED = "as_is", "swapped"
PLACES = {AS_IS: {"1": "a", "2": "b"}, SWAPPED: {"1": "b", "2": "a"}}  # of the preferred output
LABEL = "metadata.human_label"
RUBRIC = "Which of the two outputs, `a` or `b`, follows the instruction in `input` better?"


@pytest.fixture
def all_rows(facts: Path) -> list[Row]:
    return jsonl_rows(facts / "data/llmbar/llmbar_open.jsonl")


@pytest.fixture
def rows(all_rows: list[Row]) -> list[Row]:
    """Every fourth row of the file, or all that are wished for."""
    return all_rows[:: 1 if IS_THOROUGH else 4]


@pytest.fixture
def threads() -> Iterator[ThreadPool]:
    with ThreadPool() as threads:
        yield threads


def outputs_of(row: Row, order: str) -> dict[str, str]:
    first, second = (1, 2) if order == AS_IS else (2, 1)
    return {"a": row[f"output_{first}"], "b": row[f"output_{second}"]}


def place_of(row: Row, judge: str, order: str) -> str:
    """The place of the output that this judge preferred."""
    return PLACES[order][row["judges"][judge][order]["winner"]]


def replayed(rows: list[Row], judge: str, *, is_raw: bool) -> Callable[[Asked], Answer]:
    """What this judge said of what it is shown, found by the prompt's content."""
    known: dict[tuple[str, ...], Answer] = {}
    for row in rows:
        for order in (AS_IS, SWAPPED):
            raw = row["judges"][judge][order].get("reply", "")
            said = wire.verdict(place_of(row, judge, order), raw[:200] or "Not recorded.")
            shown = outputs_of(row, order)
            known[row["input"], shown["a"], shown["b"]] = wire.completion(raw) if is_raw else said

    def answer(asked: Asked) -> Answer:
        shown = json.loads(asked.user)
        return known[shown["input"], shown["output"]["a"], shown["output"]["b"]]

    return answer


class Replay:
    """A dataset of the rows, judged in both orders by a recorded judge."""

    def __init__(self, team: Team, rows: list[Row], version: DatasetVersion, stub: Stub) -> None:
        self.team, self.rows, self.version, self.stub = team, rows, version, stub

    def runs(self, judge: str, threads: ThreadPool, *, is_raw: bool = False) -> tuple[Run, Run]:
        url = self.stub.play("replay", replayed(self.rows, judge, is_raw=is_raw))
        Connection.objects.define(self.team, "replay", url, by=None)
        config = {
            "model": "stub-1",
            "connection": "replay",
            "rubric": RUBRIC,
            "choices": {"a": 1.0, "b": 0.0},
            "hidden_metadata": ["human_label"],
        }
        scorer = Scorer.objects.define(self.team, judge, "llm_judge", config)
        made = [
            create_run(self._outputs(order), scorers=[(scorer, 0.5)]) for order in (AS_IS, SWAPPED)
        ]
        for run in made:
            run_to_end(run, threads)
        return made[0], made[1]

    def _outputs(self, order: str) -> OutputSet:
        count = len(self.rows)
        made = OutputSet.objects.create(version=self.version, series=order, output_count=count)
        Output.objects.bulk_create(
            Output(
                output_set=made, case=case, text=json.dumps(outputs_of(row, order)), is_json=True
            )
            for case, row in zip(self.version.cases.all(), self.rows, strict=True)
        )
        made.state = OutputSetState.READY
        made.save()
        return made


@pytest.fixture
def replay(
    team: Team, rows: list[Row], make_dataset: MakeDataset, stub: Stub, settings: LazySettings
) -> Replay:
    settings.EVALSITE_MODEL_HOSTS = stub.hosts
    cases = [
        {
            "key": row["id"],
            "input": row["input"],
            "metadata": {"human_label": "ab"[row["human_label"] - 1], "subset": row["subset"]},
        }
        for row in rows
    ]
    return Replay(team, rows, make_dataset(cases, "LLMBar"), stub)


def judge_of(run: Run) -> RunScorer:
    return run.scorers.select_related("version", "run__output_set__version__dataset").get()


def agreed(rows: list[Row], judge: str, order: str) -> int:
    """Counted over the file: how often the preferred output is the one people preferred."""
    return sum(int(row["judges"][judge][order]["winner"]) == row["human_label"] for row in rows)


def kappa(rows: list[Row], judge: str, order: str) -> float:
    winners = [int(row["judges"][judge][order]["winner"]) for row in rows]
    return float(metrics.cohen_kappa_score(winners, [row["human_label"] for row in rows]))


def same_places(rows: list[Row], judge: str) -> Counter[str]:
    """Counted over the file: pairs whose preferred output changed with the order, by place."""
    verdicts = (row["judges"][judge] for row in rows)
    both = ((each[AS_IS]["winner"], each[SWAPPED]["winner"]) for each in verdicts)
    return Counter(PLACES[AS_IS][one] for one, other in both if one != other)


@pytest.mark.parametrize(
    "judge",
    [JUDGES[3], *(pytest.param(j, marks=pytest.mark.slow) for j in JUDGES if j != JUDGES[3])],
)
def test_agreement_and_bias_are_those_counted_over_the_file(
    replay: Replay,
    threads: ThreadPool,
    rows: list[Row],
    judge: str,
    bob: User,
    browser_of: Callable[[User], Client],
) -> None:
    as_is, swapped = replay.runs(judge, threads)
    own, other = judge_of(as_is), judge_of(swapped)
    found = judge_quality(own, LABEL, other)
    assert (found.agreement.n, found.unlabelled, found.is_shown) == (len(rows), 0, False)
    assert found.agreement.agreed == agreed(rows, judge, AS_IS)
    assert found.agreement.kappa == pytest.approx(kappa(rows, judge, AS_IS), abs=1e-12)
    assert found.in_other_order is not None
    assert found.in_other_order.agreement.n == len(rows)
    assert found.in_other_order.agreement.agreed == agreed(rows, judge, SWAPPED)
    bias = found.in_other_order.bias
    assert bias.same_place == same_places(rows, judge)
    assert bias.n == len(rows)
    assert bias.followed_content == len(rows) - same_places(rows, judge).total()
    back = judge_quality(other, LABEL, own)  # the labels lie by the first order all the same
    assert back.in_other_order is not None
    assert back.in_other_order.bias == bias

    url = reverse("run_scorer_calibration", args=[as_is.uuid, own.position])
    page = " ".join(browser_of(bob).get(f"{url}?label={LABEL}&swapped={swapped.uuid}").text.split())
    assert f"{agreed(rows, judge, AS_IS)} of {len(rows)}" in page
    assert f"{agreed(rows, judge, SWAPPED)} of {len(rows)}" in page
    for place, name in (("a", "first"), ("b", "second")):
        number = same_places(rows, judge)[place]
        assert f"In {number} of {len(rows)} pairs, the judge chose the {name} position" in page


@pytest.mark.parametrize(
    "judge", ["GPT-4/CoT", pytest.param("GPT-4/Vanilla", marks=pytest.mark.slow)]
)
def test_replies_as_they_were_recorded_are_errors_and_never_scores(
    replay: Replay, threads: ThreadPool, rows: list[Row], judge: str
) -> None:
    for run in replay.runs(judge, threads, is_raw=True):
        (summary,) = (scorer.summary for scorer in run.scorers.all())
        assert (summary.scored, summary.mean) == (0, None)
        assert summary.causes == {"reply_unparsable": len(rows)}
        assert judge_quality(judge_of(run), LABEL).agreement.n == 0


@pytest.mark.parametrize("judge", [name for name in JUDGES if name.endswith("Vanilla")])
def test_the_structured_replies_say_what_was_recorded(all_rows: list[Row], judge: str) -> None:
    """Held against the recorded words, which the replay itself does not read."""
    for row in all_rows:
        for order in (AS_IS, SWAPPED):
            said = row["judges"][judge][order]["reply"]
            assert said.endswith(f"Output ({place_of(row, judge, order)})")


def test_the_judge_never_sees_the_label(
    replay: Replay, threads: ThreadPool, rows: list[Row], stub: Stub
) -> None:
    as_is, swapped = replay.runs("GPT-4/Vanilla", threads)
    assert len(stub.requests) == 2 * len(rows)
    assert [asked for asked in stub.requests if "human_label" in asked.user] == []
    documents = [json.loads(asked.user) for asked in stub.requests]
    assert {tuple(document["metadata"]) for document in documents} == {("subset",)}
    own = judge_of(as_is)
    assert label_paths(own)[0] == (LABEL, min(50, len(rows)))
    assert list(other_runs(own)) == [swapped]


def test_the_file_is_what_these_tests_take_it_for(all_rows: list[Row]) -> None:
    shapes: Any = {
        (set(row["judges"]) == set(JUDGES), row["human_label"] in {1, 2}) for row in all_rows
    }
    assert shapes == {(True, True)}
    assert len({row["input"] for row in all_rows}) == len(all_rows) == 160
    assert all(same_places(all_rows, judge).total() for judge in JUDGES if judge != "GPT-4/Vanilla")
