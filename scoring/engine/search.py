"""Search of a team's datasets, runs, scorers and suites by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from scoring.core.search_text import fold_text
from scoring.models import Dataset, Run, Scorer, Suite, Team
from scoring.models.runs.relabel import attach_later_labels

LIMIT = 20


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What has the text in its name, at most LIMIT of each kind; `is_cut` where there is more."""

    datasets: list[Dataset] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    scorers: list[Scorer] = field(default_factory=list)
    suites: list[Suite] = field(default_factory=list)
    is_cut: bool = False

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How many of each kind that was found."""
        counts = {
            "dataset": len(self.datasets),
            "run": len(self.runs),
            "scorer": len(self.scorers),
            "suite": len(self.suites),
        }
        return [(kind, count) for kind, count in counts.items() if count]


def search(team: Team, text: str) -> SearchResults:
    """What the team has with `text` in its name; nothing for no text."""
    if not text:
        return SearchResults()
    folded = fold_text(text)
    named = [
        _named(rows, folded)
        for rows in (
            team.datasets.published().for_list(),
            team.runs.for_list(),
            team.scorers.for_list(),
            Suite.objects.filter(team=team).for_list(),
        )
    ]
    datasets, runs, scorers, suites = (rows[:LIMIT] for rows in named)
    attach_later_labels(runs)
    is_cut = max(map(len, named)) > LIMIT
    return SearchResults(datasets, runs, scorers, suites, is_cut)


def _named(rows: QuerySet[Any], folded: str) -> list[Any]:
    """The first of the rows whose names hold the folded text, and one more than is shown."""
    names = rows.values_list("pk", "name")
    found = (pk for pk, name in names.iterator() if folded in fold_text(name))
    return list(rows.filter(pk__in=list(islice(found, LIMIT + 1))))
