"""What generating outputs, and then judging them, will cost and how long it takes."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from scoring.core.contract import Case as CaseToScore
from scoring.core.contract import CaseProblem
from scoring.core.llm.endpoint import Endpoint
from scoring.core.llm.token_estimate import BYTES_A_TOKEN
from scoring.core.services import Question
from scoring.engine.estimates.scoring_estimate import (
    EXACT_OUTPUTS,
    SAMPLE,
    CostEstimate,
    current_judges,
    estimate_calls,
    expected_questions,
    past_usage,
)
from scoring.engine.outputs.generation import (
    OutputRecipe,
    build_generation,
    case_to_score,
    generation_question,
)
from scoring.engine.services import team_services
from scoring.models import Case, DatasetVersion, Generation, OutputSet, Scorer

FILLER_WORD: Final = "word "  # what outputs that do not exist yet are assumed to say


class GenerationEstimate(NamedTuple):
    """The calls that make the outputs, and those that judge them."""

    outputs: CostEstimate
    judges: CostEstimate

    @property
    def cost_usd(self) -> float | None:
        """Of both; None where a price is not known."""
        costs = (self.outputs.cost_usd, self.judges.cost_usd)
        return None if None in costs else sum(cost or 0.0 for cost in costs)

    @property
    def seconds(self) -> float:
        return self.outputs.seconds + self.judges.seconds


def estimate_generation(
    version: DatasetVersion, recipe: OutputRecipe, scorers: Iterable[Scorer] = ()
) -> GenerationEstimate:
    """For generating outputs for the version by this recipe, and judging them with these scorers.

    Prompts are exact up to EXACT_OUTPUTS cases, else from a sample that is the same each time.
    What judges will read does not exist yet: texts as long as the model's recent replies stand in
    for it, so their part is never exact. Cases that cannot fill the prompt ask nothing.
    """
    cases, factor = _cases(version)
    generation = build_generation(recipe, OutputSet(version=version))
    pairs = [(case, question) for case in cases if (question := _question(generation, case))]
    team, scale = version.dataset.team, factor * recipe.trials
    outputs = estimate_calls(team, [question for _, question in pairs], scale)
    stand_ins = _stand_ins([case for case, _ in pairs], _characters(version, recipe))
    judges = estimate_calls(team, expected_questions(current_judges(scorers), stand_ins), scale)
    return GenerationEstimate(
        replace(outputs, is_exact=factor == 1.0), replace(judges, is_exact=not judges.calls)
    )


def _cases(version: DatasetVersion) -> tuple[list[CaseToScore], float]:
    """The cases to look at, and how many of the version each stands for."""
    every = Case.objects.filter(version=version).order_by("pk")
    if version.case_count <= EXACT_OUTPUTS:
        return list(map(case_to_score, every)), 1.0
    ids = list(every.values_list("pk", flat=True))
    chosen = random.Random(version.pk).sample(ids, SAMPLE)  # noqa: S311
    sample = every.filter(pk__in=chosen)
    return list(map(case_to_score, sample)), len(ids) / SAMPLE


def _question(generation: Generation, case: CaseToScore) -> Question | None:
    try:
        return generation_question(generation, case, 0)
    except CaseProblem:
        return None


def _stand_ins(cases: Sequence[CaseToScore], characters: int) -> list[CaseToScore]:
    """The cases with an output each, all of this length and no two alike."""
    words = FILLER_WORD * (characters // len(FILLER_WORD))
    return [
        case._replace(output=f"{number} {words}"[:characters] or "-")
        for number, case in enumerate(cases)
    ]


def _characters(version: DatasetVersion, recipe: OutputRecipe) -> int:
    """The assumed length of this model's outputs."""
    name = recipe.connection.name if recipe.connection else None
    endpoint = team_services.read_endpoint(version.dataset.team, name)
    known = endpoint.name if isinstance(endpoint, Endpoint) else ""
    _, tokens = past_usage(version.dataset.team, known, recipe.model)
    limit: float = recipe.parameters.get("max_tokens", tokens)
    return max(1, round(min(tokens, limit) * BYTES_A_TOKEN))
