"""What a recipe for outputs must be like, before anything is asked or stored."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final, NamedTuple

from scoring.core.contract import ConfigError
from scoring.core.llm.prompt_template import MAX_CHARACTERS, PromptTemplate
from scoring.engine.outputs.generation import OutputRecipe
from scoring.models.runs.generation import MAX_TRIALS

MAX_SEED: Final = 2**31 - 1 - MAX_TRIALS  # each trial raises it by one
MAX_TOKENS: Final = 1_000_000


class ParameterLimits(NamedTuple):
    low: float
    high: float
    is_whole: bool = False


#: The parameters a recipe may set. Everything else of a call is the engine's own business.
PARAMETERS: Final[dict[str, ParameterLimits]] = {
    "temperature": ParameterLimits(0, 2),
    "top_p": ParameterLimits(0, 1),
    "max_tokens": ParameterLimits(1, MAX_TOKENS, is_whole=True),
    "seed": ParameterLimits(0, MAX_SEED, is_whole=True),
}


def check_recipe(recipe: OutputRecipe) -> None:
    """Raises ConfigError with what is wrong, by the names of the recipe's parts."""
    errors: defaultdict[str, list[str]] = defaultdict(list)
    if not 0 < len(recipe.model.strip()) <= 200:
        errors["model"].append("name the model, in at most 200 characters")
    if problem := PromptTemplate(recipe.template).problem():
        errors["template"].append(problem)
    if len(recipe.system) > MAX_CHARACTERS:
        errors["system"].append(f"the system text is longer than {MAX_CHARACTERS:,} characters")
    if not 1 <= recipe.trials <= MAX_TRIALS:
        errors["trials"].append(f"must be from 1 to {MAX_TRIALS}")
    for name, value in recipe.parameters.items():
        if problem := _problem(name, value):
            errors["parameters"].append(problem)
    if errors:
        raise ConfigError(dict(errors))


def _problem(name: str, value: Any) -> str:
    limits = PARAMETERS.get(name)
    if limits is None:
        return f"{name} is unknown here; there are {', '.join(PARAMETERS)}"
    is_number = isinstance(value, int if limits.is_whole else int | float)
    if isinstance(value, bool) or not is_number or not limits.low <= value <= limits.high:
        kind = "a whole number" if limits.is_whole else "a number"
        return f"{name} must be {kind} from {limits.low:g} to {limits.high:,}"
    return ""
