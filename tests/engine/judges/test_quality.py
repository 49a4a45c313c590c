"""A judge beside people: which labels count, in which terms, and what two orders tell."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from scoring.engine.judges import quality
from scoring.engine.judges.quality import is_judge, judge_quality, label_paths, other_runs
from scoring.models import Output, OutputSet, Run, RunScorer, RunState, Score, Scorer, Status, Team
from tests.conftest import MakeDataset, MakeOutputs
from tests.support.run_states import queued_run

Said = str | float | None  # a choice, a number, or an error
AB = {"a": 1.0, "b": 0.0}
TIES = {"a": 1.0, "tie": 0.5, "b": 0.0}


@pytest.fixture
def outputs(make_dataset: MakeDataset, make_outputs: MakeOutputs) -> OutputSet:
    return labelled(make_dataset, make_outputs, [{"l": "a"}, {"l": "b"}, {"l": "a"}, {}])


def labelled(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, metadata: Sequence[Any], **case: Any
) -> OutputSet:
    cases = [{"metadata": each, **case} for each in metadata]
    return make_outputs(make_dataset(cases), ["x"] * len(cases))


def judged(outputs: OutputSet, said: Sequence[Said], name: str = "r", **config: Any) -> RunScorer:
    """A finished run in which the judge said this of the outputs in turn."""
    scale = {} if "range" in config else {"choices": AB}
    given = {"model": "m", "rubric": "Which?", **scale, **config}
    run = queued_run(outputs, ("judge", "llm_judge", given), name=name)
    scorer = run.scorers.select_related("version", "run__output_set__version__dataset").get()
    ids = Output.objects.filter(output_set=outputs).order_by("pk").values_list("pk", flat=True)
    for output, each in zip(ids, said, strict=True):
        Score.objects.create(scorer=scorer, output_id=output, **_row(each, given))
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED)
    return scorer


def _row(said: Said, config: dict[str, Any]) -> dict[str, Any]:
    if said is None:
        return {"status": Status.ERROR, "code": "reply_empty"}
    key = "choice" if isinstance(said, str) else "number"
    score = config["choices"][said] if isinstance(said, str) else said / 5
    row = {"status": Status.SCORED, "score": score, "verdict": int(score < 0.5)}
    return row | {"metadata_json": json.dumps({key: said})}


def test_only_labelled_answers_count(outputs: OutputSet) -> None:
    found = judge_quality(judged(outputs, ["a", "a", None, "b"]), "metadata.l")
    assert found.agreement.counts == Counter({("a", "a"): 1, ("a", "b"): 1})
    assert (found.unlabelled, found.is_cut, found.in_other_order) == (1, False, None)


#: (choices or range, what was said, the label) → the pair that is compared
TERMS: list[tuple[dict[str, Any], Said, Any, tuple[str, str] | None]] = [
    ({}, "a", "a", ("a", "a")),
    ({}, "a", " b ", ("a", "b")),
    ({}, "a", "B", ("a", "B")),
    ({}, "a", True, ("pass", "pass")),
    ({}, "b", "Fail", ("fail", "fail")),
    ({}, "b", "true", ("fail", "pass")),
    ({}, "a", "", None),
    ({}, "a", None, None),
    ({}, "a", {"deep": 1}, None),
    ({}, "a", "x" * 101, None),
    ({}, "a", 0, ("a", "0")),
    ({"choices": {"true": 0.0, "false": 1.0}}, "true", True, ("true", "true")),
    ({"range": [0, 5]}, 4.0, 4, ("4", "4")),
    ({"range": [0, 5]}, 4.0, False, ("pass", "fail")),
]


@pytest.mark.parametrize(("config", "said", "label", "pair"), TERMS)
def test_judge_and_person_are_compared_in_the_same_terms(
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    config: dict[str, Any],
    said: Said,
    label: Any,
    pair: tuple[str, str] | None,
) -> None:
    outputs = labelled(make_dataset, make_outputs, [{"l": label}])
    found = judge_quality(judged(outputs, [said], **config), "metadata.l")
    assert list(found.agreement.counts) == ([pair] if pair else [])
    assert found.unlabelled == (pair is None)


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("expected", "a", True),
        ("expected.who", {"who": "a"}, True),
        ("expected.who[0].best", {"who": [{"best": "a"}]}, True),
        ("expected.who[1]", {"who": ["a"]}, False),
        ("expected.other", {"who": "a"}, False),
        ("expected.a", "a", False),
    ],
)
def test_a_label_lies_at_a_path(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, path: str, value: Any, found: bool
) -> None:
    outputs = labelled(make_dataset, make_outputs, [{}], expected=value)
    assert judge_quality(judged(outputs, ["a"]), path).agreement.n == found


@pytest.mark.parametrize("path", ["output", "$", "input.x", "metadata..x", ""])
def test_a_path_to_somewhere_else_is_refused(outputs: OutputSet, path: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        judge_quality(judged(outputs, ["a"] * 4), path)


def test_labels_turn_round_with_the_order(outputs: OutputSet, make_outputs: MakeOutputs) -> None:
    """People prefer a, b, a; in the other order those stand at b, a, b."""
    other = make_outputs(outputs.version, ["y"] * 4, series="swapped")
    found = judge_quality(
        judged(outputs, ["a", "a", "b", "a"]),
        "metadata.l",
        judged(other, ["b", "a", "b", None], "swapped"),
    ).in_other_order
    assert found is not None
    assert (found.agreement.agreed, found.agreement.n) == (3, 3)
    assert found.bias == ({"a": 1, "b": 1}, 1, 0)


def test_a_tie_turns_into_itself(outputs: OutputSet, make_outputs: MakeOutputs) -> None:
    other = make_outputs(outputs.version, ["y"] * 4, series="swapped")
    found = judge_quality(
        judged(outputs, ["tie", "tie", "a", "a"], choices=TIES),
        "metadata.l",
        judged(other, ["tie", "a", "a", "b"], "swapped", choices=TIES),
    ).in_other_order
    assert found is not None
    assert found.bias == ({"a": 1}, 2, 1)


@pytest.mark.parametrize(
    ("config", "said"),
    [({"range": [0, 5]}, 4.0), ({"choices": {"a": 1.0, "b": 0.2, "c": 0.0}}, "a")],
)
def test_without_two_places_there_is_no_other_order(
    outputs: OutputSet, make_outputs: MakeOutputs, config: dict[str, Any], said: Said
) -> None:
    other = make_outputs(outputs.version, ["y"] * 4, series="swapped")
    runs = [judged(each, [said] * 4, each.series, **config) for each in (outputs, other)]
    assert judge_quality(runs[0], "metadata.l", runs[1]).in_other_order is None


def test_trials_of_a_case_are_compared_one_by_one(
    outputs: OutputSet, make_outputs: MakeOutputs
) -> None:
    sets = [outputs, make_outputs(outputs.version, ["y"] * 4, series="swapped")]
    for each in sets:
        case = each.version.cases.first()
        Output.objects.create(output_set=each, case=case, trial=1, text="again")
    one, other = (judged(each, ["a", "a", "a", "a", "b"], each.series) for each in sets)
    found = judge_quality(one, "metadata.l", other)
    assert found.in_other_order is not None
    assert found.in_other_order.bias == ({"a": 4, "b": 1}, 0, 0)


def test_more_cases_than_a_page_waits_for_are_said_to_be_cut(
    outputs: OutputSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = judged(outputs, ["a"] * 4)
    for limit, n, is_cut in ((4, 3, False), (3, 3, True), (2, 2, True)):
        monkeypatch.setattr(quality, "MAX_CASES", limit)
        found = judge_quality(scorer, "metadata.l")
        assert (found.agreement.n, found.is_cut) == (n, is_cut)


@pytest.mark.parametrize(
    ("path", "hidden", "is_shown"),
    [
        ("metadata.l", [], True),
        ("metadata.l", ["l"], False),
        ("metadata.l.deep", ["l"], False),
        ("metadata.other", ["l"], True),
        ("expected", ["l", "expected"], True),
    ],
)
def test_a_judge_that_was_told_the_label_is_found_out(
    outputs: OutputSet, path: str, hidden: list[str], is_shown: bool
) -> None:
    scorer = judged(outputs, ["a"] * 4, hidden_metadata=hidden)
    assert judge_quality(scorer, path).is_shown == is_shown


def test_label_places_come_with_the_likeliest_first(
    make_dataset: MakeDataset, make_outputs: MakeOutputs
) -> None:
    metadata = [
        {"n": 1, "people": {"one": "a", "two": "b"}, "ok": False, "long": "x" * 101, "gone": None},
        {"n": 2, "people": {"one": "b"}, "list": ["a"], "odd key": "a", "z": "?"},
    ]
    outputs = labelled(make_dataset, make_outputs, metadata, expected="Paris")
    found = label_paths(judged(outputs, ["a", "b"]))
    assert found == [
        ("metadata.people.one", 2),
        ("metadata.ok", 1),
        ("metadata.people.two", 1),
        ('metadata["odd key"]', 1),
        ("expected", 0),
        ("metadata.n", 0),
        ("metadata.z", 0),
    ]


def test_other_runs_are_ended_ones_of_the_same_judge(
    outputs: OutputSet, make_dataset: MakeDataset, make_outputs: MakeOutputs, team: Team
) -> None:
    scorer = judged(outputs, ["a"] * 4)
    again = judged(outputs, ["b"] * 4, "again")
    elsewhere = make_outputs(make_dataset([{}], "Elsewhere"), ["x"])
    judged(elsewhere, ["a"], "elsewhere")
    queued_run(outputs, ("judge", "llm_judge", {}), name="queued")
    Scorer.objects.get(name="judge").revise(
        {**scorer.version.config, "rubric": "Which one?"}, by=None
    )
    judged(outputs, ["a"] * 4, "of a newer version")
    assert list(other_runs(scorer)) == [again.run]


@pytest.mark.parametrize(
    ("kind", "config", "found"),
    [
        ("factuality", {"model": "m"}, True),
        ("exact_match", {}, False),
        (
            "all",
            {"scorers": [{"name": "j", "type": "factuality", "config": {"model": "m"}}]},
            False,
        ),
    ],
)
def test_only_a_judge_is_one(
    outputs: OutputSet, kind: str, config: dict[str, Any], found: bool
) -> None:
    scorer = queued_run(outputs, ("s", kind, config)).scorers.get()
    assert is_judge(scorer) == found
    scorer.version.type = "no_longer_there"
    assert not is_judge(scorer)
