"""Outputs made by calling a model, with a model that answers from a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from scoring.core.contract import Case, CaseProblem
from scoring.core.services import (
    Answer,
    CallFailure,
    Message,
    Question,
    Reply,
    Vectors,
    use_services,
)
from scoring.engine.outputs import generation as outputs_generation
from scoring.engine.outputs.generation import OutputRecipe, create_output_set, generation_question
from scoring.engine.services.team_services import RunStoppedError
from scoring.models import DatasetVersion, Generation, Output, User
from tests.conftest import MakeDataset

pytestmark = pytest.mark.django_db


@dataclass
class Model:
    """Answers each prompt by a function, and remembers what it was asked."""

    answer: Callable[[Question], Answer] = lambda asked: Reply(text=asked.messages[-1].content)
    asked: list[Question] = field(default_factory=list)

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.asked += questions
        return [self.answer(each) for each in questions]

    def embed(self, texts: Sequence[str], **_: Any) -> Vectors:
        raise NotImplementedError


@pytest.fixture
def model() -> Iterator[Model]:
    answering = Model()
    with use_services(answering):
        yield answering


@pytest.fixture
def version(make_dataset: MakeDataset) -> DatasetVersion:
    return make_dataset([{"input": {"q": "one"}}, {"input": {"q": "two"}}, {"input": "three"}])


def begun(version: DatasetVersion, **recipe: Any) -> Generation:
    told: dict[str, Any] = {"model": "m", "template": "Answer {{ input.q }}", **recipe}
    return create_output_set(version, OutputRecipe(**told)).generation


def made(generation: Generation, first: int = 0, last: int = 10**9) -> list[Output]:
    outputs_generation.store_outputs(outputs_generation.make_outputs(generation, first, last))
    return list(Output.objects.filter(output_set=generation.output_set).order_by("pk"))


def test_the_output_set_waits_and_knows_its_recipe(version: DatasetVersion, alice: User) -> None:
    recipe = OutputRecipe("m", "{{ input }}", system="Be brief.", parameters={"top_p": 1}, trials=2)
    outputs = create_output_set(version, recipe, by=alice, series="weekly", labels={"commit": "ab"})
    assert (outputs.state, outputs.series, outputs.created_by) == ("generating", "weekly", alice)
    assert outputs.labels == {"model": "m", "commit": "ab"}
    kept = outputs.generation
    assert (kept.system, kept.template, kept.trials) == ("Be brief.", "{{ input }}", 2)


def test_the_model_names_the_series_unless_told_otherwise(version: DatasetVersion) -> None:
    assert begun(version, model="x" * 200).output_set.series == "x" * 120


def test_a_question_is_the_filled_prompt(version: DatasetVersion) -> None:
    generation = begun(version, system="Be {{ brief }}.", parameters={"temperature": 1, "seed": 7})
    asked = generation_question(generation, Case(output=None, input={"q": "Why?"}), trial=3)
    assert asked.messages == (Message("system", "Be {{ brief }}."), Message("user", "Answer Why?"))
    assert asked.parameters == (("seed", 10), ("temperature", 1))
    assert (asked.sample, asked.purpose, asked.connection) == (3, "generate", None)


def test_a_case_that_lacks_what_the_prompt_shows_cannot_be_asked(version: DatasetVersion) -> None:
    with pytest.raises(CaseProblem, match=r"nothing at input\.q"):
        generation_question(begun(version), Case(output=None, input="Why?"), trial=0)


def test_every_trial_of_every_case_becomes_an_output(version: DatasetVersion, model: Model) -> None:
    outputs = made(begun(version, trials=2))
    found = [(output.case.position, output.trial, output.text) for output in outputs]
    assert found == [
        (1, 0, "Answer one"),
        (1, 1, "Answer one"),
        (2, 0, "Answer two"),
        (2, 1, "Answer two"),
        (3, 0, None),
        (3, 1, None),
    ]
    assert [each.sample for each in model.asked] == [0, 1, 0, 1]
    assert {output.error for output in outputs[4:]} == {"the case has nothing at input.q"}


def test_outputs_that_are_there_are_not_made_again(version: DatasetVersion, model: Model) -> None:
    generation = begun(version)
    first_case = version.cases.get(position=1).pk
    made(generation, first_case, first_case)
    made(generation)
    assert [each.messages[-1].content for each in model.asked] == ["Answer one", "Answer two"]
    assert generation.output_set.outputs.count() == 3


ANSWERS = [
    (Reply("42", latency_ms=7.5, tokens_in=3, tokens_out=1, cost_usd=0.25), "42", ""),
    (Reply(""), "", ""),
    (Reply("", refusal="I cannot."), "I cannot.", ""),
    (Reply("half", finish="length"), "half", ""),
    (Reply("", finish="content_filter"), None, "the endpoint filtered the reply"),
    (Reply("a\0b\ud800"), "a\N{REPLACEMENT CHARACTER}b?", ""),
    (CallFailure("timeout", "no answer within 60 s"), None, "no answer within 60 s"),
]


@pytest.mark.parametrize(("answer", "text", "error"), ANSWERS)
def test_what_comes_is_kept_as_it_came(
    version: DatasetVersion, model: Model, answer: Answer, text: str | None, error: str
) -> None:
    model.answer = lambda _: answer
    output = made(begun(version))[0]
    assert (output.text, output.error) == (text, error)


def test_latency_tokens_and_cost_lie_beside_the_text(version: DatasetVersion, model: Model) -> None:
    model.answer = lambda _: ANSWERS[0][0]
    output = made(begun(version))[0]
    measured = output.latency_ms, output.tokens_in, output.tokens_out, output.cost_usd
    assert measured == (7.5, 3, 1, 0.25)


def test_calls_that_were_broken_off_leave_no_output(version: DatasetVersion, model: Model) -> None:
    model.answer = lambda _: CallFailure("cancelled", "the run was cancelled")
    with pytest.raises(RunStoppedError, match="cancelled"):
        made(begun(version))
    assert not Output.objects.exists()


def test_outputs_that_failed_are_asked_for_again(version: DatasetVersion, model: Model) -> None:
    model.answer = lambda _: CallFailure("timeout", "no answer within 60 s")
    generation = begun(version)
    first, second, _ = made(generation)
    model.answer = lambda _: Reply("late", tokens_out=1)
    outputs_generation.regenerate(generation, [first])
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.text, first.error, first.tokens_out) == ("late", "", 1)
    assert second.text is None
