"""Outputs that a run generates: a prompt per case and trial, a model's reply as the output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction

from scoring.core.contract import Case as CaseToScore
from scoring.core.contract import CaseProblem
from scoring.core.llm.judge_reply import several_replies
from scoring.core.llm.prompt_template import PromptTemplate
from scoring.core.search_text import search_copy
from scoring.core.services import Answer, CallFailure, Message, Question, Reply, current_services
from scoring.engine.services.reply_store import without_nul
from scoring.engine.services.team_services import RunStoppedError
from scoring.models import (
    Case,
    Connection,
    DatasetVersion,
    Generation,
    ModelCall,
    Output,
    OutputSet,
    Run,
    User,
)
from scoring.models.bulk import bulk_insert
from scoring.models.runs.result_rows import OUTPUT_COLUMNS, OutputRow
from scoring.models.runs.run import OutputSetState

SEED: Final = "seed"


@dataclass(frozen=True)
class OutputRecipe:
    """How outputs are made. `connection` None is the team's default one, or the environment's."""

    model: str
    template: str
    system: str = ""
    connection: Connection | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trials: int = 1


def create_output_set(
    version: DatasetVersion, recipe: OutputRecipe, *, by: User | None = None, **described: Any
) -> OutputSet:
    """An output set of the version that a run is going to fill by this recipe.

    `described` goes into the output set: name, series, dated, labels.
    """
    labels = {"model": recipe.model, **described.pop("labels", {})}
    with transaction.atomic():
        outputs = OutputSet.objects.create(
            version=version,
            state=OutputSetState.GENERATING,
            created_by=by,
            labels=labels,
            **{"series": recipe.model[:120], **described},
        )
        build_generation(recipe, outputs).save()
    return outputs


def build_generation(recipe: OutputRecipe, outputs: OutputSet) -> Generation:
    """The recipe as a row of that output set; it is not stored."""
    return Generation(
        output_set=outputs,
        connection=recipe.connection,
        connection_name=recipe.connection.name if recipe.connection else "",
        model=recipe.model,
        system=recipe.system,
        template=recipe.template,
        parameters=dict(recipe.parameters),
        trials=recipe.trials,
    )


def generation_question(generation: Generation, case: CaseToScore, trial: int) -> Question:
    """The call that makes one output. Raises CaseProblem when the case lacks what the prompt shows.

    A seed is raised by the trial's number, or every trial would be the same.
    """
    prompt = PromptTemplate(generation.template).filled(case)
    system = (Message("system", generation.system),) if generation.system else ()
    parameters = dict(generation.parameters)
    if isinstance(parameters.get(SEED), int):
        parameters[SEED] += trial
    return Question(
        model=generation.model,
        messages=(*system, Message("user", prompt)),
        connection=generation.connection_name or None,
        parameters=tuple(sorted(parameters.items())),
        sample=trial,
        scope=str(generation.output_set.uuid),  # another run wants answers of its own
        purpose="generate",
    )


def make_outputs(generation: Generation, first_case: int, last_case: int) -> list[OutputRow]:
    """Rows for every trial of the cases of these ids that has no output yet, case by case.

    An output that could not be made is a row with an error. Raises RunStoppedError, without any
    row, when the calls were broken off.
    """
    missing = list(_missing(generation, first_case, last_case))
    answers = _ask_model(generation, missing)
    return [
        (generation.output_set_id, case.pk, trial, *_columns(answer))
        for (case, trial), answer in zip(missing, answers, strict=True)
    ]


def finish_generation(outputs: OutputSet) -> None:
    """Make the set ready to be scored, once every output has been made or tried."""
    count = outputs.outputs.count()
    generating = OutputSet.objects.filter(pk=outputs.pk, state=OutputSetState.GENERATING)
    generating.update(state=OutputSetState.READY, output_count=count)
    outputs.refresh_from_db(fields=["state", "output_count"])


def failed_output_rows(
    generation: Generation, first_case: int, last_case: int, reason: str
) -> list[OutputRow]:
    """Rows that say why the missing outputs of these cases were not made."""
    failed = _columns(CallFailure("generation_failed", reason))
    missing = _missing(generation, first_case, last_case)
    return [(generation.output_set_id, case.pk, trial, *failed) for case, trial in missing]


def find_generation(run: Run) -> Generation | None:
    """The recipe of the run's outputs; None where they were imported."""
    generations = Generation.objects.filter(output_set=run.output_set_id)
    return generations.select_related("output_set").first()


