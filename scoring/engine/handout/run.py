"""The report of a run: where it comes from, its figures, and its worst cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.template.loader import get_template

from scoring.core.json_text import text_of
from scoring.engine import compare
from scoring.engine.compare_asks import is_small
from scoring.engine.figures import Figures
from scoring.engine.gates import baseline_of
from scoring.engine.handout import document
from scoring.engine.handout.cases import SHOWN, WorstCase, worst_of
from scoring.engine.run_figures import RunFigure
from scoring.models import Generation, Run, RunScorer


@dataclass
class RunReport:
    """What the template sets. `address` is where the site shows the run, "" where not known.

    `compares`: what changed since the baseline is worked out even where that takes long.
    """

    run: Run
    address: str = ""
    most: int = SHOWN
    compares: bool = False

    @cached_property
    def scorers(self) -> Sequence[RunScorer]:
        return list(self.run.scorers.with_summary())

    @cached_property
    def figures(self) -> list[RunFigure]:
        return [RunFigure(each, getattr(each, "summary", None)) for each in self.scorers]

    @property
    def recipe(self) -> Generation | None:
        """How the outputs were made; None where they came from outside."""
        return getattr(self.run.output_set, "generation", None)

    def parameters(self) -> Iterator[str]:
        """Those of the recipe that were set, each as `temperature 0.2`."""
        for name, value in (self.recipe.parameters if self.recipe else {}).items():
            yield f"{name.replace('_', ' ')} {text_of(value)}"

    @cached_property
    def baseline(self) -> Run | None:
        return None if self.run.is_unfinished else baseline_of(self.run)

    @cached_property
    def standing(self) -> Figures | None:
        """The run beside its baseline; None where that is not worked out and would take long."""
        if self.baseline is None:
            return None
        found = compare.kept(self.baseline, self.run)
        if found is None and (self.compares or is_small(self.baseline, self.run)):
            found = compare.compared(self.baseline, self.run)
        return Figures.read(found.figures) if found else None

    @property
    def bad_count(self) -> int:
        """How many cases failed or could not be scored."""
        return (self.run.fail_count or 0) + (self.run.error_count or 0)

    @cached_property
    def cases(self) -> list[str]:
        """The worst cases, each as HTML, as many as are wanted and as there is room for."""
        if self.run.is_unfinished:
            return []
        worst = worst_of(self.run, self.scorers, self.most)
        return list(document.Room().filled(_set(case) for case in worst))

    @property
    def is_full(self) -> bool:
        """Whether the size of the file, not the number wanted, left cases out."""
        return len(self.cases) < min(self.most, self.bad_count)


def run_report(run: Run, *, address: str = "", most: int = SHOWN, compares: bool = False) -> str:
    """The file, with up to so many of the worst cases; the rest as `RunReport` says."""
    report = RunReport(run, address, most, compares)
    return document.document("report/run.html", {"report": report})


def run_file_name(run: Run) -> str:
    return document.file_name(run.output_set.version.dataset, run)


def _set(case: WorstCase) -> str:
    context: Mapping[str, object] = {"case": case}
    return get_template("report/_case.html").render(dict(context))
