"""The costs of a run, spent and expected, and the recipe of its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from evalsite.pages.runs.scorer_figures import ScorerFigure
from evalsite.templatetags.formatting import duration, plain
from scoring.models import Generation, ModelCall, Run


@dataclass(frozen=True)
class RunCosts:
    """Costs and recipe of a run from `access.run_for`."""

    run: Run
    figures: Iterable[ScorerFigure]

    @property
    def recipe(self) -> Generation | None:
        """How the outputs were made; None where they came from outside."""
        return getattr(self.run.output_set, "generation", None)

    def parameters(self) -> Iterator[str]:
        """The recipe's parameters that were set, each as `temperature 0.2`."""
        for name, value in (self.recipe.parameters if self.recipe else {}).items():
            yield f"{name.replace('_', ' ')} {plain(value)}"

    @cached_property
    def left_usd(self) -> float | None:
        """Of the budget; None without one."""
        if self.run.budget_usd is None:
            return None
        return max(0.0, self.run.budget_usd - ModelCall.objects.paid_by(self.run).spent_usd())

    @property
    def seconds(self) -> float | None:
        """From start to end; None before the end."""
        start, end = self.run.started_at, self.run.finished_at
        return (end - start).total_seconds() if start and end else None

    @property
    def duration(self) -> str:
        """In words: "0.4 s", "12 s", "5 min"."""
        seconds = self.seconds or 0.0
        if seconds < 60:
            return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
        return duration(seconds)

    @property
    def usd_an_output(self) -> float | None:
        """Cost per output; outputs without a known cost count too."""
        outputs, cost = self.run.output_count, self.run.cost_usd
        return cost / outputs if outputs and cost is not None else None

    @property
    def wants_budget(self) -> bool:
        """Whether a retry may need a new budget: calls were left out for want of one."""
        if self.run.budget_usd is None:
            return False
        summaries = [figure.summary for figure in self.figures if figure.summary]
        causes = {code for summary in summaries for code in summary.causes}
        return "budget_reached" in causes or (self.recipe is not None and "no_output" in causes)