def store_outputs(rows: Sequence[OutputRow]) -> None:
    """Store the outputs, in their order; existing ones are not changed."""
    bulk_insert(Output, OUTPUT_COLUMNS, rows, ignore_existing=True)


def regenerate(generation: Generation, outputs: Sequence[Output]) -> None:
    """Ask once more for outputs that could not be made, and store the answers."""
    answers = _ask_model(generation, [(output.case, output.trial) for output in outputs])
    names = [name.removesuffix("_id") for name in OUTPUT_COLUMNS[3:]]
    for output, answer in zip(outputs, answers, strict=True):
        for name, value in zip(names, _columns(answer), strict=True):
            setattr(output, name, value)
        output.search_text = search_copy(output.text or "")
    Output.objects.bulk_update(outputs, [*names, "search_text"])


def case_to_score(case: Case) -> CaseToScore:
    """A stored case as prompts and scorers see it, without an output."""
    return CaseToScore(
        output=None,
        expected=case.expected,
        input=case.input,
        id=case.key,
        references=tuple(case.references),
        metadata=case.metadata,
        tags=tuple(case.tags),
    )


def _missing(generation: Generation, first: int, last: int) -> Iterator[tuple[Case, int]]:
    version = generation.output_set.version_id
    cases = Case.objects.filter(version=version, pk__gte=first, pk__lte=last).order_by("pk")
    stored = Output.objects.filter(output_set=generation.output_set_id, case__in=cases)
    present = set(stored.values_list("case", "trial"))
    for case in cases:
        for trial in range(generation.trials):
            if (case.pk, trial) not in present:
                yield case, trial


def _ask_model(generation: Generation, trials: Sequence[tuple[Case, int]]) -> list[Answer]:
    """An answer for each trial of a case, in one batch. Raises RunStoppedError."""
    questions = [_question_or_fault(generation, case, trial) for case, trial in trials]
    asked = [question for question in questions if isinstance(question, Question)]
    replies = iter(current_services().ask(asked))
    answers = [each if isinstance(each, CallFailure) else next(replies) for each in questions]
    for answer in answers:
        if isinstance(answer, CallFailure) and answer.code == "cancelled":
            raise RunStoppedError(answer.text)
    return answers


def _question_or_fault(generation: Generation, case: Case, trial: int) -> Question | CallFailure:
    try:
        return generation_question(generation, case_to_score(case), trial)
    except CaseProblem as problem:
        return CallFailure(problem.code, problem.text, attempts=0, can_retry=False)


def _columns(answer: Answer) -> OutputRow:
    """Text, is_json, error, latency, tokens in and out, cost: OUTPUT_COLUMNS from the fourth on."""
    if isinstance(answer, CallFailure):
        return None, False, answer.text, None, None, None, None
    text, error = _text(answer)
    figures = answer.latency_ms, answer.tokens_in, answer.tokens_out, _cost(answer)
    return text, False, error, *figures


def _cost(reply: Reply) -> float | None:
    """The cost of the output when it was paid: a reply kept from before a stop is free now."""
    if not reply.is_cached:
        return reply.cost_usd
    return ModelCall.objects.filter(pk=reply.ref).values_list("cost_usd", flat=True).first()


def _text(reply: Reply) -> tuple[str | None, str]:
    """What the model answered, a refusal included, or why there is no text."""
    if reply.choice_count > 1:
        return None, several_replies(reply.choice_count).text
    text = without_nul(reply.text or reply.refusal)
    if text or reply.finish != "content_filter":
        return text, ""
    return None, "the endpoint filtered the reply"
