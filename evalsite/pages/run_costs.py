"""What a run has cost and may still cost, and how its outputs were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from evalsite.pages.scorer_figures import Figure
from evalsite.templatetags.look import lasting, plain
from scoring.models import Generation, Run


@dataclass(frozen=True)
class RunCosts:
    """Money and recipe of a run that was opened through `access.run_for`."""

    run: Run
    figures: Iterable[Figure]

    @property
    def recipe(self) -> Generation | None:
        """How the outputs were made; None where they came from outside."""
        return getattr(self.run.output_set, "generation", None)

    def parameters(self) -> Iterator[str]:
        """Those of the recipe that were set, each as `temperature 0.2`."""
        for name, value in (self.recipe.parameters if self.recipe else {}).items():
            yield f"{name.replace('_', ' ')} {plain(value)}"

    @cached_property
    def left_usd(self) -> float | None:
        """Of the budget; None without one."""
        if self.run.budget_usd is None:
            return None
        paid: float = getattr(self.run, "paid_usd", None) or 0.0
        return max(0.0, self.run.budget_usd - paid)

    @property
    def seconds(self) -> float | None:
        """From start to end; None before the end."""
        begun, ended = self.run.started_at, self.run.finished_at
        return (ended - begun).total_seconds() if begun and ended else None

    @property
    def lasted(self) -> str:
        """In words: "0.4 s", "12 s", "5 min"."""
        seconds = self.seconds or 0.0
        if seconds < 60:
            return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
        return lasting(seconds)

    @property
    def usd_an_output(self) -> float | None:
        """Over all outputs, those without a known cost too."""
        outputs, cost = self.run.case_count, self.run.cost_usd
        return cost / outputs if outputs and cost is not None else None

    @property
    def wants_budget(self) -> bool:
        """Whether a retry may need a new budget: calls were left out for want of one."""
        if self.run.budget_usd is None:
            return False
        causes = {code for each in self.figures if each.summary for code in each.summary.causes}
        return "budget_reached" in causes or (self.recipe is not None and "no_output" in causes)
