"""The report of a run: its origin, its figures, and its worst cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.template.loader import get_template

from scoring.core.json_text import to_text
from scoring.engine.compare import comparison
from scoring.engine.compare.claims import read_figures
from scoring.engine.compare.figures import Figures
from scoring.engine.compare.jobs import is_small
from scoring.engine.reports import html_document
from scoring.engine.reports.worst_cases import MAX_CASES, worst_cases
from scoring.engine.runs.neighbours import run_baseline
from scoring.engine.runs.run_errors import RunErrors, find_run_errors
from scoring.engine.runs.scorer_figures import RunFigure
from scoring.models import Generation, Relabel, Run, RunScorer
from scoring.models.runs.missing_outputs import missing_keys

MISSING_NAMED: Final = 100


@dataclass
class RunReport:
    """The context of the template. `address` is the URL of the run's page, "" where not known.

    With `compares` the run is compared with its baseline even where that takes long. The cases of
    the outputs `without` are left out.
    """

    run: Run
    address: str = ""
    most: int = MAX_CASES
    compares: bool = False
    without: frozenset[int] = frozenset()

    @cached_property
    def scorers(self) -> Sequence[RunScorer]:
        return list(self.run.scorers.with_summary())

    @cached_property
    def figures(self) -> list[RunFigure]:
        return [RunFigure(each, getattr(each, "summary", None)) for each in self.scorers]

    @property
    def recipe(self) -> Generation | None:
        """How the outputs were made; None where they were imported."""
        return getattr(self.run.output_set, "generation", None)

    def parameters(self) -> Iterator[str]:
        """Those of the recipe that were set, each as `temperature 0.2`."""
        for name, value in (self.recipe.parameters if self.recipe else {}).items():
            yield f"{name.replace('_', ' ')} {to_text(value)}"

    @cached_property
    def relabel(self) -> Relabel | None:
        """The later labels of the run; its figures and cases are as scored."""
        return None if self.run.is_unfinished else Relabel.objects.latest_of(self.run)

    @cached_property
    def baseline(self) -> Run | None:
        return None if self.run.is_unfinished else run_baseline(self.run)

    @cached_property
    def standing(self) -> Figures | None:
        """The comparison with the baseline; None where it is not stored and would take long."""
        if self.baseline is None:
            return None
        stored = comparison.stored_comparison(self.baseline, self.run)
        if stored is None and (self.compares or is_small(self.baseline, self.run)):
            stored = comparison.compare_runs(self.baseline, self.run)
        return read_figures(stored) if stored else None

    @cached_property
    def missing_keys(self) -> list[str]:
        """The first cases without an output."""
        return missing_keys(self.run, MISSING_NAMED)

    @cached_property
    def errors(self) -> RunErrors | None:
        return None if self.run.is_unfinished else find_run_errors(self.run, self.scorers)

    @property
    def missing_more(self) -> int:
        return (self.run.missing_output_count or 0) - len(self.missing_keys)

    @property
    def bad_count(self) -> int:
        """How many outputs failed or could not be scored."""
        counts = self.run.output_counts
        return (counts["fail"] or 0) + (counts["error"] or 0)

    @cached_property
    def cases(self) -> list[str]:
        """The worst cases, each as HTML, as many as are wanted and as there is room for."""
        if self.run.is_unfinished:
            return []
        template = get_template("reports/_case.html")
        worst = worst_cases(self.run, self.scorers, self.most, self.without)
        return list(
            html_document.SizeBudget().filled(template.render({"case": case}) for case in worst)
        )

    @property
    def is_full(self) -> bool:
        """Whether the size of the file, not the number wanted, left cases out."""
        return not self.without and len(self.cases) < min(self.most, self.bad_count)


def run_report(
    run: Run,
    *,
    address: str = "",
    most: int = MAX_CASES,
    compares: bool = False,
    without: frozenset[int] = frozenset(),
) -> str:
    """The file, with up to so many of the worst cases; the rest as `RunReport` says."""
    report = RunReport(run, address, most, compares, without)
    return html_document.render_document("reports/run.html", {"report": report})


def run_file_name(run: Run) -> str:
    return html_document.file_name(run.output_set.version.dataset, run)
