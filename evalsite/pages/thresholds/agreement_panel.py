"""Agreement with people over the thresholds: lines, and figures at those that matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from scoring.core.charts.threshold_chart import AgreementChart, agreement_chart
from scoring.core.stats.calibration import BestThreshold, VerdictTable
from scoring.engine.thresholds.agreement import Agreement

LINES = ("kappa", "precision", "recall")


class AgreementRow(NamedTuple):
    """The scorer's verdicts at a threshold against people's."""

    name: str
    threshold: float
    table: VerdictTable


@dataclass(frozen=True)
class AgreementPanel:
    """At the present threshold, at the one that is previewed, and at the best one."""

    agreement: Agreement
    old: float
    new: float

    @property
    def count(self) -> int:
        """How many outputs people have passed or failed."""
        return len(self.agreement.labels)

    @property
    def best(self) -> BestThreshold | None:
        return self.agreement.best

    @cached_property
    def chart(self) -> AgreementChart:
        """Kappa, precision and recall; where one is undefined its line ends."""
        curves: dict[str, list[tuple[float, float]]] = {name: [] for name in LINES}
        for threshold, table in self.agreement.tables:
            kappa, rates = table.kappa, table.rates
            figures = (kappa and kappa.value, rates.precision, rates.recall)
            for name, figure in zip(LINES, figures, strict=True):
                if figure is not None:
                    curves[name].append((threshold, figure))
        return agreement_chart(curves, self.best and self.best.as_good)

    def rows(self) -> Iterator[AgreementRow]:
        yield self._row("current", self.old)
        if self.new != self.old:
            yield self._row("new", self.new)
        if self.best and self.best.threshold not in (self.old, self.new):
            yield self._row("best", self.best.threshold)

    def _row(self, name: str, threshold: float) -> AgreementRow:
        return AgreementRow(name, threshold, self.agreement.table_at(threshold))
