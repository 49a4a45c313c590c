"""What the page of a threshold shows: curve, preview and flips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from evalsite.blind_review import blind_outputs
from evalsite.pages.thresholds.agreement_panel import AgreementPanel
from evalsite.pages.thresholds.effects import effects_url
from scoring.core.charts.small_charts import Histogram, histogram_chart
from scoring.core.charts.threshold_chart import ThresholdChart, threshold_chart
from scoring.core.json_text import to_text
from scoring.engine.thresholds.agreement import read_agreement
from scoring.engine.thresholds.flips import FlipCursor, FlipPage, FlippedCase
from scoring.engine.thresholds.preview import Preview, RunPreview
from scoring.models import User

MAX_CHECKED: Final = 2_000  # flips whose case verdicts are counted on a page
COARSE_STEP: Final = 5  # thousandths: the steps of all curves but the latest
BINS: Final = 50  # of the histogram
TENTHS: Final = [n / 10 for n in range(11)]


class TableRow(NamedTuple):
    """A threshold, and the pass rate of each run there."""

    threshold: float
    rates: Sequence[float | None]


class FlipRow(NamedTuple):
    """A case that flips, and its page in the run."""

    case: FlippedCase
    url: str


@dataclass(frozen=True)
class ThresholdPage:
    """The preview of a threshold as its page shows it.

    `query` is the cleaned query: the run whose flips are listed, the latest unless one of the runs
    is named, and the place in that list. The `user` looks at it.
    """

    preview: Preview
    query: Mapping[str, Any]
    user: User

    @property
    def is_preview(self) -> bool:
        """Whether another threshold is looked at than the present one."""
        return self.preview.new != self.preview.old

    @cached_property
    def chosen(self) -> RunPreview | None:
        """The run whose flips are listed; None without any run."""
        return self.preview.find_run(self.query.get("run")) or self.preview.latest

    @cached_property
    def chart(self) -> ThresholdChart:
        curves = [
            run.distribution.curve(COARSE_STEP if number else 1)
            for number, run in enumerate(self.preview.runs)
        ]
        return threshold_chart(curves, self.preview.old, self.preview.new)

    @cached_property
    def histogram(self) -> Histogram | None:
        """The scores of the latest run; None without any."""
        latest = self.preview.latest
        if latest is None or not latest.distribution.scored:
            return None
        counts, wide = latest.distribution.bins(BINS), self.chart.width
        return histogram_chart(counts, self.preview.old, width=wide)

    @cached_property
    def agreement(self) -> AgreementPanel | None:
        """Against people; None where they have passed or failed none of the outputs."""
        found = read_agreement(self.preview)
        return AgreementPanel(found, self.preview.old, self.preview.new) if found else None

    @property
    def effects_url(self) -> str:
        """What the threshold would do to gates and comparison; empty where nothing would flip."""
        if self.chosen is None or not self.is_preview:
            return ""
        return effects_url(self.chosen.run, {self.preview.scorer: self.preview.new})

    @cached_property
    def table(self) -> list[TableRow]:
        """The pass rates at each tenth."""
        distributions = [run.distribution for run in self.preview.runs]
        return [TableRow(t, [d.pass_rate(t) for d in distributions]) for t in TENTHS]

    @property
    def case_verdicts_text(self) -> str:
        """How many case verdicts change with the flips; empty where there are none or many."""
        run = self.chosen
        is_countable = run is not None and 0 < run.counts.flips <= MAX_CHECKED
        return run.case_verdicts_sentence if run and is_countable else ""

    @cached_property
    def flips(self) -> FlipPage:
        if self.chosen is None or not self.chosen.counts.flips:
            return FlipPage([])
        return self.chosen.flips.page(
            after=self.query.get("after"),
            before=self.query.get("before"),
            without=self.hidden,
        )

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The outputs of the chosen run that the user is yet to review; they are not listed."""
        return blind_outputs(self.user, self.chosen.run) if self.chosen else frozenset()

    def rows(self) -> Iterator[FlipRow]:
        """The flips of the chosen run, the lowest score first."""
        if self.chosen is None:
            return
        first = reverse("run_case", args=[self.chosen.run.uuid, 0]).removesuffix("0/")
        for case in self.flips.cases:
            trial = f"?trial={case.trial}" if case.trial else ""
            yield FlipRow(case, f"{first}{case.position}/{trial}")

    @property
    def previous_url(self) -> str | None:
        return self._page_url("before", self.flips.before)

    @property
    def next_url(self) -> str | None:
        return self._page_url("after", self.flips.after)

    def run_query(self, run: RunPreview) -> str:
        """The query string that lists the flips of a run."""
        query = {"threshold": to_text(self.preview.new), "run": str(run.run.uuid)}
        return f"?{urlencode(query)}"

    def runs(self) -> list[tuple[RunPreview, str]]:
        """The runs, newest first, each with the query string that lists its flips."""
        return [(run, self.run_query(run)) for run in self.preview.runs]

    def _page_url(self, name: str, cursor: FlipCursor | None) -> str | None:
        if cursor is None or self.chosen is None:
            return None
        return f"{self.run_query(self.chosen)}&{urlencode({name: str(cursor)})}"
