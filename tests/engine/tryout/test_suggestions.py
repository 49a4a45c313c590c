"""Suggestions are measured on a sample of real outputs."""

from __future__ import annotations

import pytest

from scoring.core.contract import ServiceError
from scoring.engine.tryout import suggestions
from scoring.engine.tryout.suggestions import suggest_for_dataset
from scoring.models import User
from tests.conftest import MakeDataset, MakeOutputs

SENTENCE = "As far as I know it is the city of {}, and I am quite sure that this is right."


def test_each_type_says_how_much_of_the_sample_passes(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, alice: User
) -> None:
    version = make_dataset([{"references": ["Paris", "Lutetia"]}] * 4)
    outputs = make_outputs(
        version, [SENTENCE.format(city) for city in ("PARIS", "Lutetia", "Rome", "")]
    )
    found = suggest_for_dataset(version.dataset, alice)
    assert found.sample.outputs == outputs
    assert found.has_references
    included, facts = found.scorers
    assert (included.suggested.type, included.pass_rate, included.mean) == ("includes", 0.5, 0.5)
    assert (facts.suggested.type, facts.pass_rate) == ("factuality", None)
    assert found.exact is not None
    assert found.exact.pass_rate == 0.0


def test_without_outputs_nothing_is_measured(make_dataset: MakeDataset, alice: User) -> None:
    found = suggest_for_dataset(make_dataset([{"expected": "yes"}]).dataset, alice)
    assert [scorer.pass_rate for scorer in found.scorers] == [None, None]
    assert found.exact is None


def test_labels_are_told_by_exact_match_itself(
    make_dataset: MakeDataset, make_outputs: MakeOutputs, alice: User
) -> None:
    version = make_dataset([{"expected": "spam"}] * 10)
    make_outputs(version, ["Spam"] * 10)
    found = suggest_for_dataset(version.dataset, alice)
    assert found.scorers[0].pass_rate == 1.0
    assert found.exact is None


def test_a_helper_that_does_not_answer_leaves_the_figure_out(
    make_dataset: MakeDataset,
    make_outputs: MakeOutputs,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise ServiceError("too slow", retry=True)

    version = make_dataset([{"expected": "yes"}])
    make_outputs(version, ["yes"])
    monkeypatch.setattr(suggestions.tryout, "score", refuse)
    found = suggest_for_dataset(version.dataset, alice)
    assert [scorer.pass_rate for scorer in found.scorers] == [None, None]
